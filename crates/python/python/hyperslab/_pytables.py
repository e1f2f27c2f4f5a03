"""Arrays in PyTables' layout: the attributes that PyTables needs, and the classes of arrays that grow.

PyTables knows an array by its attribute `CLASS`. Its `Array` and `CArray` are plain datasets here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ._dtypes import check_vlen_dtype, vlen_dtype
from ._native import AttributeManager, Dataset, Empty, Group, _auto_chunks, _mark_file
from ._shapes import lengths

# The dtype of an element of a pseudo atom, which PyTables decodes row by row.
_PSEUDO_ATOMS = {"vlstring": np.dtype("u1"), "vlunicode": np.dtype("<u4"), "object": np.dtype("u1")}
# The versions of PyTables' classes.
_VERSIONS = {"GROUP": "1.0", "ARRAY": "2.4", "CARRAY": "1.1", "EARRAY": "1.1", "VLARRAY": "1.4"}
_ROWS_AT_A_TIME = 1024


class EArray(Dataset):
    """A dataset that can be extended along one axis: the `EArray` of PyTables.

    `Group.create_earray` creates one. Every other use is that of `Dataset`.

    Example:
        >>> steps = file.create_earray("steps", "f4", (3, 0))
        >>> steps.append(np.ones((3, 2)))
        >>> steps.shape, steps.extdim
        ((3, 2), 1)
    """

    @property
    def extdim(self) -> int:
        """The axis along which `append` adds elements.

        Raises:
            ValueError: The attribute `EXTDIM` is not an axis of the dataset.

        Example:
            >>> file.create_earray("steps", "f4", (3, 0)).extdim
            1
        """
        axis = self.attrs.get("EXTDIM", 0)
        if np.ndim(axis) or not isinstance(axis, np.integer | int) or not 0 <= axis < self.ndim:
            raise ValueError(
                f"attribute EXTDIM of {self.name!r} must be an axis of the shape {self.shape}, not {axis!r}"
            )
        return int(axis)

    def append(self, rows: Any) -> None:
        """Adds elements at the end of the axis `extdim`.

        Args:
            rows: The elements: an array with as many axes as the dataset, and the same length along every
                axis but `extdim`.

        Raises:
            ValueError: The shape does not fit, or the file is open for reading.
            TypeError: The elements cannot be converted to the dtype of the dataset.

        Example:
            >>> steps = file.create_earray("steps", "f4", (3, 0))
            >>> steps.append([[1, 2], [3, 4], [5, 6]])
            >>> steps[1]
            array([3., 4.], dtype=float32)
        """
        axis, shape = self.extdim, self.shape
        assert shape is not None
        base, inner = self.dtype.subdtype or (self.dtype, ())
        array = rows if isinstance(rows, np.ndarray) else np.asarray(rows, dtype=base)
        if (array.dtype.kind in "SU") != (base.kind in "SU") and array.dtype.kind != "O":
            raise TypeError(f"rows must have the dtype {base}, not {array.dtype}")
        outer = array.shape[: array.ndim - len(inner)]
        fits = array.shape[len(outer) :] == inner and len(outer) == len(shape)
        if not fits or any(a != b for i, (a, b) in enumerate(zip(outer, shape, strict=True)) if i != axis):
            wanted = tuple("n" if i == axis else length for i, length in enumerate(shape)) + inner
            raise ValueError(f"rows must have the shape {wanted} to extend {self.name!r}, not {array.shape}")
        self.resize(shape[axis] + outer[axis], axis)
        try:
            self[(slice(None),) * axis + (slice(shape[axis], None),)] = array
        except BaseException:
            self.resize(shape[axis], axis)
            raise


class VLArray(Dataset):
    """A dataset of rows of variable length: the `VLArray` of PyTables.

    `Group.create_vlarray` creates one. Indexing, iteration and `read` return rows: arrays, or for pseudo
    atoms bytes ("vlstring"), str ("vlunicode") or the bytes of a pickle ("object"). No pickle is loaded.

    Example:
        >>> tracks = file.create_vlarray("tracks", "i4")
        >>> tracks.append([1, 2, 3])
        >>> tracks.append([])
        >>> [len(row) for row in tracks]
        [3, 0]
    """

    @property
    def pseudoatom(self) -> str | None:
        """The pseudo atom: "vlstring", "vlunicode", "object", or None if a row is an array.

        Raises:
            ValueError: The attribute `PSEUDOATOM` is none of these, or the dtype is not that of the pseudo
                atom.

        Example:
            >>> file.create_vlarray("towns", "vlunicode").pseudoatom
            'vlunicode'
        """
        name = text(self.attrs, "PSEUDOATOM")
        if name is None:
            return None
        if name not in _PSEUDO_ATOMS:
            raise ValueError(f"attribute PSEUDOATOM of {self.name!r} must be one of {[*_PSEUDO_ATOMS]}, not {name!r}")
        base = np.dtype(check_vlen_dtype(self.dtype))
        if base.newbyteorder("<") != _PSEUDO_ATOMS[name]:
            raise ValueError(f"rows of {self.name!r} must have the dtype of the pseudo atom {name!r}, not {base}")
        return name

    def append(self, row: Any) -> None:
        """Adds a row.

        Args:
            row: The elements of the row: a sequence, or for pseudo atoms a str or bytes.

        Raises:
            TypeError: The row is not one of the dtype or the pseudo atom.
            ValueError: The file is open for reading, or elements do not have the shape of the dtype.

        Example:
            >>> notes = file.create_vlarray("notes", "vlstring")
            >>> notes.append(b"first")
            >>> notes[0]
            b'first'
        """
        encoded = self._encode(row)
        assert self.shape is not None
        (rows,) = self.shape
        self.resize(rows + 1, 0)
        try:
            super().__setitem__(slice(rows, None), _holder(encoded))
        except BaseException:
            self.resize(rows, 0)
            raise

    def __getitem__(self, args: Any, /) -> Any:
        return self._decode(super().__getitem__(args))

    def __setitem__(self, key: Any, value: Any, /) -> None:
        if self.pseudoatom is None:
            super().__setitem__(key, value)
        elif isinstance(key, int | np.integer):
            super().__setitem__(slice(key, key + 1 or None), _holder(self._encode(value)))
        else:
            raise TypeError(f"the index must be an integer to set a row of {self.name!r}, not {key!r}")

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self), _ROWS_AT_A_TIME):
            yield from self[first : first + _ROWS_AT_A_TIME]

    def read(self, sel: Any = None, out: Any = None, threads: int | None = None) -> Any:
        """Reads rows, as `Dataset.read` does, and decodes those of pseudo atoms.

        Args:
            sel: The selection: anything that indexing accepts. None selects every row.
            out: The array to read into, of dtype object. Its elements are the rows as stored.
            threads: The most threads to use.

        Returns:
            An array of dtype object with a row in each element.

        Raises:
            ValueError: The selection does not fit, or a row is not valid for the pseudo atom.

        Example:
            >>> towns = file.create_vlarray("towns", "vlunicode", obj="Bern")
            >>> towns.append("Genève")
            >>> towns.read()
            array(['Bern', 'Genève'], dtype=object)
        """
        return self._decode(super().read(sel, out, threads))

    def _encode(self, row: Any) -> "np.ndarray[Any, Any]":
        kind = self.pseudoatom
        if kind == "vlunicode":
            if not isinstance(row, str):
                raise TypeError(f"a row of {self.name!r} must be a str, not {type(row).__name__}")
            return np.frombuffer(row.encode("utf-32-le"), "<u4")
        if kind is not None:
            if not isinstance(row, bytes | bytearray | np.bytes_):
                hint = "; pass the bytes of a pickle" if kind == "object" else ""
                raise TypeError(f"a row of {self.name!r} must be bytes, not {type(row).__name__}{hint}")
            return np.frombuffer(row, "u1")
        dtype = np.dtype(check_vlen_dtype(self.dtype))
        base, inner = dtype.subdtype or (dtype, ())
        array = np.asarray(row, dtype=base)
        if not array.size:
            array = array.reshape(0, *inner)
        if array.shape[1:] != inner or array.ndim == 0:
            raise ValueError(f"a row of {self.name!r} must have the shape {('n', *inner)}, not {array.shape}")
        return array

    def _decode(self, found: Any) -> Any:
        kind = self.pseudoatom
        if kind is None:
            return found
        if isinstance(found, np.ndarray) and found.dtype.kind == "O":
            rows = np.empty(found.shape, dtype=object)
            for index, row in np.ndenumerate(found):
                rows[index] = _decoded(kind, row)
            return rows
        return _decoded(kind, found)


def _holder(row: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Returns an array with one element, the row. NumPy alone would take the row for several elements."""
    holder = np.empty(1, dtype=object)
    holder[0] = row
    return holder


