"""pandas' table format, to be written: frames become records, one field for each block of columns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .._native import Group
from .._table import Table
from ._attributes import attribute, set_attribute
from ._indexes import kind_of, store_index, zone_of
from ._installed import LAYOUT, READS_MARKS, fitted, word_of
from ._strings import decoded, encoded, filled, sentinel
from ._tables import Field, TableReader

_Array = np.ndarray[Any, Any]


@dataclass
class Column:
    """A field of the table with its elements."""

    name: str
    values: _Array
    """The elements: a row for each record, and an axis for the labels unless it is a data column."""
    kind: str
    dtype: str | None = None
    items: "list[Any] | None" = None
    meta: str | None = None
    nan_rep: str | None = None
    categories: pd.Index | None = None
    facts: "dict[str, Any]" = field(default_factory=dict)


class TableWriter:
    """Stores a frame or a series in the table format, or appends to a stored one.

    Args:
        group: The group of the object.
        encoding: The encoding of strings.
        errors: What to do with strings that cannot be encoded.
        filters: The filters, as keywords of `Group.create_dataset`.
        nan_rep: The string in place of missing strings. None chooses one that no value equals.
        min_itemsize: The least bytes of string columns: of all, or by name.
        data_columns: The labels of columns that become fields of their own, or True for all.
    """

    def __init__(
        self,
        group: Group,
        encoding: str = "UTF-8",
        errors: str = "strict",
        filters: "dict[str, Any] | None" = None,
        nan_rep: str | None = None,
        min_itemsize: "int | dict[str, int] | None" = None,
        data_columns: Any = None,
    ) -> None:
        self.group = group
        self.encoding = encoding
        self.errors = errors
        self.filters = filters or {}
        self.nan_rep = nan_rep
        self.min_itemsize = min_itemsize
        self.data_columns = data_columns
        self.levels: list[Any] = []

    def write(self, value: "pd.DataFrame | pd.Series") -> None:
        """Stores a frame or a series. Nothing is stored at the group yet."""
        frame, kind, table_type = self._as_frame(value)
        given = self.nan_rep
        if given is None and not READS_MARKS:
            self.nan_rep = _common_mark(frame)
        columns = self._columns(frame)
        labels = list(frame.columns)
        info: dict[Any, Any] = {1: {"names": list(frame.columns.names), "type": type(frame.columns).__name__}}
        info |= {column.name: dict(column.facts) for column in columns}
        index, *values = columns
        own = [column.name for column in values if column.values.ndim == 1]
        for name, found in {
            "pandas_type": f"{kind}_table",
            "pandas_version": LAYOUT,
            "table_type": table_type,
            "index_cols": [(0, index.name)],
            "values_cols": [column.name for column in values],
            "non_index_axes": [(1, labels)],
            "data_columns": own,
            "nan_rep": self.nan_rep,
            "encoding": self.encoding,
            "errors": self.errors,
            "levels": self.levels or 1,
            "mi_level_nan_rep": bool(self.levels) and READS_MARKS,
            "data_col_nan_rep": self.nan_rep is None,
            "info": info,
        }.items():
            set_attribute(self.group.attrs, name, found)
        dtype = np.dtype([(column.name, column.values.dtype, column.values.shape[1:]) for column in columns])
        table = self.group.create_table("table", dtype, expectedrows=max(len(frame), 10000), **self.filters)
        for column in columns:
            self._describe(table, column, given)
        self._add(table, columns)

    def append(self, value: "pd.DataFrame | pd.Series") -> None:
        """Adds rows to the stored object.

        Raises:
            ValueError: Columns or dtypes differ from the stored ones, or strings do not fit.
            TypeError: The index is of another kind, or time zones differ.
        """
        existing = TableReader(self.group)
        if existing.index is None:
            raise ValueError(f"{self.group.name} was not written by pandas: append records to the table")
        self.encoding, self.errors = existing.encoding, existing.errors
        frame, _, table_type = self._as_frame(value)
        if table_type != existing.table_type:
            raise TypeError(f"incompatible table_type with existing [{table_type} - {existing.table_type}]")
        index = self._appended_index(existing, frame.index)
        labels = pd.Index(existing.non_index[0][1], tupleize_cols=isinstance(frame.columns, pd.MultiIndex))
        if len(labels) != frame.shape[1] or not set(labels) == set(frame.columns):
            raise ValueError(
                f"cannot match existing table structure for {list(labels)} on appending data with {list(frame.columns)}"
            )
        columns = [index, *(self._appended(existing, known, frame) for known in existing.values)]
        for column in columns[1:]:
            if column.nan_rep is not None:
                set_attribute(existing.table.attrs, f"{column.name}_nan_rep", column.nan_rep)
        if index.kind == "string":
            set_attribute(existing.table.attrs, f"{index.name}_nan_rep", index.nan_rep or "")
        info = existing.info
        if index.facts.get("freq") != (existing.index.facts or {}).get("freq") and index.name in info:
            info[index.name]["freq"] = None
            set_attribute(self.group.attrs, "info", info)
        self._add(Table(existing.table.id), columns)

    def _as_frame(self, value: "pd.DataFrame | pd.Series") -> "tuple[pd.DataFrame, str, str]":
        """Returns the frame to store, and pandas' words for the object and its table."""
        is_multi = isinstance(value.index, pd.MultiIndex)
        kind = "series" if isinstance(value, pd.Series) else "frame"
        names = [name if name is not None else f"level_{level}" for level, name in enumerate(value.index.names)]
        if isinstance(value, pd.Series):
            value = value.to_frame(value.name if value.name is not None else "values")
            self.data_columns = list(value.columns)
        if is_multi:
            if "index" in names:
                raise ValueError(
                    "cannot store a MultiIndex with a level named 'index' as a table; 'index' is reserved for the "
                    "implicit row index"
                )
            if set(names) & set(value.columns) or len(set(names)) < len(names):
                raise ValueError("duplicate names/columns in the multi-index when storing as a table")
            given = list(value.columns) if self.data_columns is True else list(self.data_columns or [])
            self.data_columns = [*(name for name in reversed(names) if name not in given), *given]
            value, self.levels = value.reset_index(names=names), names
        return fitted(value), kind, f"appendable_{'multi' if is_multi else ''}{kind}"

    def _columns(self, frame: pd.DataFrame) -> "list[Column]":
        """Returns the fields of a new table: the index, blocks of columns, and data columns."""
        if not frame.columns.is_unique:
            raise ValueError("columns must be unique to be stored as a table")
        own = self._own_columns(frame)
        stored = store_index(frame.index, self.encoding, self.errors, is_table=True)
        if stored.kind in ("object", "date"):
            raise TypeError(
                f"an index of kind {stored.kind} cannot be stored in a table: convert it to strings or dates"
            )
        values = stored.values
        if stored.kind == "string":
            values = self._widened(values, "index")
        facts = {"freq": stored.freq, "tz": stored.tz, "index_name": stored.name, "ordered": stored.ordered}
        columns = [
            Column(
                "index",
                values,
                stored.kind,
                nan_rep=stored.nan_rep,
                meta=None if stored.categories is None else "category",
                categories=stored.categories,
                facts={key: fact for key, fact in facts.items() if fact is not None},
            )
        ]
        others = [place for place, label in enumerate(frame.columns) if label not in own]
        blocks: dict[Any, list[int]] = {}
        for place in others:
            dtype = frame.dtypes.iloc[place]
            is_shared = isinstance(dtype, np.dtype)
            blocks.setdefault(dtype if is_shared else place, []).append(place)
        for number, places in enumerate(blocks.values()):
            columns.append(self._column(f"values_block_{number}", frame.iloc[:, places]))
        for label in own:
            if not isinstance(label, str):
                raise ValueError(f"data column {label!r} is not named by a string")
            if label == "index":
                raise ValueError("cannot use a column named 'index' as a data_column; 'index' is reserved")
            column = self._column(label, frame[[label]])
            column.values = column.values[:, 0] if column.values.ndim == 2 else column.values
            columns.append(column)
        return columns

    def _own_columns(self, frame: pd.DataFrame) -> "list[Any]":
        labels = list(frame.columns)
        own = labels if self.data_columns is True else list(self.data_columns or [])
        if isinstance(frame.columns, pd.MultiIndex) and own:
            raise ValueError(f"cannot use a multi-index on axis [1] with data_columns {own}")
        if isinstance(self.min_itemsize, dict):
            own += [name for name in self.min_itemsize if name not in (*own, "values", "index")]
            unknown = [name for name in self.min_itemsize if name not in (*labels, "values", "index")]
            if unknown:
                raise ValueError(f"min_itemsize has the key [{unknown[0]}] which is not an axis or data_column")
        return [label for label in own if label in labels]

    def _column(self, name: str, part: pd.DataFrame, known: Field | None = None, width: int | None = None) -> Column:
        """Returns columns of the same dtype as a field. `known` is the stored field that they extend."""
        dtype, labels = part.dtypes.iloc[0], list(part.columns)
        if isinstance(dtype, pd.CategoricalDtype):
            values = part.iloc[:, 0].array
            return Column(
                name,
                np.asarray(values.codes).reshape(-1, 1),
                "integer",
                values.codes.dtype.name,
                labels,
                "category",
                categories=values.categories,
                facts={"ordered": bool(values.ordered)},
            )
        if isinstance(dtype, pd.DatetimeTZDtype):
            integers = np.column_stack([part[label].array.asi8 for label in part])
            word = f"datetime64[{dtype.unit}]"
            return Column(name, integers, kind_of(word), word, labels, facts={"tz": zone_of(dtype.tz)})
        if isinstance(dtype, pd.PeriodDtype):
            return Column(name, part.iloc[:, 0].array.asi8.reshape(-1, 1), "integer", str(dtype), labels)
        if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype):
            return self._texts(name, part, known, width)
        if not isinstance(dtype, np.dtype):
            raise NotImplementedError(
                f"Cannot store a column with dtype {dtype} in an HDF5 file. HDFStore supports NumPy dtypes, "
                "datetime64 with timezone, categorical, and string extension types."
            )
        values = part.to_numpy()
        word = values.dtype.name
        if values.dtype.kind in "mM":
            values = values.view("i8")
        elif values.dtype.kind not in "biufc":
            raise TypeError(f"columns {labels} of dtype {dtype} cannot be stored in a table")
        return Column(name, values, kind_of(word), word, labels)

    def _texts(self, name: str, part: pd.DataFrame, known: Field | None, width: int | None) -> Column:
        dtype = part.dtypes.iloc[0]
        values = part.to_numpy(dtype=object)
        missing = np.asarray(part.isna())
        nan_rep = known.nan_rep if known is not None else None
        if missing.any() and nan_rep is None:
            is_level = name in self.levels and READS_MARKS
            nan_rep = sentinel(values[~missing]) if self.nan_rep is None or is_level else self.nan_rep
        # A string that the caller chose means a missing value wherever it is.
        if nan_rep is not None and (known is not None or self.nan_rep is None):
            # Any string may be one that a caller chose, unless each field has its own.
            is_own = known is not None and (not READS_MARKS or attribute(self.group, "data_col_nan_rep", False))
            values = filled(values, missing, nan_rep, ", ".join(map(str, part.columns)), is_own)
        else:
            values = (
                filled(values, missing, nan_rep or "nan", ", ".join(map(str, part.columns)))
                if (self.nan_rep is None)
                else _replaced(values, missing, nan_rep or self.nan_rep, part)
            )
        made = encoded(values, self.encoding, self.errors)
        made = self._widened(made, name) if width is None else made
        meta = str(dtype) if isinstance(dtype, pd.StringDtype) else None
        own = nan_rep if self.nan_rep is None or (name in self.levels and READS_MARKS) else None
        return Column(name, made, "string", made.dtype.name, list(part.columns), meta, own)

    def _widened(self, values: _Array, name: str) -> _Array:
        """Returns strings with room for at least `min_itemsize` bytes."""
        least = self.min_itemsize
        if isinstance(least, dict):
            least = least.get(name) or (least.get("values") if name != "index" else None)
        return values.astype(f"S{max(int(least or 0), values.dtype.itemsize)}")

    def _appended_index(self, existing: TableReader, index: pd.Index) -> Column:
        known = existing.index
        assert known is not None
        others, nan_rep = None, known.nan_rep
        has_sentinel = f"{known.name}_nan_rep" in existing.table.attrs
        if known.kind == "string" and (nan_rep is None or not has_sentinel) and index.hasnans:
            others = self._stored_texts(existing, known.name)
            nan_rep = nan_rep if has_sentinel or nan_rep not in others else None
        stored = store_index(index, self.encoding, self.errors, nan_rep, others, is_table=True)
        if stored.kind != word_of(known.kind or ""):
            raise TypeError(f"incompatible kind in col [{known.kind} - {stored.kind}]")
        if (stored.categories is None) != (known.meta != "category"):
            raise TypeError("cannot append a categorical index to a non-categorical index, nor the reverse")
        if stored.categories is not None and not _is_same(stored.categories, known.categories):
            raise ValueError("cannot append a categorical with different categories to the existing")
        if stored.kind == "integer" and (stored.freq is None) != (known.facts.get("freq") is None):
            raise TypeError("cannot append a period index to a non-period index, nor the reverse")
        if stored.kind == "integer" and stored.freq != known.facts.get("freq"):
            raise TypeError(f"incompatible freq in col [{known.facts.get('freq')} - {stored.freq}]")
        _check_zones(known.name, known.facts.get("tz"), stored.tz)
        values = self._fitting(stored.values, existing, known.name)
        return Column(known.name, values, stored.kind, nan_rep=stored.nan_rep, facts={"freq": stored.freq})

    def _appended(self, existing: TableReader, known: Field, frame: pd.DataFrame) -> Column:
        part = frame[known.items]
        if len({str(dtype) for dtype in part.dtypes}) != 1 and known.kind != "string":
            raise ValueError(f"columns {known.items} have several dtypes: the stored ones share {known.dtype}")
        stored = existing.table.dtype[known.name]
        if known.kind == "string" and part.isna().any(axis=None) and known.nan_rep is None:
            known.nan_rep = sentinel(part.to_numpy(dtype=object), self._stored_texts(existing, known.name))
        column = self._column(known.name, part, known, stored.base.itemsize)
        if column.kind != known.kind:
            raise ValueError(
                f"Cannot serialize the column [{known.items[0]}] because its data contents are not [{known.kind}] "
                f"but [{column.kind}] object dtype"
            )
        if known.kind != "string" and column.dtype != known.dtype:
            raise ValueError(f"appended items dtype {column.dtype} do not match the stored dtype {known.dtype}")
        if column.categories is not None and not _is_same(column.categories, known.categories):
            raise ValueError(
                "cannot append a categorical with different categories to the existing; align with "
                "`cat.set_categories(...)` before writing"
            )
        _check_zones(known.name, known.facts.get("tz"), column.facts.get("tz"))
        column.values = self._fitting(column.values, existing, known.name)
        return column

    def _fitting(self, values: _Array, existing: TableReader, name: str) -> _Array:
        """Returns elements in the dtype and shape of a stored field.

        Raises:
            ValueError: Strings are longer than the field.
        """
        stored = existing.table.dtype[name]
        if stored.base.kind == "S" and values.dtype.itemsize > stored.base.itemsize:
            raise ValueError(
                f"Trying to store a string with len [{values.dtype.itemsize}] in [{name}] column but\nthis column has "
                f"a limit of [{stored.base.itemsize}]!\nConsider using min_itemsize to preset the sizes on these columns"
            )
        return values.reshape(len(values), *stored.shape)

    def _stored_texts(self, existing: TableReader, name: str) -> "set[str]":
        return set(decoded(existing.table.fields(name)[:], None, self.encoding, self.errors).ravel())

    def _describe(self, table: Table, column: Column, nan_rep: str | None) -> None:
        """Writes what pandas stores of a field, and the categories, with the caller's `nan_rep`."""
        name, attrs = column.name, table.attrs
        set_attribute(attrs, f"{name}_kind", column.kind if column.items is None else column.items)
        if column.items is not None:
            set_attribute(attrs, f"{name}_dtype", column.dtype)
        if column.items is not None or column.meta is not None:
            set_attribute(attrs, f"{name}_meta", column.meta)
        if column.items is None and column.kind == "string":
            set_attribute(attrs, f"{name}_nan_rep", column.nan_rep or "")
        elif column.nan_rep is not None:
            set_attribute(attrs, f"{name}_nan_rep", column.nan_rep)
        if column.categories is not None and len(column.categories):
            place = self.group.require_group(f"meta/{name}/meta")
            TableWriter(place, self.encoding, self.errors, nan_rep=nan_rep).write(
                pd.Series(np.asarray(column.categories))
            )

    def _add(self, table: Table, columns: "list[Column]") -> None:
        """Adds the rows of the fields at the end of the table."""
        rows = len(columns[0].values)
        records = np.zeros(rows, dtype=table.dtype)
        for column in columns:
            records[column.name] = column.values
        table.append(records)


