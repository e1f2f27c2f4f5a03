"""The command ``hyperslab sql``: statements of SQL on the tables of a file, by DuckDB."""

import re
from typing import Any

from ._native import Dataset, File
from ._optional import needed_by
from ._table import Table

#: The error of DuckDB for a table that it does not know.
_MISSING = re.compile(r"^Catalog Error: Table with name (.*) does not exist!", re.DOTALL)
#: Statements that change nothing but the connection, by the names of DuckDB's types.
_READS = {"SELECT", "PRAGMA", "SET", "VARIABLE_SET"}
#: Statements that DuckDB gives no type of their own: what is created lives in memory, or there are rows only.
_IN_MEMORY = re.compile(r"create\s+(or\s+replace\s+)?temp(orary)?\s|(pivot|unpivot|from|select|with)\b", re.IGNORECASE)
#: Settings with which DuckDB writes files.
_FILES = re.compile(r"\b(log_query_path|profile_output|profiling_output)\b", re.IGNORECASE)
#: `EXPLAIN ANALYZE` runs the statement behind it.
_EXPLAIN = re.compile(r"explain\s+(analyze\b\s*)?(\([^)]*\)\s*)?", re.IGNORECASE)


def run(path: str, statement: str) -> Any:
    """Returns the result of a statement, as an object with `__arrow_c_stream__`.

    Args:
        path: The path of the file.
        statement: One statement, with the tables of the file under the last parts of their paths, or under
            their whole paths in quotes.

    Raises:
        ImportError: DuckDB is not installed.
        ValueError: Two tables have the name that the statement uses, the statement would change or write
            something, or it has no rows. Nothing has run if one of several statements is refused.
    """
    with needed_by("`hyperslab sql`"):
        import duckdb
    connection = duckdb.connect()
    # Without this, the names of variables here are tables.
    connection.execute("set python_enable_replacements = false")
    parts = connection.extract_statements(statement)
    for part in parts:
        _check(connection, part)
    file, result = File(path, "r"), None
    for part in parts:
        result = _result(connection, file, part)
    if result is None or parts[-1].type.name in {"CREATE", "SET", "VARIABLE_SET"}:
        raise ValueError("the last statement has no rows: end with a query, such as `select * from ...`")
    return result


def _check(connection: Any, statement: Any) -> None:
    """Raises `ValueError` if a statement would change the file, or write another one."""
    kind, text = statement.type.name, statement.query.strip()
    setting = _FILES.search(text) if kind in {"SET", "VARIABLE_SET", "PRAGMA"} else None
    if not setting and (kind in _READS or (kind in {"CREATE", "MULTI"} and _IN_MEMORY.match(text))):
        return
    if kind == "EXPLAIN" and (found := _EXPLAIN.match(text)):
        for part in connection.extract_statements(text[found.end() :]):
            _check(connection, part)
        return
    word = setting[0] if setting else text.split(None, 1)[0].rstrip(";").upper() if text else kind
    raise ValueError(
        f"{word} is refused: `hyperslab sql` reads the tables of a file and writes nothing. Keep rows with "
        "`-o FILE` after a query; an intermediate result is a `create temp table` before it"
    )


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
