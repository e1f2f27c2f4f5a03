"""Checks every structure and every chunk of a file."""

from pathlib import Path

import data
import numpy as np
import peers
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target

TITLE = "`check --data` of 1 GB of float32, gzip 4 + shuffle in chunks (1,500,500)"
THREADS = (2,)


def checked(path: Path, turn: int) -> int:
    """Returns the number of errors."""
    found = peers.ours_module().check(path, data=True)
    return sum(finding.severity == "error" for finding in found)


def read_by_h5py(path: Path, turn: int) -> int:
    """Reads all elements into a warm array, some chunks at a time."""
    import h5py

    with h5py.File(path) as file:
        dataset = file["d"]
        step = data.GZIP_CHUNK[0]
        out = np.empty((step, *dataset.shape[1:]), dataset.dtype)
        for first in range(0, len(dataset), step):
            rows = out[: len(dataset) - first]
            dataset.read_direct(rows, np.s_[first : first + step])
    return 0


def groups(threads: int):
    path = data.repack_source()
    size = data.repack_count() * int(np.prod(data.gzip_shape()[1:])) * 4
    yield Group(
        f"{size / 1e9:.1f} GB, against reading it",
        [
            Contestant(OUR_NAME, checked, lambda: path, kind=OURS),
            Contestant("h5py", read_by_h5py, lambda: path, kind=PEER, threads="1 (it has no more)"),
        ],
        [Target("h5py", 4.0)],
        lambda: 0,
        work_bytes=size,
        files=[path],
    )
