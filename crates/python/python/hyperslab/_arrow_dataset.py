"""Rows of tables as datasets of pyarrow, which DuckDB and polars ask for single columns and rows.

pyarrow is imported when this module is first used.
"""

import os
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.dataset
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from ._arrow_filter import condition_of

if TYPE_CHECKING:
    from ._arrow import Query

#: The name of a file that cannot exist. pyarrow quotes it when it reads the dataset without the methods here.
_NO_FILE = "the rows of an HDF5 table, which only methods of this dataset read (to_table, to_batches, scanner)"


class RowsDataset(pyarrow.dataset.FileSystemDataset):  # type: ignore[misc]
    """The rows of a query. Reading decodes the columns that are asked for, and those of the filter."""

    def __init__(self, query: "Query") -> None:
        self._query = query._with_wide_halves()
        # DuckDB takes only an instance of pyarrow's class. Parts of pyarrow use the C++ dataset in such an
        # instance, and crash if there is none. The C++ dataset here has one file, which cannot be opened. A
        # file system in Python could open it, but pyarrow's threads would still call it when the interpreter
        # ends, and then the process hangs.
        system, form = SubTreeFileSystem(os.devnull, LocalFileSystem()), pyarrow.dataset.IpcFileFormat()
        super().__init__([form.make_fragment(_NO_FILE, system)], pyarrow.schema(self._query), form, system)

    def scanner(
        self, columns: Any = None, filter: Any = None, batch_size: int | None = None, **options: Any
    ) -> "pyarrow.dataset.Scanner":
        """Returns a scanner of the rows.

        Args:
            columns: The names of columns, or a dict of names and expressions. None takes all.
            filter: An expression. Its rows are searched by the table where the table can express it.
            batch_size: The largest number of rows of a batch.
            options: Options of pyarrow that concern its own files.
        """
        schema = self.schema
        filter = self._scanner_options({"filter": filter})["filter"]
        rows = self._query._narrowed(
            self._needed(schema, columns, filter), None if filter is None else condition_of(filter, schema)
        )
        batches = rows.to_batches(batch_size)
        kwds = {"columns": columns, "filter": filter}
        if batch_size is not None:
            kwds["batch_size"] = batch_size
        if "use_threads" in options:
            kwds["use_threads"] = options["use_threads"]
        return pyarrow.dataset.Scanner.from_batches(batches, **kwds)

    def filter(self, expression: Any) -> "RowsDataset":
        """Returns the dataset of the rows for which an expression is true."""
        # The method of pyarrow makes an object of this class without `__init__`.
        filtered: RowsDataset = super().filter(expression)
        filtered._query = self._query
        return filtered

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        """Returns the sorted rows, in memory."""
        return _in_memory(self).sort_by(sorting, **options)

    def join(self, right_dataset: Any, *args: Any, **kwds: Any) -> Any:
        """Returns the rows joined with those of another dataset, in memory."""
        return _in_memory(self).join(_in_memory(right_dataset), *args, **kwds)

    def join_asof(self, right_dataset: Any, *args: Any, **kwds: Any) -> Any:
        """Returns the rows joined with those of another dataset that have the nearest key, in memory."""
        return _in_memory(self).join_asof(_in_memory(right_dataset), *args, **kwds)

    def _needed(self, schema: "pyarrow.Schema", columns: Any, filter: Any) -> "list[str] | None":
        """The columns that a scan needs, or more: pyarrow does not tell the columns of an expression, but its
        text has their names.
        """
        if columns is None:
            return None
        texts = [] if filter is None else [str(filter)]
        wanted = set() if isinstance(columns, dict) else set(columns)
        if isinstance(columns, dict):
            texts += [str(expression) for expression in columns.values()]
        return [name for name in schema.names if name in wanted or any(name in text for text in texts)]

    def __reduce__(self) -> Any:
        raise TypeError("a dataset of a table cannot be pickled: open the file in the other process")

    def _refuse(self, *args: Any, **kwds: Any) -> Any:
        raise NotImplementedError("a dataset of a table has no files: use scanner, to_batches or to_table")

    get_fragments = replace_schema = _refuse

    @property
    def files(self) -> Any:
        return self._refuse()


def _in_memory(dataset: Any) -> Any:
    """Returns the rows of a dataset of a table as a dataset that pyarrow reads in C++."""
    return pyarrow.dataset.InMemoryDataset(dataset.to_table()) if isinstance(dataset, RowsDataset) else dataset
