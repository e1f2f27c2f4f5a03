"""Dask: datasets as arrays, arrays as files, tables as DataFrames.

Dask is imported when this module is first used, and pandas when `read_table` is.
"""

from typing import TYPE_CHECKING, Any

from .._optional import needed_by

with needed_by("hyperslab.dask"):
    from ._arrays import from_dataset
    from ._consolidate import consolidate
    from ._store import store

if TYPE_CHECKING:
    from ._tables import read_table as read_table

__all__ = ["consolidate", "from_dataset", "read_table", "store"]


def __getattr__(name: str) -> Any:
    if name == "read_table":
        with needed_by("hyperslab.dask.read_table"):
            from ._tables import read_table

        return read_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
