"""The tasks of `store`: a writer for each block, and one that joins the blocks.

1. A block is written once to a new dataset of the part of its process, and never changed.
2. A task returns the place of its block only after the part was committed, so the place leads to a whole
   block whatever happens to the process later.
3. The virtual dataset is made of the places that the tasks returned, and of nothing else: a block that was
   written twice, or by a process that died before its task returned, is not shown, and is removed.
4. The target changes in one step, after all blocks were written.
"""

import contextlib
import itertools
import os
import time
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._errors import NameExistsError
from .._native import Dataset, File
from .._virtual import VirtualLayout, VirtualSource
from ._parts import (
    all_runs_of,
    folder_of,
    make_folder,
    part_of_this_process,
    parts_of_run,
    remove_run,
    runs_of,
    source_name,
)

# The seconds that a task waits for another process to finish its change of the target.
_LONG_WAIT = 60.0

_Box = tuple[slice, ...]


class Grid:
    """The places of the blocks of an array.

    It is pickled with each task, so it holds a list only for axes whose blocks have several lengths.
    """

    def __init__(self, chunks: "tuple[tuple[int, ...], ...]") -> None:
        self.shape = tuple(map(sum, chunks))
        self._axes = [
            lengths[0] if {*lengths[:-1]} <= {lengths[0]} and lengths[-1] <= lengths[0] else np.cumsum((0, *lengths))
            for lengths in chunks
        ]

    def box(self, index: "tuple[int, ...]") -> _Box:
        """Returns the elements of a block."""
        return tuple(
            slice(axis * at, min(axis * (at + 1), length))
            if isinstance(axis, int)
            else slice(int(axis[at]), int(axis[at + 1]))
            for axis, at, length in zip(self._axes, index, self.shape, strict=True)
        )


class Plan:
    """What all tasks of one call of `store` know. It is pickled with each task.

    Attributes:
        target: The path of the file.
        path: The path of the dataset.
        mode: "a", "w" or "x".
        grid: The places of the blocks.
        dtype: The dtype of the dataset.
        chunks: The shape of a chunk, or None for an array that has no chunks.
        options: Arguments of `Group.create_dataset`.
        expected: The dtype of the blocks, or None for any dtype.
        makes_folder: Whether tasks make the folder of the run.
        run: The number of the call, which is the name of the folder of its parts.
    """

    def __init__(
        self,
        target: str,
        path: str,
        mode: str,
        grid: Grid,
        dtype: Any,
        chunks: "tuple[int, ...] | None",
        options: "dict[str, Any]",
        expected: "np.dtype[Any] | None",
        makes_folder: bool,
    ) -> None:
        self.target, self.path, self.mode, self.grid = target, path, mode, grid
        self.shape = grid.shape
        self.dtype, self.chunks, self.options, self.expected = dtype, chunks, options, expected
        self.makes_folder = makes_folder
        self.run = uuid.uuid4().hex[:16]

    @property
    def is_joined(self) -> bool:
        """Whether the array becomes a virtual dataset: HDF5 has none of scalars."""
        return bool(self.shape) and 0 not in self.shape

    def is_own(self, found: Any) -> bool:
        """Returns whether an object is the dataset that this run makes."""
        if not isinstance(found, Dataset):
            return False
        if not self.is_joined:
            return bool((found.shape, found.dtype) == (self.shape, self.dtype))
        return self.run in runs_of(self.target, found)

    def is_stored(self) -> bool:
        """Returns whether the target has the dataset of this run."""
        try:
            with File(self.target, "r") as file:
                return self.path in file and self.is_own(file[self.path])
        except OSError:
            return False


