"""Writes the tables of h5py's names in `docs/guide/from-h5py.md`.

    python scripts/h5py_names.py           writes the tables
    python scripts/h5py_names.py --check   fails if they would change

The names are those that the installed h5py has. The states are found by looking at both packages; `NOTES`
adds sentences where a name means more or less than in h5py.
"""

import argparse
import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import hyperslab
from hyperslab import low

GUIDE = Path(__file__).parent.parent / "docs" / "guide" / "from-h5py.md"
BEGIN, END = "<!-- The tables are written by scripts/h5py_names.py. -->\n", "<!-- The end of the tables. -->\n"

#: Classes that `h5py` has no name for: where h5py and hyperslab define them.
REACHED = {
    "AsStrView": ("_hl.dataset", "_native"),
    "AsTypeView": ("_hl.dataset", "_native"),
    "ChunkIterator": ("_hl.dataset", "_native"),
    "DimensionManager": ("_hl.dims", "_dims"),
    "DimensionProxy": ("_hl.dims", "_dims.Dimension"),
    "FieldsView": ("_hl.dataset", "_native"),
    "H5PYConfig": ("h5", "low.h5"),
    "ItemsViewHDF5": ("_hl.base", "_mapping"),
    "KeysViewHDF5": ("_hl.base", "_mapping"),
    "ValuesViewHDF5": ("_hl.base", "_mapping"),
}
#: What modules of h5py import for themselves.
IMPORTED = set("atexit cfg codecs defs gc getLogger logger namedtuple np phil platform re sys warn with_phil".split())

NOTES = {
    "AttributeManager": "the same; `rename` renames an attribute",
    "File": "the same keywords; those of libhdf5's caches and buffers have no effect",
    "H5PYConfig.bool_names": "the default only; other names are refused",
    "H5PYConfig.complex_names": "the default only; other names are refused",
    "HLObject.name": "the path by which the object was reached, also after `move`; None after `del`",
    "Group.create_dataset": "the same keywords; `chunks=True` chooses larger chunks; more filters (`compression=`)",
    "Group.create_group": "`track_times=True` is refused",
    "Group.get": 'the same; `elink_swmr=True` is refused with `elink_mode="r+"`',
    "Group.move": "the same, but a group cannot be moved below itself, where nothing would lead to it",
    "Group.pop": "the object that is returned was deleted if no other link leads to it",
    "Dataset.read_direct": "the same, also for arrays that are not C-contiguous",
    "Dataset.virtual_sources": "the same; `missing_only=True` lists the sources that are not there",
    "Dataset.write_direct": "the same, also for arrays that are not C-contiguous",
    "Reference": "the same, and equal if they refer to the same object",
    "RegionReference": "the same, and equal if they refer to the same part",
    "enable_ipython_completer": "does nothing: names are completed without it",
    "register_driver": "takes functions that choose a driver of hyperslab",
    "run_tests": "runs the tests of the installed h5py over hyperslab",
    "h5": "one version of HDF5, 2.0, whose files and behaviour hyperslab has",
    "h5d": "`create` refuses mappings whose blocks are no grid; chunks are counted without looking at a selection",
    "h5p": "settings of caches and buffers are kept and shown, without effect",
    "h5r": "`create` with no element of a scalar dataset refers to the element",
}


def public(holder: Any) -> list[str]:
    """Returns the names of a module or a class that are for users."""
    return sorted(name for name in dir(holder) if not name.startswith("_") and name not in IMPORTED)


