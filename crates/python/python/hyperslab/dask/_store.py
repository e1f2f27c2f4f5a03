"""Dask arrays as files: the call. `_tasks` has what the workers do."""

import errno
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import dask.array
import numpy as np
from dask.delayed import delayed

from .._errors import NameExistsError
from .._native import File, Group
from ._parts import make_folder, remove_run
from ._tasks import Grid, Joiner, Plan, Writer, opened_to_change

# The seconds in which another process should have finished its change of the target, when `store` is called.
_SHORT_WAIT = 5.0


def store(
    array: Any,
    file: "str | os.PathLike[str]",
    path: str,
    *,
    mode: str = "a",
    dtype: Any = None,
    chunks: "int | Sequence[int] | None" = None,
    compression: Any = None,
    compression_opts: Any = None,
    shuffle: bool | None = None,
    fletcher32: bool | None = None,
    scaleoffset: int | bool | None = None,
    fillvalue: Any = None,
    compute: bool = True,
    compute_kwargs: "Mapping[str, Any] | None" = None,
) -> Any:
    """Stores a Dask array as a dataset, from any number of threads, processes and machines.

    Each worker process writes the blocks that it computes to a file of its own in the folder `FILE.parts`.
    The last task makes a virtual dataset in `file` that shows all blocks, so processes never share a file and
    need no lock. `consolidate` makes one file of them. Until then `file` and the folder belong together: move
    both.

    A block is shown only if its task has returned. So a worker may die at any time: Dask computes its blocks
    elsewhere, nothing is lost, and nothing is shown or kept twice. The dataset appears when all blocks are
    written; if the call fails, the file is as before and the parts are removed.

    Two blocks never share a chunk: an array whose blocks cut chunks is rechunked to whole chunks first.
    Blocks should be large, such as 100 MiB, as each block costs a task and a dataset.

    Args:
        array: The array. The lengths of its blocks must be known. A masked array is refused.
        file: The path of the file. All workers see it and its folder by this path.
        path: The path of the dataset in the file. Groups on the way are made.
        mode: "a" adds the dataset to the file, or makes the file; "w" replaces the file and removes the
            parts that the old file shows; "x" makes a file that does not exist.
        dtype: The dtype of the dataset. The default is that of the array. Arrays of objects need one, such as
            `hs.string_dtype()`.
        chunks: The shape of the chunks. By default they have about the shape that `Group.create_dataset`
            would choose, and divide the blocks where it can be done.
        compression: As for `Group.create_dataset`, like the following arguments.
        compression_opts: The parameters of the compression.
        shuffle: True adds the shuffle filter.
        fletcher32: True adds checksums.
        scaleoffset: The bits of integers, or the digits of floats, that are kept.
        fillvalue: The fill value.
        compute: False returns a Dask `Delayed`, whose computation stores the array.
        compute_kwargs: Arguments of the computation, such as `scheduler` or `retries`.

    Returns:
        None, or a `dask.delayed.Delayed` with `compute=False`.

    Raises:
        TypeError: The array is no Dask array or is masked, or HDF5 has no equivalent of its dtype; `file` is
            no path.
        ValueError: The lengths of blocks are unknown; a mode or an option of the storage is wrong.
        NameExistsError: The file has an object of this name.
        FileExistsError: The file exists, and the mode is "x".
        OSError: The file cannot be changed. From a task: the part cannot be written, for example because the
            disk is full. A note of the exception has the block and its elements.

    Example:
        >>> import dask.array
        >>> waves = dask.array.ones((6, 4), chunks=(3, 4))
        >>> hs.dask.store(waves, "waves.h5", "height", chunks=(1, 4), compression=hs.Blosc2("lz4"))
        >>> with hs.File("waves.h5") as reading:
        ...     reading["height"].is_virtual, float(reading["height"][:].sum())
        (True, 24.0)
    """
    if not isinstance(file, str | os.PathLike):
        raise TypeError(f"store needs the path of a file, which workers can open, not a {type(file).__name__}")
    if not isinstance(path, str):
        raise TypeError(f"the path of the dataset is a str, not a {type(path).__name__}")
    if not isinstance(array, dask.array.Array):
        raise TypeError(
            f"store needs a Dask array, not a {type(array).__name__}: dask.array.from_array makes one of an array"
        )
    if isinstance(array._meta, np.ma.MaskedArray):
        raise TypeError("a masked array cannot be stored: give masked elements a value with dask.array.ma.filled")
    if any(math.isnan(length) for length in array.shape):
        raise ValueError(
            f"the shape {array.shape} of the array is unknown: call array.compute_chunk_sizes() before store"
        )
    if mode not in ("a", "w", "x", "w-"):
        raise ValueError(f"mode must be 'a', 'w' or 'x', not {mode!r}")
    target = os.path.abspath(os.fspath(file))
    _check_target(target, path, mode)
    options: dict[str, Any] = {"fillvalue": fillvalue}
    has_chunks = array.ndim > 0 and 0 not in array.shape
    if has_chunks or array.ndim == 0:
        options |= {
            "compression": compression,
            "compression_opts": compression_opts,
            "shuffle": shuffle,
            "fletcher32": fletcher32,
            "scaleoffset": scaleoffset,
        }
    wanted: Any = (True if chunks is None else chunks) if has_chunks else None
    # What is wrong with the arguments is an error here, and not of all tasks.
    with File.in_memory() as trial:
        made = trial.create_dataset(
            path, array.shape, array.dtype if dtype is None else dtype, chunks=wanted, **options
        )
        kind, shape = made.dtype, made.chunks
    if has_chunks:
        if shape is None:
            raise ValueError("chunks=False: the dataset is stored in chunks")
        if wanted is True:
            shape = tuple(map(_near, shape, array.chunks))
        array = _aligned(array, shape)
    expected = None if dtype is not None or array.dtype.hasobject else array.dtype
    plan = Plan(target, path, mode, Grid(array.chunks), kind, shape, options, expected, not compute)
    places = array.map_blocks(
        Writer(plan),
        name=f"hyperslab-write-{plan.run}",
        chunks=tuple((1,) * len(lengths) for lengths in array.chunks),
        dtype=object,
        meta=np.empty((0,) * array.ndim, object),
    )
    joiner = delayed(Joiner(plan), name=f"hyperslab-joiner-{plan.run}", traverse=False)
    stored = joiner(places, dask_key_name=f"hyperslab-store-{plan.run}")
    if not compute:
        return stored
    make_folder(target, plan.run)
    try:
        stored.compute(**(compute_kwargs or {}))
    except BaseException:
        # The last task may have succeeded although its answer was lost.
        if not (plan.is_joined and plan.is_stored()):
            remove_run(target, plan.run)
        raise
    return None