def _decoded(kind: str, row: "np.ndarray[Any, Any]") -> "str | bytes":
    if kind == "vlunicode":
        try:
            return row.astype("<u4").tobytes().decode("utf-32-le")
        except UnicodeDecodeError as error:
            raise ValueError(f"a row must be Unicode, and its code point {error.start // 4} is invalid") from None
    return row.tobytes()


def create_array(
    group: Group, name: "str | bytes", obj: Any, title: str = "", dtype: "DTypeLike | None" = None
) -> Dataset:
    """Creates an array of a fixed shape; see `Group.create_array`."""
    array = np.asarray(obj, dtype=dtype)
    group.create_dataset(name, dtype=atom(array.dtype), data=array, _is_table=True)
    return _described(group, name, "ARRAY", title, FLAVOR="numpy")


def create_carray(
    group: Group,
    name: "str | bytes",
    dtype: "DTypeLike | None" = None,
    shape: "int | Sequence[int] | None" = None,
    title: str = "",
    *,
    obj: Any = None,
    chunkshape: "int | Sequence[int] | None" = None,
    **kwds: Any,
) -> Dataset:
    """Creates an array in chunks; see `Group.create_carray`."""
    array, kind, extent = _elements(obj, dtype, shape)
    group.create_dataset(name, extent, kind, chunks=chunkshape or True, **kwds, _is_table=True)
    made = _described(group, name, "CARRAY", title)
    if array is not None:
        _write_or_remove(group, name, lambda: made.__setitem__(..., array))
    return made


