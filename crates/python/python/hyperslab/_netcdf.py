"""netCDF-4 in HDF5 files: dimensions, variables and attributes of a group.

A dimension is a dimension scale. A variable whose name is that of a dimension is the scale itself; a
dimension without a variable is a scale with an agreed text in its attribute NAME. The conventions are those
of the netCDF library ("NetCDF-4 Format", appendix C of the netCDF User's Guide).
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._dtypes import check_enum_dtype, check_string_dtype, check_vlen_dtype
from ._errors import FormatError
from ._native import Dataset, Datatype, Empty, File, Group, Reference, __version__, _AxisNames

NOT_A_VARIABLE = b"This is a netCDF dimension but not a netCDF variable."
_DIMENSION_ID, _COORDINATES = "_Netcdf4Dimid", "_Netcdf4Coordinates"
#: Attributes whose values stand for missing elements.
FILLS = ("_FillValue", "missing_value")
#: Attributes that say how the file is made, which programs do not see.
HIDDEN = frozenset(
    {
        "CLASS",
        "DIMENSION_LIST",
        "NAME",
        "REFERENCE_LIST",
        "_NCProperties",
        "_nc3_strict",
        _COORDINATES,
        _DIMENSION_ID,
    }
)


class Dimension(NamedTuple):
    """A dimension: its length, whether it can grow, and its number in the file, if it has one."""

    size: int
    is_unlimited: bool
    number: int | None = None


class Variable(NamedTuple):
    """A variable: its dataset, and the names of its dimensions."""

    dataset: Dataset
    dimensions: tuple[str, ...]


class AxisNames:
    """The names of the axes of a file's datasets, which are read when one is asked for.

    That reads the header of each dataset of the file, as the netCDF library does, because it numbers
    dimensions throughout a file.
    """

    def __init__(self) -> None:
        self._found: _AxisNames | None = None

    def of(self, group: Group, name: str) -> "list[str]":
        """Returns the names of the axes of a dataset of a group."""
        if self._found is None:
            self._found = _AxisNames(group.file)
        names = self._found.of(group, name)
        if names is None:
            raise KeyError(f"the dataset {name!r} is new in the file: open the file again")
        return names

    def __reduce__(self) -> Any:
        return AxisNames, ()


class NetCDFGroup:
    """The dimensions and variables of a group, as they are when the object is made.

    Args:
        group: The group.
        parent: The group above, whose dimensions the group may use.
        names: The names of the axes of the file. The default is those of the group above, or new ones.
    """

    def __init__(self, group: Group, parent: "NetCDFGroup | None" = None, names: "AxisNames | None" = None) -> None:
        self.group = group
        self.parent = parent
        self._names: AxisNames = names or (AxisNames() if parent is None else parent._names)
        self.dimensions: dict[str, Dimension] = {}
        self.variables: dict[str, Variable] = {}
        self.groups: list[str] = []
        #: The names of the scales by the references to them. None stands for what is no dimension.
        # A file behind an external link has references of its own.
        near = parent is not None and group.file == parent.group.file
        self._scales: dict[Any, str | None] = parent._scales if parent is not None and near else {}
        self._read()

    def _read(self) -> None:
        datasets: dict[str, Dataset] = {}
        for name, member in self.group.items():
            if isinstance(member, Group):
                self.groups.append(name)
            elif isinstance(member, Dataset) and member.shape is not None:  # netCDF has no null dataspaces
                datasets[name] = member
        attributes = {name: _own_attributes(dataset) for name, dataset in datasets.items()}
        for name, dataset in datasets.items():
            own = attributes[name]
            if _text(own.get("CLASS")) == b"DIMENSION_SCALE" and dataset.shape:
                if dataset.file == self.group.file:
                    self._scales[dataset.ref] = name
                number = next((number for number in _numbers(own, _DIMENSION_ID) if number >= 0), None)
                coordinates = _coordinates(own, dataset)
                axis = coordinates.index(number) if number in coordinates else 0
                unlimited = dataset.maxshape is not None and dataset.maxshape[axis] is None
                self.dimensions[name] = Dimension(dataset.shape[axis], unlimited, number)
        for name, dataset in datasets.items():
            own = attributes[name]
            if name in self.dimensions and _text(own.get("NAME")).startswith(NOT_A_VARIABLE):
                continue
            self.variables[name] = Variable(dataset, self._dimensions_of(name, dataset, own))
        self._extend()

    def _dimensions_of(self, name: str, dataset: Dataset, own: "dict[str, Any]") -> "tuple[str, ...]":
        shape = dataset.shape or ()
        found: list[str | None] = [None] * len(shape)
        if name not in self.dimensions:
            listed = own.get("DIMENSION_LIST") if dataset.file == self.group.file else None
            for axis, references in enumerate(listed[: len(shape)] if isinstance(listed, np.ndarray) else ()):
                scales = map(self._scale_name, references if isinstance(references, np.ndarray) else ())
                found[axis] = next((scale for scale in scales if scale is not None), None)
        elif len(shape) == 1:
            return (name,)
        elif coordinates := _coordinates(own, dataset):
            dimensions = self.all_dimensions()
            known = {dim.number: other for other, dim in dimensions.items() if dim.number is not None}
            for axis, number in enumerate(coordinates):
                scale = known.get(number)
                if scale is not None and (dimensions[scale].is_unlimited or dimensions[scale].size == shape[axis]):
                    found[axis] = scale
        if None in found:
            names = self._names.of(self.group, name)
            for axis, scale in enumerate(found):
                if scale is None and names[axis] not in self.dimensions:
                    unlimited = dataset.maxshape is not None and dataset.maxshape[axis] is None
                    self.dimensions[names[axis]] = Dimension(shape[axis], unlimited)
            return tuple(names)
        return tuple(name for name in found if name is not None)

    def _scale_name(self, reference: Any) -> "str | None":
        """Returns the name of a scale, or None if the reference leads nowhere or to no dimension."""
        if not isinstance(reference, Reference):
            return None
        if reference not in self._scales:
            try:
                scale = self.group[reference]
            except (KeyError, ValueError, FormatError):
                scale = None
            is_dimension = isinstance(scale, Dataset) and scale.shape and scale.is_scale and scale.name is not None
            self._scales[reference] = scale.name.rsplit("/", 1)[-1] if is_dimension else None
        return self._scales[reference]

    def _extend(self) -> None:
        """Gives unlimited dimensions the length of their longest variable, as the netCDF library does."""
        for dataset, names in self.variables.values():
            for name, length in zip(names, dataset.shape or (), strict=True):
                known = self.dimensions.get(name)
                if known is not None and known.is_unlimited and known.size < length:
                    self.dimensions[name] = known._replace(size=length)

    def all_dimensions(self) -> "dict[str, Dimension]":
        """Returns the dimensions that variables of the group may use: also those of the groups above."""
        above = {} if self.parent is None else self.parent.all_dimensions()
        return above | self.dimensions

    def shape_of(self, variable: Variable) -> "tuple[int, ...]":
        """Returns the shape of a variable by its dimensions. It may be larger than the dataset."""
        known = self.all_dimensions()
        return tuple(
            known[name].size if name in known and known[name].is_unlimited else length
            for name, length in zip(variable.dimensions, variable.dataset.shape or (), strict=True)
        )


def open_group(file: File, path: "str | None", names: "AxisNames | None" = None) -> NetCDFGroup:
    """Returns the group at a path, with the groups above it."""
    found = NetCDFGroup(file, names=names)
    for name in (path or "").strip("/").split("/"):
        if name:
            if name not in found.group or not isinstance(found.group[name], Group):
                raise OSError(f"group not found: {name}")
            found = NetCDFGroup(found.group[name], found)
    return found


def require_group(file: File, path: str) -> None:
    """Creates the groups of a path that are missing. netCDF-4 changes groups only if they keep the order."""
    group: Group = file
    for name in path.strip("/").split("/"):
        if name:
            group = group.require_group(name) if name in group else group.create_group(name, track_order=True)


def walk(file: File, path: "str | None" = None) -> "Iterator[tuple[str, NetCDFGroup]]":
    """Yields the path and the group of each group at or below a path."""
    start = "/" + (path or "").strip("/")
    waiting = [(start, open_group(file, path))]
    while waiting:
        at, group = waiting.pop(0)
        yield at, group
        waiting += [(f"{at.rstrip('/')}/{name}", NetCDFGroup(group.group[name], group)) for name in group.groups]


def _own_attributes(dataset: Dataset) -> "dict[str, Any]":
    """Returns the attributes of a dataset that say how the file is made."""
    attributes = dataset.attrs
    return {name: attributes[name] for name in attributes if name in HIDDEN and name != "REFERENCE_LIST"}


def _numbers(own: "dict[str, Any]", name: str) -> "list[int]":
    """Returns the integers of an attribute, and none if it is missing or damaged."""
    found = np.asarray(own.get(name))
    return [int(number) for number in found.ravel()] if found.dtype.kind in "iu" else []


def _coordinates(own: "dict[str, Any]", dataset: Dataset) -> "list[int]":
    """Returns the numbers of the dimensions of a scale with several axes, if the file has them."""
    numbers = _numbers(own, _COORDINATES)
    return numbers if len(numbers) == dataset.ndim else []


def _text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value) if isinstance(value, bytes) else b""


def read_attributes(owner: "Dataset | Group") -> "dict[str, Any]":
    """Returns the attributes of an object as netCDF's libraries for Python show them."""
    found = {name: _shown(owner.attrs, name) for name in owner.attrs if name not in HIDDEN}
    # The netCDF library leaves out sequences. Here, only those that xarray would compare with each element.
    return {name: value for name, value in found.items() if name not in FILLS or not _is_sequences(owner, name)}


