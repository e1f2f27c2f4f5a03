"""A pytest plugin: each object that pandas reads from a store is read by `hs.pandas` too, and must be equal.

The outcome of every test goes to the file given by PANDAS_OWN_OUTCOMES, with the number of reads compared.
"""

import json
import os
from pathlib import Path

import hyperslab as hs
import pandas as pd
import pandas.io.pytables
from hyperslab.pandas._store import read_group

_outcomes: dict[str, list[str]] = {}
_WORSE = {"passed": 0, "skipped": 1, "failed": 2}
_compared = 0


def compare(path, key, expected, where=None, start=None, stop=None, columns=None):
    """Fails if `hs.pandas` does not read the object that pandas has read."""
    global _compared
    if not isinstance(expected, pd.DataFrame | pd.Series) or not os.path.isfile(path):
        return
    scope = {}
    for part in where if isinstance(where, list | tuple) else [where]:
        scope |= dict(part.env.scope) if hasattr(part, "env") else {}
    if isinstance(where, list | tuple):
        where = [getattr(part, "expr", part) for part in where]
    where = getattr(where, "expr", where)
    with hs.File(path, "r", locking=False) as file:
        found = read_group(file[key], where, columns, slice(start, stop), scope)
    test = pd.testing.assert_series_equal if isinstance(expected, pd.Series) else pd.testing.assert_frame_equal
    try:
        test(found, expected)
    except AssertionError as error:
        raise AssertionError(f"hyperslab reads another value: {error}") from None
    _compared += 1


def pytest_configure():
    """Compares every read of a store."""
    # pandas looks for the first frame outside its own folder to say where a warning is from.
    place = Path(pd.__file__).parent / "io" / "beside.py"
    names = {"compare": compare, "pytables": pandas.io.pytables}
    exec(compile(WRAPPERS, str(place), "exec"), names)


WRAPPERS = """
def wrap_select(get_result):
    def wrapped(self, coordinates=False):
        store, key, handle = self.store, self.s.group._v_pathname, self.store._handle
        handle.flush()
        names = self.func.__code__.co_freevars
        closure = dict(zip(names, (cell.cell_contents for cell in self.func.__closure__)))
        columns = closure.get("columns")
        columns = None if columns is None else list(columns)
        result = get_result(self, coordinates)
        if self.chunksize is None and not coordinates:
            compare(store._path, key, result, self.where, self.start, self.stop, columns)
        return result
    return wrapped


def wrap_get(get):
    def wrapped(self, key):
        result = get(self, key)
        self._handle.flush()
        compare(self._path, key, result)
        return result
    return wrapped


pytables.TableIterator.get_result = wrap_select(pytables.TableIterator.get_result)
pytables.HDFStore.get = wrap_get(pytables.HDFStore.get)
"""


def pytest_runtest_logreport(report):
    """Records the worst outcome of the three phases of a test, with the first line of its message."""
    name = report.nodeid.removeprefix("pytables/")
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    said = ""
    if report.failed and hasattr(report.longrepr, "reprcrash") and report.longrepr.reprcrash:
        said = " ".join(report.longrepr.reprcrash.message.split())[:300]
    if _WORSE[outcome] >= _WORSE[_outcomes.get(name, ["passed"])[0]]:
        _outcomes[name] = [outcome, said]


def pytest_sessionfinish():
    """Writes the outcomes and the number of reads compared."""
    found = {"tests": _outcomes, "compared": _compared}
    Path(os.environ["PANDAS_OWN_OUTCOMES"]).write_text(json.dumps(found))