def members_of(class_: type) -> "set[str]":
    """Returns the public members of a class, with the attributes that its own `__init__` sets."""
    found = set(public(class_))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(class_)))
    except (OSError, TypeError):
        return found
    stored = (one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    own = {one.attr for one in stored if isinstance(one.value, ast.Name) and one.value.id == "self"}
    return found | {name for name in own if not name.startswith("_")}


def code(names: "list[str]") -> str:
    """Returns names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def row(*cells: str) -> str:
    """Returns a row of a table."""
    return f"| {' | '.join(cells)} |"


def header(*titles: str) -> Iterator[str]:
    """Yields the first two rows of a table."""
    yield row(*titles)
    yield row(*("---" for _ in titles))


def kind_of(found: Any) -> str:
    """Returns the kind of a name of the module."""
    if inspect.isclass(found):
        return "class"
    return "module" if inspect.ismodule(found) else "function" if inspect.isroutine(found) else "constant"


def module_rows() -> Iterator[str]:
    """Yields the table of the names of the module."""
    yield from header("name", "what it is", "in hyperslab")
    for name in (name for name in public(h5py) if name not in low.MODULES):
        state = NOTES.get(name, "the same") if hasattr(hyperslab, name) else "not there"
        yield row(f"`{name}`", kind_of(getattr(h5py, name)), state)


def classes() -> "Iterator[tuple[str, type, type]]":
    """Yields the name of each class, h5py's and hyperslab's."""
    for name in public(h5py):
        if inspect.isclass(getattr(h5py, name)):
            yield name, getattr(h5py, name), getattr(hyperslab, name)
    for name, (theirs, ours) in REACHED.items():
        module, _, other = ours.partition(".") if ours.startswith("_dims.") else (ours, "", "")
        found = getattr(importlib.import_module(f"hyperslab.{module}"), other or name)
        yield name, getattr(importlib.import_module(f"h5py.{theirs}"), name), found


def class_rows() -> Iterator[str]:
    """Yields the table of the members of classes, each where it is defined first."""
    yield from header("class", "members", "in hyperslab")
    listed = {theirs for _, theirs, _ in classes()}
    for name, theirs, ours in classes():
        above = {member for base in theirs.__mro__[1:] if base in listed for member in members_of(base)}
        theirs_has, ours_has = members_of(theirs), members_of(ours)
        members = sorted(theirs_has - above)
        noted = [member for member in members if f"{name}.{member}" in NOTES]
        absent = [member for member in members if member not in ours_has]
        same = [member for member in members if member not in noted + absent]
        if same:
            yield row(f"`{name}`", code(same), "the same")
        for member in noted:
            yield row(f"`{name}`", f"`{member}`", NOTES[f"{name}.{member}"])
        if absent:
            yield row(f"`{name}`", code(absent), "not there")
        more = [member for member in sorted(ours_has - theirs_has) if member in vars(ours)]
        if more:
            yield row(f"`{name}`", code(more), "only in hyperslab")


def refuses(function: "Callable[..., Any]") -> bool:
    """Returns whether a function does nothing but to raise NotImplementedError by name."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return False
    last = body.body[-1] if isinstance(body, ast.FunctionDef) else None
    statements = [] if last is None else [one for one in body.body if ast.get_docstring(body) is None or one is last]
    return len(statements) == 1 and isinstance(last, ast.Raise) and "unsupported(" in ast.unparse(last)


def refused(module: ModuleType) -> Iterator[str]:
    """Yields the functions and methods of a low-level module that raise NotImplementedError by name."""
    for name in public(module):
        found = getattr(module, name)
        if inspect.isfunction(found) and refuses(found):
            yield name
        elif inspect.isclass(found):
            for member, value in vars(found).items():
                if inspect.isfunction(value) and refuses(value):
                    yield f"{name}.{member}"


def low_names(theirs: ModuleType) -> list[str]:
    """Returns the names that a low-level module of h5py has for its users, without its own imports."""
    others = {"get_config"} if theirs is not h5py.h5 else set()
    others |= {"H5pyDeprecationWarning"} if theirs is not h5py.h5py_warnings else set()
    return [name for name in public(theirs) if not inspect.ismodule(getattr(theirs, name)) and name not in others]


def low_rows() -> Iterator[str]:
    """Yields the table of the low-level modules."""
    yield from header("module", "names", "refused by name", "not there", "what differs")
    for name in (name for name in low.MODULES if not name.startswith("_")):
        theirs, ours = (importlib.import_module(f"{package}.{name}") for package in ("h5py", "hyperslab.low"))
        names = low_names(theirs)
        absent = [each for each in names if not hasattr(ours, each)]
        refusals = code([each for each in refused(ours) if each.partition(".")[0] in names])
        yield row(f"`{name}`", str(len(names)), refusals, code(absent), NOTES.get(name, ""))


def check_notes() -> None:
    """Raises an exception for a note about a name that h5py does not have."""
    known = {f"{name}.{member}" for name, theirs, _ in classes() for member in dir(theirs)}
    unknown = [name for name in NOTES if name not in known and not hasattr(h5py, name)]
    if unknown:
        raise SystemExit(f"h5py does not have {', '.join(unknown)}")


def tables() -> str:
    """Returns the three tables, with their headings."""
    parts = {"The module": module_rows(), "Classes": class_rows(), "The low-level modules": low_rows()}
    return "".join(f"\n### {title}\n\n" + "\n".join(rows) + "\n" for title, rows in parts.items()) + "\n"


def main() -> int:
    """Writes or checks the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the tables would change")
    check = parser.parse_args().check
    check_notes()
    text = GUIDE.read_text()
    before, rest = text.split(BEGIN)
    new = before + BEGIN + tables() + END + rest.split(END)[1]
    if check and new != text:
        print(f"{GUIDE.name} does not have the names of h5py: run `python scripts/h5py_names.py`")
        return 1
    if not check:
        GUIDE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