def _is_sequences(owner: "Dataset | Group", name: str) -> bool:
    return check_vlen_dtype(owner.attrs.get_id(name).dtype) not in (None, str, bytes)


def _shown(attributes: Any, name: str) -> Any:
    value = attributes[name]
    if isinstance(value, Empty):
        info = check_string_dtype(value.dtype)
        return "" if info is not None else np.array([], dtype=value.dtype)
    if isinstance(value, bytes):
        return _decoded(value, name)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "SO" and check_string_dtype(value.dtype) is not None:
            texts = [_decoded(item, name) if isinstance(item, bytes) else item for item in value.ravel().tolist()]
            return texts[0] if len(texts) == 1 else texts
        if value.size == 1 and value.ndim:
            return value.ravel()[0]
    return value


def _decoded(value: bytes, name: str) -> "str | bytes":
    """Returns bytes as text, but for those of `_FillValue` and `missing_value`, which are elements."""
    if name in FILLS and len(value) == 1:
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


# Writing


def mark_file(file: File) -> None:
    """Notes in a new file what wrote it."""
    if "_NCProperties" not in file.attrs:
        file.attrs["_NCProperties"] = np.bytes_(f"version=2,hyperslab={__version__}")


def write_attribute(owner: "Dataset | Group", name: str, value: Any) -> None:
    """Writes an attribute: a text as a string of variable length, numbers as one axis."""
    if name in HIDDEN:
        raise AttributeError(f"the attribute name {name!r} is reserved")
    array = np.asarray(value)
    if array.dtype.kind == "b":
        raise TypeError(f"the attribute {name!r} is a boolean, which netCDF-4 does not have: take an integer")
    if array.dtype.kind in "US" or isinstance(value, str):
        owner.attrs[name] = value if array.ndim == 0 else [str(item) for item in array.ravel().tolist()]
    else:
        owner.attrs[name] = np.atleast_1d(array)