class Writer:
    """Writes a block to the part of the process."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, values: Any, block_id: "tuple[int, ...]" = ()) -> "np.ndarray[Any, Any]":
        """Returns the place of the block, "RUN/PROCESS.h5/NAME", in an array of one element."""
        box = self.plan.grid.box(block_id)
        try:
            place = self._write(values, block_id, [side.stop - side.start for side in box])
        except Exception as error:
            elements = ", ".join(f"{side.start}:{side.stop}" for side in box)
            error.add_note(f"while writing block {block_id}, elements [{elements}], of {self.plan.path!r}")
            raise
        return np.array(place, object).reshape((1,) * len(box))

    def _write(self, values: Any, index: "tuple[int, ...]", shape: "list[int]") -> str:
        if isinstance(values, np.ma.MaskedArray):
            raise TypeError("a masked array cannot be stored: give masked elements a value with dask.array.ma.filled")
        plan = self.plan
        block = np.asarray(values)
        if list(block.shape) != shape:
            raise ValueError(f"the block has the shape {block.shape}, and the array says {tuple(shape)}")
        if plan.expected is not None and block.dtype != plan.expected:
            block = block.astype(plan.expected, casting="same_kind")
        if 0 in shape:
            return ""
        limits = None
        if plan.chunks is not None and any(length < side for length, side in zip(shape, plan.chunks, strict=True)):
            # A short block at the edge has the chunks of all others.
            limits = tuple(map(max, shape, plan.chunks))
        name = ".".join(map(str, index)) or "scalar"
        part = part_of_this_process(plan.run)
        if plan.makes_folder:
            make_folder(plan.target, plan.run)
        with File(folder_of(plan.target) / part, "a") as file:
            for attempt in itertools.count():
                unique = f"{name}-{attempt}" if attempt else name
                with contextlib.suppress(NameExistsError):
                    file.create_dataset(
                        unique, dtype=plan.dtype, data=block, chunks=plan.chunks, maxshape=limits, **plan.options
                    )
                    break
        # Closing has committed the block.
        return f"{part}/{unique}"


class Joiner:
    """Makes the dataset that shows the blocks. It may run again, with other places of the blocks."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, places: Any) -> None:
        """Takes the array of the places that the writers returned."""
        plan = self.plan
        found = list(self._found(np.asarray(places, dtype=object)))
        folder = folder_of(plan.target)
        missing = {part for _, part, _ in found if not (folder / part).is_file()}
        if missing:
            raise FileNotFoundError(
                f"{len(missing)} parts are not in {str(folder)!r}, such as {min(missing)!r}: all workers must see this "
                "folder, and nothing may be removed from it meanwhile"
            )
        if plan.mode == "a":
            with opened_to_change(plan.target, _LONG_WAIT) as file:
                self._make(file, found)
        else:
            self._replace(found)
        self._clean(found)

    def _found(self, places: "np.ndarray[Any, Any]") -> "Iterator[tuple[_Box, str, str]]":
        """Yields the elements, the part and the name of each block that has elements."""
        for index, place in np.ndenumerate(places):
            if place:
                part, _, name = place.rpartition("/")
                yield self.plan.grid.box(index), part, name

    def _make(self, file: File, found: "list[tuple[_Box, str, str]]") -> None:
        plan = self.plan
        if plan.path in file:
            if not plan.is_own(file[plan.path]):
                raise NameExistsError(f"{plan.path!r} exists in {plan.target!r}: another program has made it meanwhile")
            # This task has run before. Its dataset may show parts of processes that have died since.
            del file[plan.path]
        if not plan.is_joined:
            data = None
            for _, part, name in found:
                with File(folder_of(plan.target) / part, "r") as source:
                    data = source[name][()]
            file.create_dataset(plan.path, plan.shape, plan.dtype, data, **plan.options)
            return
        layout = VirtualLayout(plan.shape, plan.dtype)
        for box, part, name in found:
            extent = tuple(side.stop - side.start for side in box)
            layout[box] = VirtualSource(source_name(plan.target, part), name, shape=extent)
        file.create_virtual_dataset(plan.path, layout, plan.options["fillvalue"])

    def _replace(self, found: "list[tuple[_Box, str, str]]") -> None:
        """Puts a new file in the place of the target, and removes the parts of the old one."""
        plan = self.plan
        folder, name = os.path.split(plan.target)
        aside = os.path.join(folder, f".{name}.{plan.run}.tmp")
        old: set[str] = set()
        try:
            with File(aside, "w") as file:
                self._make(file, found)
            if os.path.exists(plan.target):
                if plan.mode != "w" and not plan.is_stored():
                    raise FileExistsError(f"{plan.target!r} exists: another program has made it meanwhile")
                # The old file need not be one of HDF5, or whole.
                with contextlib.suppress(OSError):
                    old = all_runs_of(plan.target)
            os.replace(aside, plan.target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(aside)
        for run in old - {plan.run}:
            remove_run(plan.target, run)

    def _clean(self, found: "list[tuple[_Box, str, str]]") -> None:
        """Removes blocks that are not shown, and completes commits of processes that have died."""
        plan = self.plan
        if not plan.is_joined:
            remove_run(plan.target, plan.run)
            return
        kept: dict[str, set[str]] = {}
        for _, part, name in found:
            kept.setdefault(part, set()).add(name)
        for part in parts_of_run(plan.target, plan.run):
            if part not in kept:
                (folder_of(plan.target) / part).unlink(missing_ok=True)
        for part, names in kept.items():
            # A process that is taken for dead may have its part open. Then the part stays as it is.
            with contextlib.suppress(OSError), File(folder_of(plan.target) / part, "r+") as file:
                for name in set(file) - names:
                    del file[name]


def opened_to_change(path: str, seconds: float) -> File:
    """Opens or creates a file, as soon as other processes have closed it.

    Raises:
        BlockingIOError: A process still has the file open after `seconds`.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            return File(path, "a")
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