def create_earray(
    group: Group,
    name: "str | bytes",
    dtype: "DTypeLike | None" = None,
    shape: "int | Sequence[int] | None" = None,
    title: str = "",
    *,
    obj: Any = None,
    expectedrows: int = 1000,
    chunkshape: "int | Sequence[int] | None" = None,
    **kwds: Any,
) -> EArray:
    """Creates an array that can be extended; see `Group.create_earray`."""
    if obj is not None and shape is None:
        array = np.asarray(obj, dtype=dtype)
        shape = (0, *array.shape[1:])
    rows, kind, extent = _elements(obj, dtype, shape, is_extendable=True)
    if extent.count(0) != 1:
        raise ValueError(f"shape must have one length of 0, along which rows are appended, not {extent}")
    axis = extent.index(0)
    limits = [None if i == axis else length for i, length in enumerate(extent)]
    expected = [max(1, expectedrows) if i == axis else length for i, length in enumerate(extent)]
    chunks = chunkshape or tuple(_auto_chunks(expected, list(limits), kind.itemsize))
    group.create_dataset(name, extent, kind, maxshape=limits, chunks=chunks, **kwds, _is_table=True)
    made = _described(group, name, "EARRAY", title, EXTDIM=np.int32(axis))
    if rows is not None:
        _write_or_remove(group, name, lambda: made.append(rows))
    return made