def _check_target(target: str, path: str, mode: str) -> None:
    """Raises the exception that the last task would raise."""
    if not os.path.exists(target):
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "the folder of the file does not exist: make it", folder)
        return
    if mode in ("x", "w-"):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    if mode == "w":
        return
    with opened_to_change(target, _SHORT_WAIT) as file:
        if path in file:
            raise NameExistsError(f"{path!r} exists in {target!r}: delete it, or give the dataset another name")
        parts = path.strip("/").split("/")
        for end in range(1, len(parts)):
            above = "/".join(parts[:end])
            if above in file and not isinstance(file[above], Group):
                raise ValueError(f"{above!r} in {target!r} is not a group: {path!r} cannot be in it")


def _near(chunk: int, lengths: "tuple[int, ...]") -> int:
    """Returns a length near that of the chunk that divides the blocks, if they are regular."""
    block = lengths[0]
    if len(lengths) == 1 or any(length != block for length in lengths[:-1]):
        return chunk
    if chunk >= block:
        return block
    divisors = [side for side in range(-(-chunk // 2), min(block, 2 * chunk) + 1) if block % side == 0]
    return min(divisors, key=lambda side: max(side, chunk) / min(side, chunk), default=chunk)


def _aligned(array: Any, chunk: "tuple[int, ...]") -> Any:
    """Returns the array in blocks that cut no chunk."""
    blocks: list[Any] = []
    for lengths, side in zip(array.chunks, chunk, strict=True):
        is_whole = all(length % side == 0 for length in lengths[:-1])
        blocks.append(lengths if is_whole else max(1, round(max(lengths) / side)) * side)
    return array.rechunk(tuple(blocks))
