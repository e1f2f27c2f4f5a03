"""The command ``hyperslab sql``: statements of SQL on the tables of a file, by DuckDB."""

import re
from typing import Any

from ._native import Dataset, File
from ._table import Table

#: The error of DuckDB for a table that it does not know.
_MISSING = re.compile(r"^Catalog Error: Table with name (.*) does not exist!", re.DOTALL)


def run(path: str, statement: str) -> Any:
    """Returns the result of a statement, as an object with `__arrow_c_stream__`.

    Args:
        path: The path of the file.
        statement: One statement, with the tables of the file under the last parts of their paths, or under
            their whole paths in quotes.

    Raises:
        ImportError: DuckDB is not installed.
        ValueError: Two tables have the name that the statement uses, or the statement has no rows.
    """
    try:
        import duckdb
    except ImportError as cause:
        raise ImportError("`hyperslab sql` needs DuckDB: install it with `pip install duckdb`") from cause
    connection = duckdb.connect()
    # Without this, the names of variables here are tables.
    connection.execute("set python_enable_replacements = false")
    file, result = File(path, "r"), None
    for part in connection.extract_statements(statement):
        result = _result(connection, file, part)
    if result is None:
        raise ValueError("the statement has no result: the tables of a file can only be read")
    return result


def _result(connection: Any, file: File, statement: Any) -> Any:
    """Runs one statement. The tables are those that DuckDB does not find."""
    import duckdb

    given: set[str] = set()
    while True:
        try:
            return connection.sql(statement)
        except duckdb.CatalogException as error:
            missing = _MISSING.search(str(error))
            if missing is None or missing[1] in given:
                raise
            if (table := _named(file, missing[1])) is None:
                raise
            given.add(missing[1])
            connection.register(missing[1], _source(table))


def _source(table: Table) -> Any:
    """The table as DuckDB reads it: only the columns that the statement needs, if pyarrow is there."""
    try:
        return table.to_pyarrow_dataset()
    except ImportError:
        return table


def _named(file: File, name: str) -> Table | None:
    """Returns the table with a name or a path, whose case DuckDB ignores. Returns None if there is none.

    Raises:
        ValueError: Several tables have the name.
    """
    wanted, found = name.casefold(), {}
    for path in _paths(file):
        # A name without "/" may be that of a table in any group.
        names = (path, path[1:]) if "/" in name else (path.rsplit("/", 1)[-1],)
        if wanted in (known.casefold() for known in names) and (table := _table(file, path)) is not None:
            found[path] = table
    if len(found) > 1:
        listed = ", ".join(f'"{path}"' for path in sorted(found))
        raise ValueError(f"{name} is the name of {len(found)} tables: write one of {listed}")
    return next(iter(found.values()), None)


def _paths(file: File) -> "list[str]":
    """The paths of everything in a file, by its links: no object but groups is opened."""
    paths: list[str] = []
    file.visit_links(lambda name: paths.append("/" + name))
    return paths


def _table(file: File, path: str) -> Table | None:
    """The table at a path, or None if the object there has no columns."""
    try:
        found = file[path]
    except (KeyError, OSError):
        return None
    if not isinstance(found, Dataset):
        return None
    if found.dtype.names is None or found.ndim != 1:
        return None
    return found if isinstance(found, Table) else Table(found.id)
