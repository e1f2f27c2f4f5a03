"""Datasets as Dask arrays, whose blocks follow the chunks of the file."""

import math
import os
import warnings
from collections.abc import Sequence
from typing import Any, overload

import dask
import dask.array
import numpy as np
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.utils import parse_bytes

from .._errors import ClosedError
from .._native import Dataset, File

# The bytes of an element of variable length, about; NumPy counts those of the pointer.
_VARIABLE_BYTES = 16


@overload
def from_dataset(dataset: Dataset, chunks: Any = None) -> Any: ...
@overload
def from_dataset(dataset: "str | os.PathLike[str]", name: str, chunks: Any = None) -> Any: ...
def from_dataset(dataset: Any, *arguments: Any, **keywords: Any) -> Any:
    """Returns a dataset as a Dask array, whose elements are read when they are needed.

    The blocks consist of whole chunks of the dataset, as many as Dask's setting `array.chunk-size` allows
    (128 MiB). The blocks of a dataset without chunks are runs of rows; those of a virtual dataset follow its
    first source. So no two tasks decode the same chunk.

    If the file is open for reading by path, a task uses the handle while it is open, and otherwise opens the
    file by its path and closes it. So the file may be closed at once, and tasks run in other processes, and
    on other machines that see the file. Threads read and decode in parallel. The elements of a file that is
    open for writing, is in memory, or is a Python object can be read only by the threads of this process, and
    only while it is open.

    The array is named by the path, the time and the size of the file, so Dask takes arrays of an unchanged
    file for equal. Arrays of virtual and external datasets, and of files that can change, have a new name
    each time.

    Args:
        dataset: The dataset, or the path of a file. The axes of an array datatype become the last axes of the
            array.
        name: The path of the dataset in the file, if `dataset` is the path of a file.
        chunks: The shape of the blocks, as `dask.array.from_array` takes it: a number, or for each axis a
            number, a tuple of lengths, -1 or None for the whole axis, "auto", or a size such as "64 MiB".
            Axes with "auto" or a size get whole chunks. Numbers are taken as they are given, with a
            `dask.array.PerformanceWarning` if blocks cut chunks: several tasks then decode the same chunk.

    Returns:
        A `dask.array.Array`.

    Raises:
        TypeError: The argument is not a dataset, or a dataset without a shape (`Empty`). From a scheduler
            with other processes: the file cannot be opened there.
        ValueError: `chunks` does not fit the shape. From a task: the dataset has got another shape or dtype.

    Example:
        >>> with hs.File("climate.h5") as reading:
        ...     t2m = hs.dask.from_dataset(reading["surface/t2m"])
        >>> t2m.shape, float(t2m.mean().compute())
        ((4, 2, 3), 11.5)
        >>> hs.dask.from_dataset("climate.h5", "surface/t2m").shape
        (4, 2, 3)
    """
    if isinstance(dataset, str | os.PathLike):
        return _from_file(dataset, *arguments, **keywords)
    return _from_dataset(dataset, *arguments, **keywords)


def _from_file(path: "str | os.PathLike[str]", name: str | None = None, chunks: Any = None) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"name must be the path of a dataset in the file, not {name!r}")
    with File(os.path.abspath(path), "r") as file:
        found = file[name]
        if not isinstance(found, Dataset):
            raise TypeError(f"name must be that of a dataset, and {name!r} is a {type(found).__name__}")
        return _from_dataset(found, chunks)


def _from_dataset(dataset: Dataset, chunks: Any = None) -> Any:
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a dataset, or the path of a file, not {type(dataset).__name__}")
    if dataset.shape is None:
        raise TypeError(f"{dataset.name!r} is empty: it has no shape, so there is no array of it")
    source = _Source(dataset)
    blocks = _blocks(source, dataset, chunks)
    return dask.array.from_array(
        source,
        chunks=blocks,
        name=f"hyperslab-{tokenize(dataset, blocks)}",
        asarray=False,
        fancy=False,
        meta=np.empty((0,) * len(source.shape), source.dtype),
    )


