"""The command ``hyperslab sql``: statements of SQL on the tables of a file, by DuckDB."""

import re
from typing import Any

from ._native import Dataset, File
from ._table import Table


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
    file = File(path, "r")
    for name, table in _named(file, statement).items():
        connection.register(name, _source(table))
    result = connection.sql(statement)
    if result is None:
        raise ValueError("the statement has no result: the tables of a file can only be read")
    return result


def _source(table: Table) -> Any:
    """The table as DuckDB reads it: only the columns that the statement needs, if pyarrow is there."""
    try:
        return table.to_pyarrow_dataset()
    except ImportError:
        return table


def _named(file: File, statement: str) -> "dict[str, Table]":
    """Returns the tables that a statement names."""
    rest = statement
    found: dict[str, Table] = {}
    # The longest first: a path may be the end of another one.
    paths = sorted(_paths(file), key=len, reverse=True)
    for path in paths:
        for quoted in (f'"{path}"', f'"{path[1:]}"') if path.count("/") > 1 else (f'"{path}"',):
            if quoted in rest and (table := _table(file, path)) is not None:
                rest = rest.replace(quoted, " ")
                found[quoted[1:-1]] = table
    for name in {path.rsplit("/", 1)[-1] for path in paths}:
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rest, re.IGNORECASE):
            continue
        places = [path for path in paths if path.rsplit("/", 1)[-1] == name]
        tables = {path: table for path in places if (table := _table(file, path)) is not None}
        if len(tables) > 1:
            listed = ", ".join(f'"{path}"' for path in sorted(tables))
            raise ValueError(f"{name} is the name of {len(tables)} tables: write one of {listed}")
        found.update((name, table) for table in tables.values())
    return found


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
