"""`hs.pandas` with each version of pandas: `test_pandas_store.py` again, and files of one version in another.

The versions before that of the tests are in `.venv/pandas-*`; `make` installs them.
"""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from pandas_objects import OBJECTS
from support import IS_H5PY, REPOSITORY, hs

HERE = Path(__file__).parent
OLDER = sorted((REPOSITORY / "requirements").glob("pandas-*.txt"))

pytestmark = [
    pytest.mark.suite,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(IS_H5PY, reason="about hyperslab's pandas"),
]


def run(older, *arguments):
    """Runs Python with an older pandas in place of that of the tests. Returns what it prints."""
    folders = [str(Path(sys.prefix) / older.stem), str(HERE), str(REPOSITORY / "scripts")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run([sys.executable, *arguments], env=environment, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.stem)
def test_an_older_pandas_reads_what_we_write_and_we_read_what_it_writes(older, tmp_path):
    assert f"{run(older, '-c', 'import pandas; print(pandas.__version__)').strip()}" in older.read_text()
    said = run(
        older,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not soak",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tmp_path}",
        "test_pandas_store.py",
    )
    assert int(said.rpartition(" passed")[0].split()[-1]) > 440, said[-2000:]


WRITE = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
from pandas_objects import OBJECTS
done = []
for name, value in OBJECTS.items():
    for form in ("fixed", "table"):
        try:
            value.to_hdf(sys.argv[1], key=f"{form}/{len(done)}", format=form)
        except Exception:
            continue
        done.append((name, f"{form}/{len(done)}"))
pickle.dump(done, open(sys.argv[2], "wb"))
"""
# What an older pandas writes in a way that does not say what it was.
LOST = {
    "missing strings": "table",
    **dict.fromkeys(["an index of strings", "an index with the string nan", "labels with the string nan"], ""),
    "a category that is the string nan": "table",
    "units": "",
    **dict.fromkeys(["seconds", "an index of seconds"], ""),
}


def in_nanoseconds(value):
    """A frame of an object, whose dates and durations have the unit that all versions have."""
    value = value.to_frame("values") if isinstance(value, pd.Series) else value.copy()
    for place, dtype in enumerate(value.dtypes):
        if getattr(dtype, "kind", "") in ("m", "M") and not isinstance(dtype, pd.PeriodDtype):
            value.isetitem(place, value.iloc[:, place].dt.as_unit("ns"))
    if isinstance(value.index, pd.MultiIndex):
        return in_nanoseconds(value.reset_index())
    for axis in ("index", "columns"):
        if isinstance(getattr(value, axis), pd.DatetimeIndex | pd.TimedeltaIndex):
            value = value.set_axis(getattr(value, axis).as_unit("ns"), axis=axis)
    return value


@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.stem)
def test_files_of_an_older_pandas_are_read(older, tmp_path):
    path = tmp_path / "older.h5"
    run(older, "-c", WRITE, path, tmp_path / "done")
    done = pickle.loads((tmp_path / "done").read_bytes())
    assert len(done) > 60
    for name, key in done:
        if key.startswith(LOST.get(name, "none")) or OBJECTS[name].empty:
            continue
        found, expected = in_nanoseconds(hs.pandas.read_hdf(path, key)), in_nanoseconds(OBJECTS[name])
        # pandas 2 has other dtypes of strings, and other units by default.
        loosely = dict.fromkeys(["check_dtype", "check_index_type", "check_column_type", "check_freq"], False)
        pd.testing.assert_frame_equal(found, expected, **loosely)


def test_a_pandas_that_is_too_old_is_refused_by_name():
    from hyperslab.pandas._installed import check_version

    for fine in ("2.2.0", "2.3.3", "3.0.0rc1", "3.1rc1", "3.2.0.dev0+12.g1a2b3c", "4.0.0", "5"):
        check_version(fine)
    for old in ("0.25.3", "1.5.3", "2.1.4", "2", "0+untagged.1.g1a2b3c"):
        with pytest.raises(ImportError, match=re.escape(f"needs pandas 2.2 or later, and pandas {old} is installed")):
            check_version(old)
