"""Tables as Dask DataFrames."""

import os
import uuid
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd

from .._native import Dataset, File
from .._pickle import file_version
from .._table import Table
from ..pandas._candidates import candidates
from ..pandas._plain import plain_columns, plain_frame
from ..pandas._where import Condition


def read_table(
    path: "str | os.PathLike[str]",
    name: str,
    columns: "list[str] | None" = None,
    where: str | None = None,
    *,
    partition_bytes: int = 64 << 20,
) -> Any:
    """Returns a table as a Dask DataFrame, which reads rows when they are needed.

    A partition is a run of whole chunks. Each task opens the file by its path, and reads and filters the rows
    of its partition. So tasks run in other processes, and on other machines that see the file. The columns of
    a nested column are named by their paths, such as "position/x". A column whose values are arrays has a
    column for each element: "velocity/0". Strings are decoded as UTF-8.

    The index is the number of the row in the table, and the divisions are those of the partitions.

    Args:
        path: The path of the file.
        name: The path of the table in the file: a table of PyTables, or any dataset of records.
        columns: The names of the columns to read. The default is all columns.
        where: The rows to read: a condition on columns and `index` in the syntax of `hs.pandas.read_hdf`.
            Names of the caller are not known in the tasks, so it has only constants.
        partition_bytes: The bytes of rows in a partition, about. It has at least one chunk.

    Raises:
        KeyError: The file has no object of this name.
        TypeError: The object is not a dataset of records with one axis.
        ValueError: A column is unknown, or the condition is not valid.

    Example:
        >>> frame = hs.dask.read_table("climate.h5", "stations", columns=["id", "lat"], where="lat > 47")
        >>> frame.compute()
           id   lat
        1   2  47.4
    """
    path = os.path.abspath(os.fspath(path))
    version: Any = file_version(path)
    with File(path, "r") as file:
        table = file[name]
        if not isinstance(table, Dataset) or table.dtype.names is None or table.ndim != 1:
            raise TypeError(f"{name!r} is not a table: it is not a dataset of records with one axis")
        if version is None or table.is_virtual or table.external:
            # The elements are in other files.
            version = uuid.uuid4().hex
        dtype, rows = table.dtype, len(table)
        chunk = table.chunks[0] if table.chunks else 1
    known = plain_columns(dtype)
    unknown = [column for column in columns or () if column not in known]
    if unknown:
        raise ValueError(f"{name!r} has no column {unknown[0]!r}: it has {', '.join(known)}")
    if where is not None:
        Condition(where, ["index", *known], {})
    wanted = list(known) if columns is None else list(columns)
    step = max(1, partition_bytes // max(1, dtype.itemsize * chunk)) * chunk
    starts = list(range(0, rows, step)) or [0]
    task = _Task(path, name, wanted, where, version)
    meta = plain_frame(np.empty(0, dtype), wanted, pd.RangeIndex(0))
    divisions = [*starts, max(rows - 1, 0)]
    return dask.dataframe.from_map(
        task,
        [(start, min(start + step, rows)) for start in starts],
        meta=meta,
        divisions=divisions,
        label="hyperslab-table",
        enforce_metadata=False,
    )


class _Task:
    """Reads the rows of a partition. Instances are pickled.

    Dask names the frame by what an instance holds. `version` gives another name to a file that was changed.
    """

    def __init__(self, path: str, name: str, columns: "list[str]", where: str | None, version: Any) -> None:
        self.path, self.name, self.columns, self.where, self.version = path, name, columns, where, version

    def __call__(self, rows: "tuple[int, int]") -> pd.DataFrame:
        start, stop = rows
        with File(self.path, "r") as file:
            table = file[self.name]
            index = pd.RangeIndex(start, stop)
            known = plain_columns(table.dtype)
            condition = None if self.where is None else Condition(self.where, ["index", *known], {})
            used = [] if condition is None else [column for column in condition.used if column != "index"]
            numbers = None
            if condition is not None and condition.rows is not None:
                numbers = self._candidates(table, condition, known, used, start, stop)
            selected: Any = slice(start, stop) if numbers is None else numbers
            index = index if numbers is None else pd.Index(numbers)
            needed = list(dict.fromkeys(known[column] for column in [*self.columns, *used]))
            # The columns of the file that the partition needs, and no others.
            records = table.fields(needed)[selected] if needed else np.empty(len(index), table.dtype)
        if condition is None or condition.rows is None:
            return plain_frame(records, self.columns, index)
        mask = condition.mask(_values(records, used, index))
        return plain_frame(records[mask], self.columns, index[mask])

    def _candidates(
        self, table: Dataset, condition: Condition, known: "dict[str, str]", used: "list[str]", start: int, stop: int
    ) -> "np.ndarray[Any, Any] | None":
        """Returns the rows that may meet the condition; see `candidates`."""
        made = table if isinstance(table, Table) else Table(table.id)
        samples = _values(np.empty(0, table.dtype), used, pd.RangeIndex(0))
        # Also an error in the condition, whether or not a row may meet it.
        condition.mask(samples)
        paths = {name: name for name in used if name in made.colpathnames and made.coldtypes[name].kind in "iufS"}
        return candidates(made, condition, paths, samples, start, stop)


def _values(records: "np.ndarray[Any, Any]", used: "list[str]", index: pd.Index) -> "dict[str, Any]":
    """Returns the columns that a condition uses, and the index."""
    values = plain_frame(records, used, index)
    return {"index": index, **{column: values[column] for column in used}}
