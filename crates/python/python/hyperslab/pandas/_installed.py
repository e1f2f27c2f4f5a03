"""What the installed pandas reads of its own files. Older versions read less, or read it as something else.

Objects are written in a form that the installed version reads as equal ones. Those that it would read as
other values are refused.
"""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd

_LEAST = (2, 2)


def _release(version: str) -> "tuple[int, ...]":
    # Versions of a checkout, such as "0+untagged.1.g1a2b3c", have other signs than points.
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def check_version(version: str) -> None:
    """Checks that a version of pandas is one of those that the package is tested with, or newer.

    Raises:
        ImportError: It is older.
    """
    if _release(version) < _LEAST:
        raise ImportError(
            f"hyperslab.pandas needs pandas {'.'.join(map(str, _LEAST))} or later, and pandas {version} is installed: "
            "pip install --upgrade pandas"
        )


check_version(pd.__version__)

LAYOUT = "0.15.2"
"""The version that pandas until 3.0 stores and looks for. Without it, a file is one of before 0.10.1."""
READS_STRINGS = _release(pd.__version__) >= (2, 3)
"""Whether columns may have a dtype of strings."""
READS_UNITS = _release(pd.__version__) >= (3, 0)
"""Whether dates and durations in columns may have other units than nanoseconds."""
READS_MARKS = _release(pd.__version__) >= (3, 1)
"""Whether each field of a table may have its own string in place of missing ones, and the index too.

So does the rest of what pandas 3.1 began to store: periods in columns, categories and durations in the index.
"""


def text_dtype() -> Any:
    """Returns the dtype that this pandas gives to strings: objects before pandas 3, if no option is set."""
    return pd.Series(["a"]).dtype


def fitted(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame with the columns that this pandas reads back with their values.

    Dates and durations of another unit become nanoseconds for a pandas that takes all for nanoseconds
    (UserWarning).

    Raises:
        TypeError: A column has a dtype that this pandas does not read.
        ValueError: A date is out of the range of nanoseconds.
    """
    for label, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if isinstance(dtype, pd.PeriodDtype) and not READS_MARKS:
            raise TypeError(
                f"column {label!r} has periods, and pandas {pd.__version__} does not read them from columns: "
                "store dates (`.dt.to_timestamp()`), or make them the index"
            )
        if isinstance(dtype, pd.StringDtype) and not READS_STRINGS:
            raise TypeError(
                f"column {label!r} has the dtype {dtype}, and pandas {pd.__version__} does not read it: "
                "store objects (`.astype(object)`)"
            )
    if READS_UNITS:
        return frame
    places = [place for place, dtype in enumerate(frame.dtypes) if _unit(dtype) not in (None, "ns")]
    if not places:
        return frame
    columns = {place: frame.iloc[:, place].astype(_nanoseconds(frame.dtypes.iloc[place])) for place in places}
    _warn_of_units(", ".join(str(frame.columns[place]) for place in places))
    made = pd.concat([columns.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])], axis=1)
    made.columns = frame.columns
    return made


def fitted_index(index: pd.Index) -> pd.Index:
    """Returns an index of durations in a unit that this pandas reads. Other indexes stay."""
    if READS_UNITS or not isinstance(index, pd.TimedeltaIndex) or index.unit == "ns":
        return index
    _warn_of_units("the index")
    return index.as_unit("ns")


def check_index(index: pd.Index, is_table: bool) -> None:
    """Checks that this pandas reads an index as an equal one.

    Raises:
        TypeError: It would read numbers in place of categories or durations.
    """
    if READS_MARKS:
        return
    kind = "categories" if isinstance(index, pd.CategoricalIndex) else None
    if is_table and isinstance(index, pd.TimedeltaIndex):
        kind = "durations"
    if kind is not None:
        raise TypeError(
            f"pandas {pd.__version__} does not read {kind} from an index{' of a table' if is_table else ''}: "
            "make them a column (`reset_index()`)"
        )


def has_false_mark(values: "np.ndarray[Any, Any]") -> bool:
    """Whether this pandas would read a string of an index as a missing value: it looks for "nan" there."""
    return not READS_MARKS and bool((values == "nan").any())


def word_of(dtype: str) -> str:
    """Returns the word for a dtype of durations that all versions read: nanoseconds have no unit."""
    return "timedelta64" if dtype == "timedelta64[ns]" else dtype


def _unit(dtype: Any) -> str | None:
    if isinstance(dtype, pd.DatetimeTZDtype):
        return dtype.unit
    return str(np.datetime_data(dtype)[0]) if isinstance(dtype, np.dtype) and dtype.kind in "mM" else None


def _nanoseconds(dtype: Any) -> Any:
    return pd.DatetimeTZDtype("ns", dtype.tz) if isinstance(dtype, pd.DatetimeTZDtype) else f"{dtype.kind}8[ns]"


def _warn_of_units(what: str) -> None:
    warnings.warn(
        f"{what}: stored in nanoseconds, since pandas {pd.__version__} takes all dates and durations in a file for "
        "nanoseconds",
        stacklevel=5,
    )
