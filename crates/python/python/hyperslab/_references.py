"""References to the chunks of a file, for the readers of Zarr."""

import gc
import os
import warnings
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._native import File, Group, _reference_arrays, _references
from ._progress import Progress, reported


def references(
    source: "Group | str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]",
    *,
    url: "str | None" = None,
    inline_threshold: int = 0,
    embed: int = 1 << 20,
    split: int = 64 << 20,
    imagecodecs: bool = False,
    skip_unsupported: bool = False,
    progress: Progress = None,
) -> "dict[str, Any]":
    """Returns where the chunks of a file are, as the references of kerchunk.

    With them, Zarr's readers read the file in place: fsspec's `reference://`, xarray's engine `kerchunk`,
    and VirtualiZarr. `hyperslab refs` writes the same as files, also for more chunks than memory holds.

    Args:
        source: The path of the file, a file object, an open file, or a group of one.
        url: The URL by which readers find the file; by default, its absolute path. Files of which it has
            parts are found beside the URL.
        inline_threshold: Chunks of fewer bytes are embedded.
        embed: The most bytes that are embedded of an array that cannot be referenced: of strings of
            variable length, and of chunks that were stored without some of the filters.
        split: Contiguous data of more bytes are split into chunks of about as many.
        imagecodecs: Whether codecs of the package imagecodecs are used, too.
        skip_unsupported: Whether datasets that cannot be referenced are left out, with a warning.
        progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A function is
            called with the number of chunks that are done, and of all chunks. It must not use the file, which
            waits for it. An exception of the function ends the work, and is raised.

    Returns:
        The dictionary with "version" and "refs".

    Raises:
        ValueError: Datasets cannot be referenced, for reasons that the message names.
        OSError: The file cannot be read, or is not an HDF5 file.
        FormatError: The file is damaged.

    Example:
        >>> refs = hs.references("climate.h5", url="s3://archive/climate.h5")["refs"]
        >>> refs["surface/t2m/2.0.0"]
        ['s3://archive/climate.h5', ..., ...]
    """
    # A million lists are no garbage, and looking at them again and again takes as long as making them.
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        with _Opened(source) as group, reported(progress, group.file.filename, "chunks") as tell:
            refs, left_out = _references(group, url, max(0, inline_threshold), embed, split, imagecodecs, tell)
    finally:
        if is_collecting:
            gc.enable()
    report(left_out, skip_unsupported)
    return {"version": 1, "refs": refs}


class Columns(NamedTuple):
    """The references of one array."""

    path: str
    """The path, without a slash at its begin."""
    metadata: str
    """The metadata of Zarr's version 2, as JSON."""
    attributes: str
    """The attributes, as JSON."""
    numbers: "npt.NDArray[np.uint64]"
    """The numbers of the chunks in row-major order."""
    offsets: "npt.NDArray[np.uint64]"
    """Their offsets in bytes."""
    lengths: "npt.NDArray[np.uint64]"
    """Their lengths in bytes."""
    which: "npt.NDArray[np.uint64]"
    """Which of the URLs each has."""
    urls: "list[str]"
    """The URLs."""
    embedded: "list[tuple[int, bytes]]"
    """The numbers and the bytes of embedded chunks."""


def columns(
    source: Any, *, url: "str | None", embed: int, split: int, imagecodecs: bool, skip_unsupported: bool
) -> "tuple[dict[str, str], list[Columns]]":
    """Returns the groups with their attributes, and the arrays. The arguments are those of `references`."""
    with _Opened(source) as group:
        groups, arrays, left_out = _reference_arrays(group, url, embed, split, imagecodecs)
    report(left_out, skip_unsupported)
    return dict(groups), [Columns(*names, *numbers, *rest) for *names, numbers, rest in map(_parted, arrays)]


def _parted(array: Any) -> "tuple[Any, ...]":
    path, metadata, attributes, numbers, urls, embedded = array
    return path, metadata, attributes, numbers, (urls, embedded)


def report(left_out: "list[tuple[str, str]]", skip_unsupported: bool) -> None:
    """Warns of datasets that are left out, or raises `ValueError`."""
    if not left_out:
        return
    lines = "\n".join(f"  {path}: {why}" for path, why in left_out)
    if skip_unsupported:
        warnings.warn(f"datasets without references are left out:\n{lines}", stacklevel=3)
        return
    raise ValueError(f"datasets cannot be referenced (skip_unsupported=True leaves them out):\n{lines}")


class _Opened:
    """The group of a source, and the file to close if it was opened for this."""

    def __init__(self, source: Any) -> None:
        self.file = None if isinstance(source, Group) else File(source, "r")
        self.group: Group = source if self.file is None else self.file
        if self.file is None and source.file.mode != "r":
            # Readers of the references read what is in the file.
            source.file.flush()

    def __enter__(self) -> Group:
        return self.group

    def __exit__(self, *error: object) -> None:
        if self.file is not None:
            self.file.close()
