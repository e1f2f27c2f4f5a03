"""Rows of tables as datasets of pyarrow, which DuckDB and polars ask for single columns and rows.

pyarrow is imported when this module is first used.
"""

from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.dataset

from ._arrow_filter import condition_of

if TYPE_CHECKING:
    from ._arrow import Query


class RowsDataset(pyarrow.dataset.Dataset):  # type: ignore[misc]
    """The rows of a query. Reading decodes the columns that are asked for, and those of the filter."""

    def __init__(self, query: "Query") -> None:
        # The class of pyarrow holds a dataset of its own, and this one has none: every method is replaced
        # here, or calls `scanner`.
        self._query = query._with_wide_halves()

    @property
    def schema(self) -> "pyarrow.Schema":
        """The schema of the rows."""
        return pyarrow.schema(self._query)

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
        raise NotImplementedError("a dataset of a table has no fragments: use scanner, to_batches or to_table")

    get_fragments = replace_schema = filter = _get_fragments = _scanner_options = _scan_options = _refuse
    partition_expression = property(_refuse)