def next_number(file: File) -> int:
    """Returns the number of the next dimension of a file."""
    numbers = [dim.number for _, group in walk(file) for dim in group.dimensions.values() if dim.number is not None]
    return max(numbers, default=-1) + 1


def make_scale(dataset: Dataset, number: int, name: "str | None" = None) -> None:
    """Makes a dataset the scale of a dimension: of the variable `name`, or of no variable."""
    dataset.attrs[_DIMENSION_ID] = np.int32(number)
    size = (dataset.shape or (0,))[0]
    dataset.make_scale(name if name is not None else NOT_A_VARIABLE + b"%10d" % size)


def create_dimension(group: Group, name: str, dimension: Dimension, number: int) -> Dataset:
    """Creates the scale of a dimension without a variable."""
    limits: dict[str, Any] = {}
    if dimension.is_unlimited:
        limits = {"maxshape": (None,), "chunks": (max(1, min(dimension.size or 1024, 1024)),)}
    made: Dataset = group.create_dataset(name, (dimension.size,), ">f4", track_order=True, **limits)
    make_scale(made, number)
    return made


def users(scale: Dataset) -> "list[tuple[Dataset, int]]":
    """Returns the datasets and axes that a scale is attached to. It may list others: a copied scale does."""
    found: list[tuple[Dataset, int]] = []
    listed = np.asarray(scale.attrs.get("REFERENCE_LIST", ()))
    for reference, axis in listed.ravel() if len(listed.dtype.names or ()) == 2 else ():
        try:
            user = scale.file[reference]
        except (KeyError, ValueError, FormatError):
            continue
        if isinstance(user, Dataset) and axis < user.ndim and scale in user.dims[int(axis)].values():
            found.append((user, int(axis)))
    return found


def attach(variable: Variable, scales: "dict[str, Dataset]") -> None:
    """Attaches the scales of its dimensions to a variable."""
    for axis, name in enumerate(variable.dimensions):
        variable.dataset.dims[axis].attach_scale(scales[name])


def enum_type(group: Group, name: str, dtype: "np.dtype[Any]") -> Datatype:
    """Returns the committed enumeration of a group, which is created if it does not exist.

    Raises:
        ValueError: The group has an enumeration of this name with other members.
    """
    members = check_enum_dtype(dtype)
    if name in group:
        found = group[name]
        if isinstance(found, Datatype) and check_enum_dtype(found.dtype) == members:
            return found
        raise ValueError(f"the enum {name!r} exists with other members: give one of the two another name")
    group[name] = dtype
    made: Datatype = group[name]
    return made


def enum_name(dataset: Dataset) -> "str | None":
    """Returns the name of the committed enumeration of a dataset, or None."""
    named = dataset.id._named_type
    return None if named is None or named.name is None else str(named.name.rsplit("/", 1)[-1])


def default_chunks(shape: "tuple[int, ...]", unlimited: "tuple[bool, ...]", itemsize: int) -> "tuple[int, ...]":
    """Returns chunks of about 1 MiB, whole along the last axes."""
    sides = [1 if grows else length for length, grows in zip(shape, unlimited, strict=True)]
    if all(unlimited):
        sides[-1] = 1024
    axis = 0
    while axis < len(sides) and math.prod(sides) * itemsize > 1 << 20:
        inner = math.prod(sides[axis + 1 :]) * itemsize
        sides[axis] = max(1, min(sides[axis], (1 << 20) // max(1, inner)))
        axis += 1
    return tuple(max(1, side) for side in sides)


def is_text(dtype: "np.dtype[Any]") -> bool:
    """Returns whether elements are strings of variable length."""
    return check_vlen_dtype(dtype) in (str, bytes)
