"""The tables of `docs/guide/from-h5py.md` have every public name of h5py, and claim only what is so."""

import importlib
import inspect
import re
import subprocess
import sys

import h5py
import pytest
from hyperslab import low
from support import IS_H5PY, REPOSITORY, hs

if IS_H5PY:
    pytest.skip("about hyperslab's own documentation", allow_module_level=True)

GUIDE = REPOSITORY / "docs" / "guide" / "from-h5py.md"
TABLES = GUIDE.read_text().partition("## Every name of h5py")[2]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLES.splitlines() if line[:3] == "| `"]
# Objects of the classes whose `__init__` sets attributes.
WITH_ATTRIBUTES = {
    "VirtualLayout": hs.VirtualLayout((1,), "i4"),
    "VirtualSource": hs.VirtualSource("other.h5", "data", (1,)),
}


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.process
def test_the_tables_are_those_that_the_script_writes():
    script = REPOSITORY / "scripts" / "h5py_names.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_of_h5py_is_in_the_tables():
    known = {name for row in ROWS for cell in row for name in names_in(cell)}
    # What `h5py/__init__.py` imports for itself.
    public = {name for name in vars(h5py) if not name.startswith("_")} - {"atexit", "defs"}
    for name in list(public):
        found = getattr(h5py, name)
        if inspect.isclass(found):
            public |= {member for member in vars(found) if not member.startswith("_")}
    assert public <= known, public - known


def test_a_name_that_is_the_same_is_there_and_one_that_is_not_there_is_not():
    for first, second, *states in ROWS:
        if second in ("class", "function", "constant", "module"):
            assert hasattr(hs, names_in(first)[0]) == (states != ["not there"]), first
        elif len(states) == 1 and hasattr(hs, names_in(first)[0]) and states != ["not there"]:
            holder = WITH_ATTRIBUTES.get(names_in(first)[0]) or getattr(hs, names_in(first)[0])
            assert [name for name in names_in(second) if not hasattr(holder, name)] == [], first


def refused():
    """Yields the module and the name of each function or method that the tables call refused."""
    for module, _, names, *_ in (row for row in ROWS if len(row) == 5):
        for name in names_in(names):
            yield names_in(module)[0], name


@pytest.mark.parametrize(("module", "name"), list(refused()))
def test_a_name_that_is_refused_raises_by_its_name(module, name):
    function = importlib.import_module(f"hyperslab.low.{module}")
    for part in name.split("."):
        function = getattr(function, part)
    given = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    with pytest.raises(NotImplementedError, match=name.rpartition(".")[2]):
        function(*(None for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)))


def test_every_low_level_module_has_a_row():
    assert {names_in(row[0])[0] for row in ROWS if len(row) == 5} == {name for name in low.MODULES if name[0] != "_"}
