"""Every public name has a docstring, a signature and an example, and every example runs."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, X, Y, grid, segy
from support import IS_H5PY, REPOSITORY, hs

if IS_H5PY:
    pytest.skip("about hyperslab's own documentation", allow_module_level=True)

# Classes that `help()` reaches from the public ones, and that have no name of their own in the package.
REACHED = {
    "hyperslab._native": ["AsStrView", "AsTypeView", "AttrID", "ChunkIterator", "DatasetID", "FieldsView", "FileID"]
    + ["GroupID", "ObjectID", "TypeID"],
    "hyperslab._dims": ["Dimension", "DimensionManager"],
    "hyperslab._mapping": ["ItemsViewHDF5", "KeysViewHDF5", "ValuesViewHDF5"],
    "hyperslab._transaction": ["Transaction"],
    "hyperslab._dtypes": ["string_info"],
    "hyperslab._index": ["Index"],
    "hyperslab.segy._xarray": ["Accessor"],
}


def public_names():
    """Pairs of a dotted name and the object."""
    for module in (hs, hs.segy, hs.pandas, hs.dask):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isroutine(found):
                yield from with_members(f"{module.__name__}.{name}", found)
    for module, names in REACHED.items():
        for name in names:
            yield from with_members(f"{module}.{name}", getattr(importlib.import_module(module), name))


def with_members(name, found):
    yield name, found
    if not inspect.isclass(found):
        return
    for member, value in chain.from_iterable(vars(part).items() for part in parts(found)):
        of_tuple = issubclass(found, tuple) and member in (*found._fields, *vars(tuple))
        if not member.startswith("_") and not of_tuple and (callable(value) or is_descriptor(value)):
            yield f"{name}.{member}", getattr(found, member) if isinstance(value, classmethod) else value


def parts(found):
    """A class, and the classes without a name of their own that it is made of."""
    named = {*hs.__all__, *chain.from_iterable(REACHED.values())}
    return [
        part
        for part in found.__mro__
        if part.__module__.startswith("hyperslab") and (part is found or part.__name__ not in named)
    ]


def is_descriptor(value):
    return hasattr(value, "__get__")


# Each process of pytest-xdist has another order of the members of native classes.
NAMES = dict(sorted(public_names(), key=lambda pair: pair[0]))


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_docstring_with_an_example(name):
    doc = inspect.getdoc(NAMES[name])
    assert doc, f"{name} has no docstring"
    assert ">>>" in doc, f"{name} has no example"
    assert max(map(len, doc.splitlines())) <= 110


@pytest.mark.parametrize("name", [name for name, found in NAMES.items() if callable(found)])
def test_a_public_call_shows_its_arguments(name):
    found = NAMES[name]
    if inspect.isclass(found) and issubclass(found, BaseException):
        return
    try:
        arguments = inspect.signature(found).parameters
    except ValueError:
        # Objects of these classes are made by others: `Dataset.plan`, `Dataset.id`, `Group.attrs`.
        assert inspect.isclass(found) and "__new__" not in vars(found) and "__init__" not in vars(found), name
        return
    kinds = [argument.kind for argument in arguments.values() if argument.name != "self"]
    assert kinds != [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]


def fill(file):
    """The content of the examples' file."""
    dataset = file.create_dataset(
        "surface/t2m",
        data=np.arange(24, dtype="f4").reshape(4, 2, 3),
        chunks=(1, 2, 3),
        maxshape=(None, 2, 3),
        compression="gzip",
        shuffle=True,
    )
    dataset.attrs["units"] = "K"
    dataset.attrs["scale"] = 1.5
    kinds = [("id", "i4"), ("lat", "f8"), ("code", "S3")]
    file["stations"] = np.array([(1, 46.2, b"GVA"), (2, 47.4, b"ZRH")], dtype=kinds)
    file.create_dataset("names", data=["Geneva", "Zürich"], dtype=hs.string_dtype())


def table_of_readings():
    """The table of the examples, in a file of its own."""
    columns = [("time", "i8"), ("temp", "f8"), ("id", "S3"), ("info", [("level", "i2")])]
    rows = [(3600 * hour, 288.0 + hour, b"abcd"[hour : hour + 1], (10 * hour + 10,)) for hour in range(4)]
    return hs.File.in_memory().create_table("readings", columns, "Readings", obj=np.array(rows, columns))


def with_survey():
    """A SEG-Y file and its survey: inlines 1200 to 1202, crosslines 390 to 393, five samples 4 ms apart."""
    lines = grid(range(1200, 1203), range(390, 394))
    samples = np.arange(60, dtype="f4").reshape(12, 5)
    fields = {INLINE: lines[:, 0], CROSSLINE: lines[:, 1], X: 25 * lines[:, 0], Y: 25 * lines[:, 1]}
    Path("volume.sgy").write_bytes(segy(samples, fields))
    hs.segy.ingest("volume.sgy", "cube.h5")
    return {"survey": hs.segy.open("cube.h5")}


# Their examples take rows as Arrow.
ARROW = {name for name, value in NAMES.items() if re.search("polars|pyarrow|to_batches", inspect.getdoc(value) or "")}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.whole] * (name in ARROW)) for name in NAMES])
def test_the_examples_of_a_public_name_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with hs.File("climate.h5", "w") as file:
        fill(file)
    file = hs.File.in_memory()
    fill(file)
    names = {
        "hs": hs,
        "np": np,
        "file": file,
        "group": file["surface"],
        "dataset": file["surface/t2m"],
        "stations": file["stations"],
        "names": file["names"],
        "readings": table_of_readings(),
    }
    if ".segy." in name:
        names |= with_survey()
    if ".Index." in name:
        indexed = table_of_readings()
        indexed.create_csindex("temp")
        names["index"] = indexed.cols.temp.index
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(NAMES[name]) or "", names, name, None, None)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert not said, "".join(said)


def test_the_stub_has_the_docstrings_of_the_package():
    script = REPOSITORY / "scripts" / "stub_docs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("method", ["create_dataset", "create_dataset_like", "require_dataset", "copy"])
def test_a_method_written_in_python_shows_the_arguments_that_it_takes(method):
    written = inspect.signature(getattr(importlib.import_module("hyperslab._create"), method)).parameters
    shown = inspect.signature(getattr(hs.Group, method)).parameters
    of = [[(name, one.kind, one.default) for name, one in each.items()][1:] for each in (shown, written)]
    assert of[0] == of[1]
