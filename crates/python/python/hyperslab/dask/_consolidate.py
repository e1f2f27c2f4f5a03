"""Virtual datasets and their sources as one file."""

import errno
import os
import shutil
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask.array

from .._native import Dataset, File, get_threads
from .._progress import Progress, reported
from ._arrays import from_dataset
from ._parts import remove_run, runs_of, source_name, virtual_datasets


def consolidate(
    path: "str | os.PathLike[str]",
    out: "str | os.PathLike[str] | None" = None,
    *,
    remove_parts: bool = False,
    progress: Progress = None,
) -> None:
    """Makes one file of a file with virtual datasets and of their sources.

    Each virtual dataset becomes a dataset with the chunks and filters of its first source. The stored chunks
    of parts that `store` has made are copied without being decoded, by all threads; elements of other sources
    are read and written again. Everything else in the file is copied as it is.

    The new file appears when it is complete. If the call fails or is killed, the old file and the parts are
    as before. Object references and dimension scales that lead to a virtual dataset do not lead to the new
    one.

    Args:
        path: The path of the file.
        out: The path of the new file. The default is `path`: the new file replaces the old one.
        remove_parts: True removes the parts of the datasets that `store` has made, once the new file is on
            the disk. It needs the default of `out`.
        progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A function is
            called with the number of bytes of elements that are done, and of all elements. An exception of
            the function ends the work, and is raised.

    Raises:
        FileNotFoundError: The file or a source is missing.
        FileExistsError: `out` exists.
        ValueError: The file has no virtual dataset, or is open for writing; `remove_parts` with `out`.
        OSError: The new file cannot be written.

    Example:
        >>> import dask.array
        >>> hs.dask.store(dask.array.ones((6, 4), chunks=(3, 4)), "tides.h5", "height", chunks=(1, 4))
        >>> hs.dask.consolidate("tides.h5", remove_parts=True)
        >>> with hs.File("tides.h5") as reading:
        ...     reading["height"].is_virtual, reading["height"].chunks
        (False, (1, 4))
    """
    source = os.path.abspath(os.fspath(path))
    target = source if out is None else os.path.abspath(os.fspath(out))
    if out is not None and remove_parts:
        raise ValueError(f"remove_parts=True with out: {source!r} still needs its parts")
    if out is not None and os.path.exists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    folder, name = os.path.split(target)
    aside = os.path.join(folder, f".{name}.{uuid.uuid4().hex[:16]}.tmp")
    shown: set[str] = set()
    try:
        with File(source, "r") as reading:
            if reading.mode != "r":
                raise ValueError(f"{source!r} is open for writing: close it before consolidate")
            found = virtual_datasets(reading)
            if not found:
                raise ValueError(f"{source!r} has no virtual dataset: it is one file already")
            for virtual in found:
                _check_sources(virtual)
            shutil.copyfile(source, aside)
            # Nothing else has the elements once the parts are removed.
            with File(aside, "r+", durability="power" if remove_parts else "kill") as writing:
                with reported(progress, source, "B") as tell:
                    report = _Report(tell, sum(virtual.nbytes for virtual in found))
                    made = [_copied(source, virtual, writing, report) for virtual in found]
                # All new ones exist before an old one is deleted, so no reference finds another object.
                for dataset, paths in zip(made, found.values(), strict=True):
                    for one in paths:
                        del writing[one]
                        writing[one] = dataset
            if remove_parts:
                shown = set().union(*(runs_of(source, virtual) for virtual in found))
        os.replace(aside, target)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)
    if remove_parts:
        _sync(folder)
        for run in shown:
            remove_run(source, run)