def create_vlarray(
    group: Group,
    name: "str | bytes",
    dtype: DTypeLike,
    title: str = "",
    *,
    obj: Any = None,
    chunkshape: "int | Sequence[int] | None" = None,
    **kwds: Any,
) -> VLArray:
    """Creates an array of rows of variable length; see `Group.create_vlarray`."""
    pseudo = dtype if isinstance(dtype, str) and dtype in _PSEUDO_ATOMS else None
    kind: Any = _PSEUDO_ATOMS[pseudo] if pseudo is not None else atom(np.dtype(dtype))
    chunks = chunkshape or (1024,)
    group.create_dataset(name, (0,), vlen_dtype(kind), maxshape=(None,), chunks=chunks, **kwds, _is_table=True)
    made = _described(group, name, "VLARRAY", title, **({} if pseudo is None else {"PSEUDOATOM": pseudo}))
    if obj is not None:
        _write_or_remove(group, name, lambda: made.append(obj))
    return made


def atom(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Returns the dtype of elements that PyTables has too.

    Raises:
        TypeError: PyTables has no such elements.
    """
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        return np.dtype((atom(base), inner))
    if dtype.names is not None:
        raise TypeError(f"dtype must have no fields, not {dtype}; create a table for records")
    if dtype.kind not in "biufcS" or dtype.itemsize == 0:
        raise TypeError(
            f"dtype must be one of numbers or bytes, not {dtype}; convert them, strings to a dtype such as 'S8'"
        )
    return dtype


def _elements(
    obj: Any, dtype: "DTypeLike | None", shape: "int | Sequence[int] | None", is_extendable: bool = False
) -> "tuple[np.ndarray[Any, Any] | None, np.dtype[Any], tuple[int, ...]]":
    """Returns the elements to write, the dtype to store, and the shape."""
    extent = lengths("shape", shape)
    if obj is None:
        if dtype is None or extent is None:
            raise TypeError("dtype and shape must be given, or the elements as obj")
        return None, atom(np.dtype(dtype)), extent
    base = None if dtype is None else np.dtype(dtype).base
    array = np.asarray(obj, dtype=base)
    kind = atom(array.dtype if dtype is None else np.dtype(dtype))
    outer = array.shape[: array.ndim - kind.ndim]
    if extent is not None and not is_extendable and extent != outer:
        raise ValueError(f"obj must have the shape {extent}, not {outer}")
    return array, kind, outer if extent is None else extent


def _write_or_remove(group: Group, name: "str | bytes", write: Callable[[], None]) -> None:
    try:
        write()
    except BaseException:
        del group[name]
        raise


def _described(group: Group, name: "str | bytes", kind: str, title: str, **others: Any) -> Any:
    """Writes the attributes by which PyTables knows an array, and returns the array in its class."""
    made = group[name]
    _mark_file(made)
    for key, value in {"CLASS": kind, "VERSION": _VERSIONS[kind], "TITLE": title, **others}.items():
        if isinstance(value, str):
            set_text(made.attrs, key, value)
        else:
            made.attrs[key] = value
    return group[name]


def mark_group(group: Group, title: str = "") -> None:
    """Writes the attributes that PyTables gives to its groups."""
    for name, value in {"CLASS": "GROUP", "TITLE": title, "VERSION": _VERSIONS["GROUP"]}.items():
        set_text(group.attrs, name, value)


def set_text(attrs: AttributeManager, name: str, value: str) -> None:
    """Writes a string attribute as PyTables does: of fixed length in UTF-8, and without elements if empty."""
    encoded = value.encode("utf-8")
    if not encoded:
        attrs[name] = Empty("S1")
    else:
        attrs.create(name, np.bytes_(encoded), dtype=np.dtype(f"S{len(encoded)}", metadata={"h5py_encoding": "utf-8"}))


def text(attrs: AttributeManager, name: str) -> str | None:
    """Returns a string attribute that this package, PyTables or h5py wrote, or None if there is none.

    Raises:
        ValueError: The attribute is not a string in UTF-8.
    """
    value = attrs.get(name)
    if isinstance(value, Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"attribute {name} must be a string, not {value!r}")
