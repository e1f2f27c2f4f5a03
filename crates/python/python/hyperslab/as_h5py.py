"""Stands in for h5py: `import hyperslab.as_h5py` before anything imports h5py.

Afterwards `import h5py` gives the names of this package, with all submodules, in this process and in the
processes that it starts. A program runs unchanged by the command

    python -m hyperslab.as_h5py script.py ARGS...
    python -m hyperslab.as_h5py -m MODULE ARGS...
    python -m hyperslab.as_h5py -c TEXT ARGS...
    python -m hyperslab.as_h5py - ARGS...            (a program on the standard input)

`importlib.metadata` still finds the installed h5py, if there is one.
"""

import importlib
import importlib.metadata
import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path

import hyperslab
from hyperslab import _warn, low
from hyperslab._native import _stand_in as _set_conventions
from hyperslab.low import _private, hl

#: A folder with a package `h5py` that imports this module: for processes that this process starts.
STAND_IN = Path(__file__).parent / "low" / "stand_in"


def _check_absence() -> None:
    """Raises an exception if the h5py that is not this package was imported."""
    found = sys.modules.get("h5py")
    origin = getattr(getattr(found, "__spec__", None), "origin", None)
    if found is not None and (origin is None or Path(origin).parent != STAND_IN / "h5py"):
        raise ImportError(
            "h5py is already imported, and modules may hold its classes: import hyperslab.as_h5py first, "
            "or run the program by python -m hyperslab.as_h5py"
        )


def _module() -> types.ModuleType:
    """Returns the module `h5py`, and puts it and its submodules in `sys.modules`."""
    # The package that a process imports which this process starts.
    folder = STAND_IN / "h5py"
    spec = importlib.util.spec_from_file_location(
        "h5py", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    h5py = importlib.util.module_from_spec(spec)
    h5py.__doc__ = hyperslab.__doc__
    vars(h5py).update(__getattr__=hyperslab.__getattr__, __version__=low.version.version, _hl=hl)
    sys.modules["h5py"] = h5py
    for name in filter(partial(hasattr, hyperslab), hyperslab.H5PY_NAMES):
        setattr(h5py, name, getattr(hyperslab, name))
    for name in low.MODULES:
        sys.modules[f"h5py.{name}"] = module = importlib.import_module(f"hyperslab.low.{name}")
        setattr(h5py, name, module)
    sys.modules["h5py._hl"] = hl
    for name in hl.MODULES:
        sys.modules[f"h5py._hl.{name}"] = module = importlib.import_module(f"hyperslab.low.hl.{name}")
        setattr(hl, name, module)
    return h5py


#: Where h5py defines its classes. Packages look at the module of a class to tell h5py from other libraries.
_HOMES = {
    "AttributeManager": "h5py._hl.attrs",
    "Dataset": "h5py._hl.dataset",
    "Datatype": "h5py._hl.datatype",
    "Empty": "h5py._hl.base",
    "ExternalLink": "h5py._hl.group",
    "File": "h5py._hl.files",
    "Group": "h5py._hl.group",
    "HLObject": "h5py._hl.base",
    "HardLink": "h5py._hl.group",
    "SoftLink": "h5py._hl.group",
}


class _OwnTests(MetaPathFinder):
    """Finds the tests of h5py in the installed h5py: `pytest --pyargs h5py.tests` runs them."""

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "h5py.tests":
            return None
        try:
            folder = Path(str(importlib.metadata.distribution("h5py").locate_file("h5py/tests")))
        except importlib.metadata.PackageNotFoundError:
            return None
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def _stand_in() -> types.ModuleType:
    loaded = sys.modules.get("h5py")
    if loaded is not None and vars(loaded).get("__getattr__") is hyperslab.__getattr__:
        return loaded
    _check_absence()
    _set_conventions()
    _private.install()
    _warn.silence()
    h5py = _module()
    for name, home in _HOMES.items():
        getattr(hyperslab, name).__module__ = home
    sys.meta_path.append(_OwnTests())
    # After the folder of the program, which has its own modules.
    sys.path.insert(1, str(STAND_IN))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(STAND_IN) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(STAND_IN), *filter(None, paths)])
    return h5py


def main(arguments: "list[str]") -> None:
    """Runs a program with its arguments, as `python` does.

    Args:
        arguments: The path of a script, `-m` and the name of a module, `-c` and the text of a program, or `-`
            for a program on the standard input; then the arguments of it.
    """
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        sys.argv = arguments[1:]
        if "." not in arguments[1] and importlib.util.find_spec(arguments[1]) is None:
            sys.exit(f"python -m hyperslab.as_h5py: no module named {arguments[1]!r}")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[:1] == ["-c"] and len(arguments) > 1:
        _run_text(arguments[1], "<string>", ["-c", *arguments[2:]])
    elif arguments[:1] == ["-"]:
        _run_text(sys.stdin.read(), "<stdin>", arguments)
    elif arguments and not arguments[0].startswith("-"):
        _check_script(arguments[0])
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    else:
        sys.exit("usage: python -m hyperslab.as_h5py (SCRIPT | -m MODULE | -c TEXT | -) [ARGUMENTS]")


def _check_script(path: str) -> None:
    """Ends the process, as `python` does, if there is no script at a path."""
    try:
        if not os.path.isdir(path):
            open(path, "rb").close()
            return
        if os.path.exists(os.path.join(path, "__main__.py")):
            return
        why = "the folder has no __main__.py"
    except OSError as error:
        why = str(error.strerror)
    print(f"python -m hyperslab.as_h5py: cannot open the script {path!r}: {why}", file=sys.stderr)
    sys.exit(2)


def _run_text(text: str, file_name: str, arguments: "list[str]") -> None:
    """Runs the text of a program as the module `__main__`."""
    sys.argv, sys.path[0] = arguments, ""
    sys.modules["__main__"] = made = types.ModuleType("__main__")
    exec(compile(text, file_name, "exec"), vars(made))


if __name__ == "__main__":
    # The module has two names here; the one that is imported by its own name stands in.
    importlib.import_module("hyperslab.as_h5py").main(sys.argv[1:])
else:
    _stand_in()
