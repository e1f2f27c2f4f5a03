"""pandas' fixed format: an array for each axis, and one for each block of columns of the same dtype."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd

from .._native import Dataset, Group
from .._pytables import VLArray, create_array, create_carray, create_vlarray
from ._attributes import attribute, set_attribute
from ._indexes import StoredIndex, categorical, restore_index, store_index, zone_of
from ._installed import LAYOUT, fitted, text_dtype, word_of
from ._pickles import PickleError, loads

_Array = np.ndarray[Any, Any]


class FixedReader:
    """Reads a frame or a series that was stored in the fixed format."""

    def __init__(self, group: Group, rows: slice) -> None:
        self.group = group
        self.rows = rows
        self.encoding = attribute(group, "encoding") or "UTF-8"
        self.errors = attribute(group, "errors") or "strict"

    def frame(self) -> pd.DataFrame:
        """Returns the frame."""
        items = self.index("axis0", slice(None))
        index = self.index("axis1", self.rows)
        frames = []
        for block in range(attribute(self.group, "nblocks", 0)):
            columns = self.index(f"block{block}_items", slice(None))
            values = self.array(self.node(f"block{block}_values")).T
            if isinstance(values, np.ndarray):
                values = np.asfortranarray(values)
                is_text = values.dtype == object and _are_strings(values)
            else:
                is_text = False
            found = pd.DataFrame(values.T if _is_column(values) else values, columns=items[items.get_indexer(columns)])
            found.index = index
            frames.append(found.astype(text_dtype()) if is_text else found)
        if not frames:
            return pd.DataFrame(columns=items, index=index)
        return pd.concat(frames, axis=1).reindex(columns=items)

    def series(self) -> pd.Series:
        """Returns the series."""
        index = self.index("index", self.rows)
        values = self.array(self.node("values"))
        return pd.Series(values, index=index, name=attribute(self.group, "name"), copy=False)

    def index(self, key: str, rows: slice) -> pd.Index:
        """Returns an axis, which may have several levels."""
        variety = attribute(self.group, f"{key}_variety")
        if variety == "regular":
            return self.level(key, rows)
        if variety != "multi":
            raise ValueError(f"{self.group.name}: attribute {key}_variety is {variety!r}, not 'regular' or 'multi'")
        numbers = range(attribute(self.group, f"{key}_nlevels"))
        levels = [self.level(f"{key}_level{number}", slice(None)) for number in numbers]
        codes = [self.elements(self.node(f"{key}_label{number}"), rows) for number in numbers]
        return pd.MultiIndex(levels=levels, codes=codes, names=[level.name for level in levels])

    def level(self, key: str, rows: slice) -> pd.Index:
        """Returns an axis of one level, or a level of an axis."""
        node = self.node(key)
        kind = attribute(node, "kind")
        values = self.elements(node, rows)
        stored = StoredIndex(values, kind, attribute(node, "name"))
        if isinstance(stored.name, bytes):
            stored.name = stored.name.decode(self.encoding)
        if kind == "category":
            categories = self.index(f"{key}_categories", slice(None))
            found = categorical(values, categories, bool(attribute(node, "ordered")))
            return pd.CategoricalIndex(found, name=stored.name)
        stored.freq, stored.tz = frequency(node), attribute(node, "tz")
        if kind == "string":
            stored.nan_rep = attribute(node, "nan_rep", "nan") or None
        return restore_index(stored, self.encoding, self.errors, attribute(node, "index_class", ""))

    def array(self, node: Dataset) -> Any:
        """Returns the values of a block or of a series: rows first."""
        dtype, shape = attribute(node, "value_type"), attribute(node, "shape")
        values: Any = self.elements(node, self.rows)
        if dtype and dtype.startswith("datetime64"):
            dtype = "datetime64[ns]" if dtype == "datetime64" else dtype
            values = _datetimes(np.asarray(values).view(dtype), attribute(node, "tz"))
        elif dtype and dtype.startswith("timedelta64"):
            values = np.asarray(values).view("m8[ns]" if dtype == "timedelta64" else dtype)
        elif dtype and dtype.startswith("period"):
            ordinals = np.asarray(values, dtype="i8").ravel()
            values = pd.PeriodIndex.from_ordinals(ordinals, freq=pd.PeriodDtype(dtype[7:-1]).freq).array
        elif dtype and shape is None and values.dtype == object:
            values = pd.array(values, dtype=dtype)
        return values.T if attribute(node, "transposed", False) else values

    def elements(self, node: Dataset, rows: slice) -> _Array:
        """Returns rows of a stored array, or the array without elements that one element stands for."""
        shape = attribute(node, "shape")
        if shape is not None and 0 in shape:
            return np.empty(shape, dtype=_plain(attribute(node, "value_type")))
        return _elements(node, rows)

    def node(self, key: str) -> Dataset:
        found = self.group.get(key)
        if not isinstance(found, Dataset):
            raise ValueError(f"{self.group.name} is incomplete: it has no array {key!r}")
        return found


class FixedWriter:
    """Stores a frame or a series in the fixed format."""

    def __init__(self, group: Group, encoding: str, errors: str, filters: "dict[str, Any]") -> None:
        self.group = group
        self.encoding = encoding
        self.errors = errors
        self.filters = filters
        self.set(group, pandas_version=LAYOUT, encoding=encoding, errors=errors)

    def frame(self, frame: pd.DataFrame) -> None:
        """Stores a frame."""
        if not frame.columns.is_unique:
            raise ValueError("Columns index has to be unique for fixed format")
        self.set(self.group, pandas_type="frame", ndim=2)
        frame = fitted(frame)
        self.index("axis0", frame.columns)
        self.index("axis1", frame.index)
        blocks = _blocks(frame)
        self.set(self.group, nblocks=len(blocks))
        for number, places in enumerate(blocks):
            part = frame.iloc[:, places]
            self.block(f"block{number}_values", part)
            self.index(f"block{number}_items", part.columns)

    def series(self, series: pd.Series) -> None:
        """Stores a series."""
        self.set(self.group, pandas_type="series")
        self.index("index", series.index)
        self.values("values", fitted(series.to_frame()).iloc[:, 0].array)
        self.set(self.group, name=series.name)

    def index(self, key: str, index: pd.Index) -> None:
        """Stores an axis."""
        is_multi = isinstance(index, pd.MultiIndex)
        self.set(self.group, **{f"{key}_variety": "multi" if is_multi else "regular"})
        if not is_multi:
            self.level(key, index)
            return
        self.set(self.group, **{f"{key}_nlevels": index.nlevels})
        for number, (level, codes, name) in enumerate(zip(index.levels, index.codes, index.names, strict=True)):
            if isinstance(level.dtype, pd.api.extensions.ExtensionDtype) and level.dtype.name not in ("str", "string"):
                raise NotImplementedError("Saving a MultiIndex with an extension dtype is not supported.")
            node = self.level(f"{key}_level{number}", level.rename(name))
            self.set(node, **{f"{key}_name{name}": name})
            self.elements(f"{key}_label{number}", np.asarray(codes))

    def level(self, key: str, index: pd.Index) -> Dataset:
        """Stores an axis of one level, or a level of an axis."""
        stored = store_index(index, self.encoding, self.errors, is_table=False)
        if stored.categories is not None:
            node = self.elements(key, stored.values)
            self.index(f"{key}_categories", stored.categories)
            self.set(node, kind="category", name=index.name, ordered=stored.ordered)
            return node
        node = self.elements(key, stored.values)
        self.set(node, kind=stored.kind, name=index.name)
        if stored.kind == "string":
            self.set(node, nan_rep=stored.nan_rep or "")
        for kind, word in ((pd.DatetimeIndex, "datetime"), (pd.PeriodIndex, "period")):
            if isinstance(index, kind):
                self.set(node, index_class=word)
        if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex):
            self.set(node, freq=stored.freq)
        if stored.tz is not None:
            self.set(node, tz=stored.tz)
        return node

    def block(self, key: str, part: pd.DataFrame) -> None:
        """Stores columns of the same dtype."""
        dtype = part.dtypes.iloc[0]
        if isinstance(dtype, pd.DatetimeTZDtype):
            integers = part.iloc[:, 0].array.asi8.reshape(-1, 1)
            self.described(key, integers, f"datetime64[{dtype.unit}]", zone_of(dtype.tz))
        elif isinstance(dtype, np.dtype):
            self.values(key, part.to_numpy().T)
        else:
            self.values(key, part.iloc[:, 0].array)

    def values(self, key: str, values: Any) -> None:
        """Stores the values of a series, or of a block with a row for each column."""
        dtype = values.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            raise NotImplementedError(
                'Cannot store a category dtype in an HDF5 dataset that uses format="fixed". Use format="table".'
            )
        if isinstance(dtype, pd.StringDtype):
            if len(values):
                self.pickled(key, np.asarray(values.to_numpy(), dtype=object), str(dtype))
            else:
                self.pickled(key, np.empty(0, dtype=object), str(dtype), is_transposed=False)
        elif isinstance(dtype, pd.DatetimeTZDtype):
            self.described(key, values.asi8, f"datetime64[{dtype.unit}]", zone_of(dtype.tz))
        elif isinstance(dtype, pd.PeriodDtype):
            self.described(key, values.asi8, str(dtype))
        elif isinstance(dtype, pd.api.extensions.ExtensionDtype) and not isinstance(values, _NumPyArray):
            raise NotImplementedError(
                f'Cannot store a column with dtype {dtype} in an HDF5 file with format="fixed". HDFStore supports '
                "NumPy dtypes, datetime64 with timezone, categorical, and string extension types."
            )
        else:
            numbers = np.asarray(values)
            if numbers.dtype == object:
                self.elements(key, numbers.T if numbers.size else numbers)
            elif numbers.dtype.kind in "mM":
                self.described(key, numbers.T.view("i8"), word_of(str(numbers.dtype)))
            elif numbers.size == 0:
                self.set(self.elements(key, numbers), transposed=False)
            else:
                self.set(self.elements(key, numbers.T), transposed=True)

    def described(self, key: str, integers: _Array, dtype: str, tz: Any = None) -> None:
        """Stores dates or periods as integers."""
        if integers.size:
            node = self.elements(key, np.ascontiguousarray(integers))
        else:
            node = create_array(self.group, key, integers.T)
        self.set(node, value_type=dtype, transposed=bool(integers.size))
        if tz is not None:
            self.set(node, tz=tz)

    def pickled(self, key: str, objects: _Array, dtype: str | None = None, is_transposed: bool = True) -> Dataset:
        """Stores Python objects as the pickle of an array, as PyTables does."""
        node = create_vlarray(self.group, key, "object", chunkshape=(1,))
        node.append(pickle.dumps(objects, pickle.HIGHEST_PROTOCOL))
        if dtype is not None:
            self.set(node, value_type=dtype)
        self.set(node, transposed=is_transposed)
        return node

    def elements(self, key: str, values: _Array) -> Dataset:
        """Stores an array. In place of numbers without elements, there is one element and the shape."""
        if values.dtype == object:
            return self.pickled(key, values, is_transposed=bool(values.size))
        if values.size == 0:
            node = create_array(self.group, key, np.zeros((1,) * values.ndim))
            self.set(node, value_type=str(values.dtype), shape=values.shape, transposed=False)
            return node
        if self.filters:
            return create_carray(self.group, key, obj=np.ascontiguousarray(values), **self.filters)
        return create_array(self.group, key, np.ascontiguousarray(values))

    @staticmethod
    def set(node: Any, **values: Any) -> None:
        for name, value in values.items():
            set_attribute(node.attrs, name, value)


def frequency(node: Dataset) -> Any:
    """Returns the frequency of an index. Those of old versions of pandas are not read (UserWarning)."""
    try:
        found = attribute(node, "freq")
    except PickleError:
        warnings.warn(f"the frequency of {node.name} is pickled in an old form; it is left out", stacklevel=2)
        return None
    return None if isinstance(found, bytes) else found


_NumPyArray = pd.arrays.NumpyExtensionArray | pd.arrays.DatetimeArray | pd.arrays.TimedeltaArray


def _blocks(frame: pd.DataFrame) -> "list[list[int]]":
    """Returns the places of the columns of each block: columns of one NumPy dtype, or one extension array."""
    blocks: dict[Any, list[int]] = {}
    for place, dtype in enumerate(frame.dtypes):
        is_shared = isinstance(dtype, np.dtype)
        blocks.setdefault(dtype if is_shared else place, []).append(place)
    return list(blocks.values())


def _elements(node: Dataset, rows: slice) -> _Array:
    """Returns rows of a stored array. The values of pickled arrays are read without unpickling."""
    if isinstance(node, VLArray):
        found = loads(node[0])
        if not isinstance(found, np.ndarray):
            found = np.array(found, dtype=object)
        return found[rows]
    return node[rows] if node.shape else node[()]


def _plain(dtype: str | None) -> Any:
    """Returns the NumPy dtype of arrays without elements: integers for dtypes that only pandas has."""
    if dtype is None:
        return np.dtype("f8")
    if dtype.startswith(("datetime64", "timedelta64", "period", "category")):
        return np.dtype("i8")
    return np.dtype(object) if dtype in ("str", "string") else np.dtype(dtype)


def _datetimes(values: _Array, tz: Any) -> Any:
    if tz in (None, ""):
        return values
    flat = pd.DatetimeIndex(values.ravel()).tz_localize("UTC").tz_convert(tz)
    return flat.array if values.ndim == 1 else flat.array.reshape(values.shape)


def _are_strings(values: _Array) -> bool:
    return pd.api.types.infer_dtype(values.ravel(), skipna=True) == "string"


def _is_column(values: Any) -> bool:
    return not isinstance(values, np.ndarray) and values.ndim == 1