class _Source:
    """A dataset as the tasks of an array have it. Pickles hold the path."""

    def __init__(self, dataset: Dataset) -> None:
        outer = dataset.dtype
        inner: tuple[int, ...] = () if outer.subdtype is None else outer.subdtype[1]
        #: The axes of the dataset itself.
        self.axes = dataset.ndim
        self.shape: tuple[int, ...] = (*(dataset.shape or ()), *inner)
        self.ndim = len(self.shape)
        self.dtype = outer.base
        self.name = dataset.name
        self.reopening = None if dataset.name is None else dataset._reopening()
        self.handle: Dataset | None = dataset

    def __getstate__(self) -> "dict[str, Any]":
        if self.reopening is None:
            raise TypeError(
                f"a task in another process cannot open {self.name!r}: only a file that is open for reading, by "
                "path, can be opened again (open it with mode 'r', or compute with scheduler='threads')"
            )
        return {**self.__dict__, "handle": None}

    def __getitem__(self, key: "tuple[Any, ...]") -> "np.ndarray[Any, Any]":
        handle = self.handle
        if handle is not None:
            try:
                return self._read(handle, key)
            except ClosedError:
                if self.reopening is None:
                    raise
                self.handle = None
        assert self.reopening is not None and self.name is not None  # as it was pickled, or the lines above
        path, keywords = self.reopening
        with File(path, "r", **keywords) as file:
            found = file[self.name]
            now = _Source(found) if isinstance(found, Dataset) and found.shape is not None else None
            if now is None or (now.shape, now.dtype, now.axes) != (self.shape, self.dtype, self.axes):
                raise ValueError(
                    f"{self.name!r} in {str(path)!r} is not the dataset of shape {self.shape} and dtype {self.dtype} "
                    "of which the array was made: call from_dataset again"
                )
            return self._read(found, key)

    def _read(self, dataset: Dataset, key: "tuple[Any, ...]") -> "np.ndarray[Any, Any]":
        values = dataset[key[: self.axes]]
        if not isinstance(values, np.ndarray):
            # One element, which may be a tuple, or bytes that NumPy would make another dtype of.
            element, values = values, np.empty((), self.dtype)
            values[()] = element
        inner = key[self.axes :]
        return values[(..., *inner)] if inner else values


def _blocks(source: _Source, dataset: Dataset, chunks: Any) -> "tuple[tuple[int, ...], ...]":
    """Returns the lengths of the blocks along each axis."""
    shape = source.shape
    itemsize = max(source.dtype.itemsize, _VARIABLE_BYTES if source.dtype.hasobject else 1)
    given = _for_each_axis("auto" if chunks is None else chunks, len(shape))
    unit = _unit(dataset, shape)
    sizes = {parse_bytes(one) for one in given if isinstance(one, str) and one != "auto"}
    if len(sizes) > 1:
        raise ValueError(f"chunks={chunks!r} has two sizes: give one, and 'auto' for the other axes")
    limit = sizes.pop() if sizes else parse_bytes(dask.config.get("array.chunk-size"))
    if 0 in shape:
        # Nothing is divided.
        given = [-1 if isinstance(one, str) else one for one in given]
    free = [isinstance(one, str) for one in given]
    if unit is None and all(free):
        return normalize_chunks(_rows(shape, limit // itemsize), shape=shape)
    steps = [step if is_free else 1 for step, is_free in zip(unit or (1,) * len(shape), free, strict=True)]
    # Along free axes, Dask counts chunks in place of elements.
    counts = normalize_chunks(
        tuple("auto" if is_free else one for one, is_free in zip(given, free, strict=True)),
        shape=tuple(-(-length // step) for length, step in zip(shape, steps, strict=True)),
        limit=max(1, limit // math.prod(steps)),
        dtype=np.dtype((np.void, itemsize)),
    )
    found = tuple(
        _lengths(axis, step, length) if step > 1 else tuple(axis)
        for axis, step, length in zip(counts, steps, shape, strict=True)
    )
    for axis, (lengths, is_free) in enumerate(zip(found, free, strict=True)):
        if unit is not None and not is_free and any(end % unit[axis] for end in np.cumsum(lengths[:-1])):
            warnings.warn(
                f"blocks of {lengths[0]} along axis {axis} cut the chunks of {unit[axis]}: each of these chunks is "
                "decoded by several tasks (take a multiple, or 'auto')",
                dask.array.PerformanceWarning,
                stacklevel=3,
            )
    return found


def _for_each_axis(chunks: Any, axes: int) -> "list[Any]":
    if isinstance(chunks, dict):
        unknown = [axis for axis in chunks if axis not in range(axes)]
        if unknown:
            raise ValueError(f"chunks={chunks!r} names the axis {unknown[0]!r}: the array has {axes} axes")
        return [chunks.get(axis) for axis in range(axes)]
    if not isinstance(chunks, tuple | list):
        return [chunks] * axes
    if len(chunks) != axes:
        raise ValueError(f"chunks={chunks!r} has {len(chunks)} axes, and the array has {axes}")
    return list(chunks)


def _unit(dataset: Dataset, shape: "tuple[int, ...]") -> "tuple[int, ...] | None":
    """Returns the shape of a chunk, or of the first source of a virtual dataset."""
    found: Sequence[int] | None = dataset.chunks
    if dataset.is_virtual:
        for source in dataset.virtual_sources()[:1]:
            space = source.vspace
            if space.kind == "regular" and all(count == 1 and block for _, _, count, block in space.data):
                found = [block for _, _, _, block in space.data]
    # Dask divides by it.
    return None if found is None else (*map(int, found), *shape[len(found) :])


def _rows(shape: "tuple[int, ...]", most: int) -> "tuple[int, ...]":
    """Returns the shape of the longest run of elements in C order, of at most `most` elements."""
    block = []
    for length in reversed(shape):
        block.append(max(1, min(length, most)))
        most //= block[-1]
    return tuple(reversed(block))


def _lengths(counts: "Sequence[int]", step: int, length: int) -> "tuple[int, ...]":
    ends = np.minimum(np.cumsum(counts) * step, length)
    return tuple(int(size) for size in np.diff(ends, prepend=0))
