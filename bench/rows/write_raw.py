"""Writes data without filters, contiguous and in chunks."""

import data
import writers
from common import Group, Target

TITLE = "1.6 GB of int32 without filters, written to a new file"
THREADS = (1, 2)


def groups(threads: int):
    values = data.counting().reshape(data.nd_shape())
    for name, options in (("contiguous", {}), ("chunked", {"chunks": data.ND_CHUNK})):
        yield Group(
            name,
            [
                writers.ours(values, **options),
                writers.h5py(values, **options),
                writers.as_limit(writers.tofile(values)),
            ],
            [Target("numpy.tofile", 0.85)],
            lambda: values,
            work_bytes=values.nbytes,
            normal=writers.read_back,
        )
