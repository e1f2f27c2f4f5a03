"""`h5py._hl.compat`."""

import os


def filename_encode(filename: "str | bytes | os.PathLike[str]") -> bytes:
    """Returns the bytes of a path."""
    return os.fsencode(filename)


def filename_decode(filename: "str | bytes") -> str:
    """Returns the text of a path."""
    return os.fsdecode(filename)