def _sync(folder: str) -> None:
    """Waits until the names of files in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Report:
    """Counts the bytes that are done, and tells the caller."""

    def __init__(self, progress: "Callable[[int, int], object] | None", total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def add(self, size: int) -> None:
        self.done += size
        if self.progress is not None:
            self.progress(self.done, self.total)


def _check_sources(virtual: Dataset) -> None:
    missing = virtual.virtual_sources(missing_only=True)
    if missing:
        raise FileNotFoundError(
            f"{len(missing)} sources of {virtual.name!r} are missing, such as {missing[0].dset_name!r} in "
            f"{missing[0].file_name!r}: put the files back beside the file that shows them"
        )


def _copied(path: str, virtual: Dataset, writing: File, report: _Report) -> Dataset:
    """Returns a dataset without a name that has the elements and attributes of a virtual one."""
    sources = virtual.virtual_sources()
    made = _created(path, virtual, sources, writing)
    prefix = source_name(path, "")
    if sources and all(one.file_name.startswith(prefix) and _box(one.vspace) for one in sources):
        with ThreadPoolExecutor(get_threads()) as pool:
            for size in pool.map(lambda one: _move(path, one, made), sources):
                report.add(size)
    else:
        dask.array.store(from_dataset(virtual), made, lock=False, scheduler="threads")
        report.add(virtual.nbytes)
    old = writing[virtual.name or ""]
    for name in old.attrs:
        identifier = old.attrs.get_id(name)
        made.attrs.create(name, old.attrs[name], dtype=identifier.dtype)
    return made


def _created(path: str, virtual: Dataset, sources: "list[Any]", writing: File) -> Dataset:
    shape = virtual.shape or ()
    properties: dict[str, Any] = {"maxshape": None if virtual.maxshape == shape else virtual.maxshape}
    if not virtual.dtype.hasobject:
        properties["fillvalue"] = virtual.fillvalue
    if 0 in shape:
        made: Dataset = writing.create_dataset(None, shape, virtual.dtype, **properties)
        return made
    properties["chunks"] = True
    for one in sources[:1]:
        with File(_place(path, one), "r") as file:
            first = file[one.dset_name]
            if first.chunks and len(first.chunks) == len(shape):
                chunks = tuple(map(min, first.chunks, shape))
                properties["chunks"] = chunks
                made = writing.create_dataset_like(None, first, shape=shape, dtype=virtual.dtype, **properties)
                return made
    made = writing.create_dataset(None, shape, virtual.dtype, **properties)
    return made


def _place(path: str, source: Any) -> str:
    """Returns the path of the file of a source."""
    if source.file_name == ".":
        return path
    return os.path.join(os.path.dirname(path), source.file_name.replace("%%", "%"))


def _box(space: Any) -> "tuple[slice, ...] | None":
    """Returns the elements of a selection if they are one box."""
    if space.kind != "regular" or any(count != 1 or block is None for _, _, count, block in space.data):
        return None
    return tuple(slice(start, start + block) for start, _, _, block in space.data)


def _move(path: str, source: Any, made: Dataset) -> int:
    """Copies the elements of a part of `store`. Returns their number of bytes."""
    box = _box(source.vspace)
    assert box is not None  # The caller has checked all sources.
    with File(_place(path, source), "r") as file:
        block = file[source.dset_name]
        start = [side.start for side in box]
        if _is_as_stored(block, made) and _is_whole(box, made):
            places: list[Any] = []
            block.id.chunk_iter(lambda chunk: places.append(chunk.chunk_offset))
            for place in places:
                mask, stored = block.id.read_direct_chunk(place)
                made.id.write_direct_chunk([a + b for a, b in zip(start, place, strict=True)], stored, mask)
        else:
            made[box] = block[()]
        return int(block.nbytes)


def _is_as_stored(block: Dataset, made: Dataset) -> bool:
    """Returns whether the stored chunks of a dataset are valid in another one."""
    if block.dtype.hasobject or block.dtype != made.dtype or block.chunks != made.chunks:
        return False
    return block.filter_ids == made.filter_ids and block._filter_data == made._filter_data


def _is_whole(box: "tuple[slice, ...]", made: Dataset) -> bool:
    """Returns whether a box consists of whole chunks, so that no other box has elements of them."""
    axes = zip(box, made.chunks or (), made.shape or (), strict=True)
    return all(side.start % step == 0 and (side.stop % step == 0 or side.stop == end) for side, step, end in axes)
