"""Runs the probes of a folder with the module `h5py`: `python run.py OUTCOMES FOLDER [WORD]`.

A probe is a paragraph of a file in `topics/`: the lines between two blank lines. It runs in a folder of its
own with a fresh copy of the file that `fixture.py` describes, opened as `f`. Its outcome is the value of its
last line, if that is an expression, or the exception; and the classes of the warnings. The outcomes are
written as JSON: {name: [kind, classes, text, warnings]}. With WORD only the probes whose text has it run, and
their outcomes are printed.
"""

import ast
import gc
import io
import json
import os
import pickle
import sys
import warnings
from copy import copy, deepcopy
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np
from shown import shown, text_of

HERE = Path(__file__).resolve().parent


def probes():
    """Yields (name, source) of every probe. The name is the topic and the source in one line."""
    for path in sorted((HERE / "topics").glob("*.py")):
        for source in path.read_text().split("\n\n"):
            source = source.strip("\n")
            if source and not source.startswith(('"""', "#")):
                tree = ast.parse(source)
                yield f"{path.stem}: " + "; ".join(ast.unparse(tree).splitlines()), source


def run(source, names):
    """Executes a probe, and returns what its last line shows."""
    *before, last = ast.parse(source).body
    exec(compile(ast.Module(before, []), "probe", "exec"), names)  # noqa: S102
    if isinstance(last, ast.Expr):
        return shown(eval(compile(ast.Expression(last.value), "probe", "eval"), names))  # noqa: S307
    exec(compile(ast.Module([last], []), "probe", "exec"), names)  # noqa: S102
    return "nothing"


def classes_of(error):
    """Returns the names of the class of an exception and of the classes that it is caught by."""
    return [each.__name__ for each in type(error).__mro__ if issubclass(each, Exception)]


def outcome(source, image, folder):
    """Returns [kind, classes, text, warnings] of a probe."""
    folder.mkdir()
    os.chdir(folder)
    for name, content in image.items():
        Path(name).write_bytes(content)
    names = {"h5py": h5py, "np": np, "os": os, "io": io, "pickle": pickle, "Path": Path}
    names |= {"copy": copy, "deepcopy": deepcopy, "import_module": import_module, "__name__": "__main__"}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with h5py.File("f.h5", "r+") as f:
            names["f"] = f
            try:
                found = ["value", [], run(source, names)]
            except Exception as error:  # noqa: BLE001  (the class is the outcome)
                found = ["raised", classes_of(error), text_of(str(error))]
            names.clear()
    for name, content in image.items():
        if Path(name).read_bytes() == content:
            Path(name).unlink()
    return [*found, sorted({one.category.__name__ for one in warned if one.category is not ResourceWarning})]


def main():
    """Runs all probes, or those that have a word."""
    written, root, *word = sys.argv[1:]
    root = Path(root).resolve()
    image = {path.name: path.read_bytes() for path in root.glob("*.h5")}
    found = {}
    for number, (name, source) in enumerate(probes()):
        if not word or word[0] in source:
            assert name not in found, f"twice: {name}"
            found[name] = outcome(source, image, root / f"{number}")
        if not number % 100:
            gc.collect()
    os.chdir(root)
    if word:
        for name, each in found.items():
            print(name, *each, sep="\n    ")
    Path(written).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
