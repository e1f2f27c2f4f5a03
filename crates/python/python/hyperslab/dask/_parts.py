"""The parts of stored arrays: files beside the target, one for each run of `store` and each worker process.

The folder of the parts of `out.h5` is `out.h5.parts`. It has a folder for each run, with the parts of that
run. The sources of virtual datasets name parts relative to the folder of the target:
`out.h5.parts/RUN/PROCESS.h5`.
"""

import contextlib
import os
import shutil
import uuid
from pathlib import Path

from .._native import Dataset, File, Group, HardLink

_ENDING = ".parts"
# The name of this process, by its number; and in a forked process, those of its parents.
_NAMES: "dict[int, str]" = {}


def folder_of(target: str) -> Path:
    """Returns the folder of the parts of a file."""
    return Path(target + _ENDING)


def part_of_this_process(run: str) -> str:
    """Returns the name, in the folder of all parts, of the part that all threads of this process write."""
    # Numbers of processes are used again, and on other machines. A forked process gets a name of its own.
    return f"{run}/{_NAMES.setdefault(os.getpid(), uuid.uuid4().hex[:16])}.h5"


def make_folder(target: str, run: str) -> None:
    """Makes the folder of a run, in the folder of the target, which exists."""
    folder = folder_of(target)
    while not (folder / run).is_dir():
        folder.mkdir(exist_ok=True)
        # Another run removes the folder of all parts while it is empty.
        with contextlib.suppress(FileNotFoundError):
            (folder / run).mkdir(exist_ok=True)


def parts_of_run(target: str, run: str) -> "list[str]":
    """Returns the names of the parts that the processes of a run have made."""
    return sorted(f"{run}/{path.name}" for path in (folder_of(target) / run).glob("*.h5"))


def source_name(target: str, part: str) -> str:
    """Returns the name of a part as a source of a virtual dataset in the target."""
    # A name of a source is a pattern, in which %b is a number.
    return f"{folder_of(target).name}/{part}".replace("%", "%%")


def runs_of(target: str, dataset: Dataset) -> "set[str]":
    """Returns the runs whose parts a dataset of the target shows."""
    if not dataset.is_virtual:
        return set()
    prefix = source_name(target, "")
    sources = {source.file_name for source in dataset.virtual_sources()}
    found = [name.removeprefix(prefix).split("/") for name in sources if name.startswith(prefix)]
    # A file may name anything.
    return {parts[0] for parts in found if len(parts) == 2 and parts[0] not in ("", ".", "..")}


def all_runs_of(target: str) -> "set[str]":
    """Returns the runs whose parts the target shows."""
    with File(target, "r") as file:
        return set().union(*(runs_of(target, dataset) for dataset in virtual_datasets(file)))


def virtual_datasets(file: File) -> "dict[Dataset, list[str]]":
    """Returns the virtual datasets of a file, with all paths by which hard links lead to each."""
    found: dict[Dataset, list[str]] = {}

    def visit(group: Group) -> None:
        for name in group:
            if isinstance(group.get(name, getlink=True), HardLink):
                node = group[name]
                if isinstance(node, Dataset) and node.is_virtual:
                    found.setdefault(node, []).append(f"{(group.name or '').rstrip('/')}/{name}")

    visit(file)
    file.visititems(lambda _, node: visit(node) if isinstance(node, Group) else None)
    return found


def remove_run(target: str, run: str) -> None:
    """Removes all parts of a run, while tasks of it may still write: they find no folder, and fail."""
    folder = folder_of(target)
    gone = folder / f"{run}.removed"
    shutil.rmtree(gone, ignore_errors=True)
    # It may be gone; and the folder of all parts has parts of other runs.
    with contextlib.suppress(OSError):
        os.rename(folder / run, gone)
    shutil.rmtree(gone, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
