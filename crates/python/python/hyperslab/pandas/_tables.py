"""pandas' table format, to be read: one table with a field for the index and fields for blocks of columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._native import Dataset, Group
from .._table import Table
from ._attributes import attribute
from ._candidates import candidates
from ._indexes import StoredIndex, categorical, kind_of, restore_index
from ._installed import text_dtype
from ._strings import decoded
from ._where import Condition

_Array = np.ndarray[Any, Any]
_TABLE_TYPES = ("generic_table",) + tuple(
    f"appendable_{levels}{kind}" for levels in ("", "multi") for kind in ("frame", "series")
)
# The bytes of rows that are read at a time while a condition is evaluated.
_BLOCK_BYTES = 64 << 20


@dataclass
class Field:
    """A field of the table: the index, or columns of the same dtype."""

    name: str
    kind: str | None
    dtype: str | None
    items: "list[Any]"
    """The labels of the columns. Empty for the index."""
    meta: str | None
    nan_rep: str | None
    categories: Any
    facts: "dict[str, Any]"
    """What pandas stores as `info` of the field: name, frequency, time zone, order of categories."""


class TableReader:
    """Reads frames and series that were stored in the table format, and plain tables of PyTables.

    Args:
        group: The group of the object, or the table itself if pandas did not write it.

    Raises:
        ValueError: Attributes of the table are missing or damaged.
        NotImplementedError: The table is stored with its columns as rows, or has nested fields.
    """

    def __init__(self, group: "Group | Dataset") -> None:
        table = group if isinstance(group, Dataset) else group.get("table")
        if not isinstance(table, Dataset) or table.dtype.names is None or table.ndim != 1:
            raise ValueError(f"{group.name} is incomplete: it has no table")
        self.group, self.table = group, table
        self.table_type = attribute(group, "table_type", "generic_table")
        if self.table_type not in _TABLE_TYPES:
            raise ValueError(f"{group.name}: attribute table_type is {self.table_type!r}, which is no table of pandas")
        self.is_generic = isinstance(group, Dataset) or self.table_type == "generic_table"
        self.encoding = self._said("encoding") or "UTF-8"
        self.errors = self._said("errors") or "strict"
        self.info: dict[Any, Any] = self._said("info", dict) or {}
        levels = self._said("levels", list | int)
        if isinstance(levels, int) and levels != 1:
            raise ValueError(f"{group.name}: attribute levels is {levels}, not 1 or a list of names")
        self.levels: list[Any] = levels if isinstance(levels, list) else []
        self.data_columns: list[Any] = self._said("data_columns", list) or []
        self.non_index: list[Any] = self._said("non_index_axes", list) or []
        if self.is_generic:
            self.index: Field | None = None
            self.values = [self._plain(name) for name in table.dtype.names]
            self.data_columns = [field.name for field in self.values]
        else:
            axes = self._said("index_cols", list)
            if not axes or not _is_axis(axes[0], str) or not all(_is_axis(axis, list) for axis in self.non_index):
                raise ValueError(f"{group.name}: the attributes index_cols and non_index_axes are missing or damaged")
            if axes[0][0] != 0:
                raise NotImplementedError(f"{group.name} is a table whose rows are columns of the frame")
            self.index = self._field(axes[0][1], is_index=True)
            self.values = [self._field(name) for name in self._said("values_cols", list) or []]
        missing = [field.name for field in self._fields() if field.name not in table.dtype.names]
        if missing:
            raise ValueError(f"{table.name} has no field {missing[0]!r}, which its attributes name")

    def _said(self, name: str, kind: Any = str) -> Any:
        """Returns an attribute of the group, or None if pandas wrote none."""
        found = None if self.is_generic else attribute(self.group, name)
        if found is not None and not isinstance(found, kind):
            raise ValueError(f"{self.group.name}: attribute {name} is {found!r}, which is not what pandas stores")
        return found

    def _fields(self) -> "list[Field]":
        return ([] if self.index is None else [self.index]) + self.values

    def _field(self, name: str, is_index: bool = False) -> Field:
        table = self.table
        kind, dtype = attribute(table, f"{name}_kind"), attribute(table, f"{name}_dtype")
        categories = self._categories(name)
        meta = attribute(table, f"{name}_meta")
        if is_index:
            nan_rep = attribute(table, f"{name}_nan_rep", "nan") or None if kind == "string" else None
            meta = "category" if meta is None and categories is not None else meta
            items: list[Any] = []
        else:
            if not isinstance(kind, list) or dtype is None:
                raise ValueError(f"{table.name}: the attributes {name}_kind and {name}_dtype are missing or damaged")
            items, kind = kind, kind_of(dtype)
            has_own = attribute(self.group, "data_col_nan_rep", False)
            has_own = has_own or (name in self.levels and attribute(self.group, "mi_level_nan_rep", False))
            common = attribute(self.group, "nan_rep")
            nan_rep = attribute(table, f"{name}_nan_rep") if has_own else common if common is not None else "nan"
        facts = self.info.get(name) or {}
        return Field(name, kind, dtype, items, meta, nan_rep, categories, facts)

    def _plain(self, name: str) -> Field:
        """Returns a field of a table that PyTables wrote without pandas."""
        dtype = self.table.dtype[name]
        if dtype.names is not None or dtype.subdtype is not None:
            raise NotImplementedError(f"field {name!r} of {self.table.name} has parts: read it with Dataset.fields")
        return Field(name, kind_of(dtype), dtype.name, [name], None, "nan", None, {})

    def _categories(self, name: str) -> Any:
        found = self.group.get(f"meta/{name}/meta") if isinstance(self.group, Group) else None
        return None if found is None else TableReader(found).series(slice(None), None, None, {}).array

    def frame(self, rows: slice, where: Any, columns: Any, scope: Mapping[str, Any]) -> pd.DataFrame:
        """Returns the frame, or the rows and columns of it that are selected.

        Args:
            rows: The rows.
            where: A condition, a list of conditions, row numbers or a mask of rows. None selects every row.
            columns: The labels of columns. None selects every column.
            scope: The names that a condition may use.
        """
        records, condition = self._records(rows, where, scope)
        frame = self._of(records)
        # pandas orders columns as they were in the frame, not as they are in fields.
        order = frame.columns
        if self.non_index:
            order = self._labels(self.non_index[0][1])
            frame = frame.loc[:, order.unique()] if not order.equals(frame.columns) else frame
        if columns is not None and not pd.Index(columns).equals(frame.columns):
            wanted = [*(level for level in reversed(self.levels) if level not in list(columns)), *columns]
            # Labels that the frame does not have are left out, as pandas does.
            order = pd.Index(wanted).unique().intersection(order.unique(), sort=False)
            frame = frame.loc[:, order]
        if condition is not None and condition.selected is not None:
            condition.selected.labels += self.levels if not condition.selected.is_excluded else []
            frame = frame.loc[:, condition.selected.of(frame.columns)]
        if self.levels and self.table_type == "appendable_multiframe":
            frame = frame.set_index(self.levels)
            frame.index.names = [None if _is_default(name) else name for name in frame.index.names]
        return frame

    def series(self, rows: slice, where: Any, columns: Any, scope: Mapping[str, Any]) -> pd.Series:
        """Returns the series, or the rows of it that are selected."""
        frame = self.frame(rows, where, columns, scope)
        if self.levels:
            frame = frame.set_index(self.levels)
        series = frame.iloc[:, 0]
        return series.rename(None) if series.name == "values" else series

    def _labels(self, labels: Any) -> pd.Index:
        facts = self.info.get(1) or {}
        if facts.get("type") == "MultiIndex":
            found: pd.Index = pd.MultiIndex.from_tuples(labels)
        else:
            found = pd.Index(labels)
        if facts.get("names") is not None:
            found = found.set_names(facts["names"])
        return found

    def _of(self, records: _Array) -> pd.DataFrame:
        index = pd.RangeIndex(len(records)) if self.index is None else self._index(records[self.index.name])
        frames = []
        for field in self.values:
            values = self._column(field, records[field.name])
            if isinstance(values, np.ndarray) and values.ndim == 1:
                values = values.reshape(-1, 1)
            labels = self._labels(field.items)
            if isinstance(values, np.ndarray) or getattr(values, "ndim", 1) == 2:
                found = pd.DataFrame(values, columns=labels, index=index, copy=False)
            else:
                found = pd.DataFrame({0: values}, index=index)
                found.columns = labels
            for place, label in enumerate(labels):
                meta = attribute(self.table, f"{label}_meta") if isinstance(label, str) else None
                if meta in ("str", "string"):
                    found = found.astype({found.columns[place]: text_dtype() if meta == "str" else meta})
            frames.append(found)
        if not frames:
            return pd.DataFrame(index=index)
        return frames[0] if len(frames) == 1 else pd.concat(frames, axis=1)

    def _index(self, values: _Array) -> pd.Index:
        field = self.index
        assert field is not None
        facts = field.facts
        stored = StoredIndex(
            values, field.kind or "", facts.get("index_name"), facts.get("freq"), facts.get("tz"), field.nan_rep
        )
        if field.meta == "category":
            stored.ordered = facts.get("ordered")
            stored.categories = pd.Index([], dtype="f8") if field.categories is None else pd.Index(field.categories)
        return restore_index(stored, self.encoding, self.errors)

    def _column(self, field: Field, values: _Array) -> Any:
        """Returns the columns of a field as pandas has them: rows first."""
        dtype = field.dtype or values.dtype.name
        if field.meta == "category":
            return categorical(values, field.categories, bool(field.facts.get("ordered")))
        if dtype.startswith("datetime64"):
            dates = np.ascontiguousarray(values, dtype="i8").view("M8[ns]" if dtype == "datetime64" else dtype)
            tz = field.facts.get("tz")
            if tz is None:
                return dates
            return pd.DatetimeIndex(dates.ravel()).tz_localize("UTC").tz_convert(tz).array.reshape(dates.shape)
        if dtype.startswith("timedelta64"):
            return np.ascontiguousarray(values, dtype="i8").view("m8[ns]" if dtype == "timedelta64" else dtype)
        if dtype.startswith("period"):
            ordinals = np.ascontiguousarray(values, dtype="i8").ravel()
            return pd.PeriodIndex.from_ordinals(ordinals, freq=pd.PeriodDtype(dtype[7:-1]).freq).array
        if field.kind == "string":
            return decoded(values, field.nan_rep, self.encoding, self.errors)
        return np.ascontiguousarray(values).astype(dtype, copy=False)

    def _records(self, rows: slice, where: Any, scope: Mapping[str, Any]) -> "tuple[_Array, Condition | None]":
        """Returns the rows that are selected, as they are stored."""
        first, last, _ = rows.indices(len(self.table))
        last = max(first, last)
        if where is None:
            return self.table[first:last], None
        if not isinstance(where, str) and not all(isinstance(part, str) for part in where):
            return self._numbered(np.asarray(where), first, last), None
        names = ["index"] if self.index is None else [self.index.name]
        names += [name for name in self.data_columns if isinstance(name, str)]
        condition = Condition(where, names, scope)
        if condition.rows is None:
            return self.table[first:last], condition
        table = self.table if isinstance(self.table, Table) else Table(self.table.id)
        samples = self._used(condition.used, range(first, first))
        # Also an error in the condition, whether or not a row may meet it.
        condition.mask(samples)
        paths = {name: name for name in condition.used if self._is_plain(name)}
        numbers = candidates(table, condition, paths, samples, first, last)
        found = [
            self.table[_selection(rows)][mask]
            for rows in self._blocks(first, last, numbers)
            if (mask := condition.mask(self._used(condition.used, rows))).any()
        ]
        return np.concatenate(found) if found else self.table[first:first], condition

    def _is_plain(self, name: str) -> bool:
        """Whether the stored values of a column of a condition can be compared in place of the shown ones."""
        if self.index is None and name == "index":
            return False
        is_index = self.index is not None and name == self.index.name
        field = self.index if is_index else next(field for field in self.values if field.items == [name])
        if field is None or field.meta == "category":
            return False
        is_utf8 = self.encoding.lower() in ("utf-8", "utf8") and self.errors == "strict"
        return is_utf8 if field.kind == "string" else field.meta is None

    def _blocks(self, first: int, last: int, numbers: "_Array | None") -> "Iterator[range | _Array]":
        """Yields the rows from `first` to `last` in blocks of whole chunks, or rows with these numbers."""
        row = self.table.dtype.itemsize
        if numbers is not None:
            length = max(1, _BLOCK_BYTES // row)
            yield from (numbers[at : at + length] for at in range(0, len(numbers), length))
            return
        chunk = self.table.chunks[0] if self.table.chunks else 1
        step = max(1, _BLOCK_BYTES // (row * chunk)) * chunk
        start = first
        while start < last:
            stop = min(last, (start // step + 1) * step)
            yield range(start, stop)
            start = stop

    def _used(self, names: "list[str]", rows: "range | _Array") -> "dict[str, Any]":
        """Returns columns that a condition uses, of some rows, as pandas has them."""
        found: dict[str, Any] = {}
        for name in names:
            if self.index is None and name == "index":
                found[name] = pd.Index(rows)
                continue
            values = self.table.fields(name)[_selection(rows)]
            if self.index is not None and name == self.index.name:
                found[name] = self._index(values)
                continue
            field = next(field for field in self.values if field.items == [name])
            column = self._column(field, values)
            found[name] = column.ravel() if isinstance(column, np.ndarray) else column
        return found

    def _numbered(self, where: _Array, first: int, last: int) -> _Array:
        if where.size == 0:
            return self.table[first:first]
        if where.dtype == bool:
            if len(where) != last - first:
                raise ValueError(f"where is a mask of {len(where)} rows, and {last - first} rows are selected")
            where = np.flatnonzero(where) + first
        elif where.dtype.kind not in "iu":
            raise TypeError(f"where is a condition, row numbers or a mask of rows, not elements of {where.dtype}")
        wrong = where[(where < first) | (where >= last)]
        if len(wrong):
            raise ValueError(
                "where must have index locations >= start and < stop, "
                f"but got {wrong[:5].tolist()} with start={first} and stop={last}"
            )
        places, back = np.unique(where, return_inverse=True)
        return self.table[places][back]


def _selection(rows: "range | _Array") -> Any:
    return slice(rows.start, rows.stop) if isinstance(rows, range) else rows


def _is_axis(axis: Any, kind: type) -> bool:
    """Whether a part of an attribute is the number of an axis with a name or labels."""
    return isinstance(axis, tuple | list) and len(axis) == 2 and axis[0] in (0, 1) and isinstance(axis[1], kind)


def _is_default(name: Any) -> bool:
    return isinstance(name, str) and name.startswith("level_") and name[6:].isdigit()