def _common_mark(frame: pd.DataFrame) -> str:
    """Returns a string for missing values that equals no string of a frame."""
    texts = [
        frame.iloc[:, place].dropna().to_numpy(dtype=object)
        for place, dtype in enumerate(frame.dtypes)
        if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)
    ]
    return sentinel(np.concatenate(texts) if texts else np.empty(0, object))


def _replaced(values: _Array, missing: _Array, nan_rep: str, part: pd.DataFrame) -> _Array:
    """Returns strings with the caller's `nan_rep` in place of missing values. Equal values become missing."""
    made = filled(values, np.zeros_like(missing), nan_rep, "") if not missing.any() else values.copy()
    made[missing] = nan_rep
    return filled(made, np.zeros_like(missing), nan_rep, ", ".join(map(str, part.columns)))


def _is_same(categories: pd.Index, stored: Any) -> bool:
    return categories.equals(pd.Index([], dtype=categories.dtype) if stored is None else pd.Index(stored))


def _check_zones(name: str, stored: Any, given: Any) -> None:
    if (stored is None) != (given is None):
        raise TypeError(f"column [{name}]: stored dates {'have no' if stored is None else 'have a'} time zone")
    if stored != given and str(stored) != str(given):
        raise ValueError(f"column [{name}]: stored dates have the time zone {stored}, new ones {given}")
