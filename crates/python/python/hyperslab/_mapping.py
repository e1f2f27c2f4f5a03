"""Mappings: views of groups and attributes, like those of `dict`, and methods that change a mapping."""

from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, Reversible, ValuesView
from typing import Any, Protocol, cast


class _Named(Protocol):
    """The methods that a view calls on a group or on attributes."""

    def __getitem__(self, name: str, /) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: Any, /) -> bool: ...
    def __reversed__(self) -> Iterator[str]: ...
    def get(self, name: str, /) -> Any: ...


# The methods of a mutable mapping, which the native classes call.
setdefault = MutableMapping.setdefault
update = MutableMapping.update
equal = Mapping.__eq__


def clear(self: Any) -> None:
    """Removes all members."""
    # Not one after the other until there is none: a file open for reading raises KeyError, too.
    for name in list(self):
        # The indexes of a table go with it.
        if name in self:
            del self[name]


def pop(self: Any, key: str, default: Any = ...) -> Any:
    """Removes a member and returns it, or returns ``default`` if there is none."""
    try:
        value = self[key]
    except KeyError:
        if default is ...:
            raise
        return default
    del self[key]
    return value


def popitem(self: Any) -> tuple[str, Any]:
    """Removes the first member and returns its name and the member."""
    name = next(iter(self), None)
    if name is None:
        raise KeyError("popitem(): nothing is left")
    return name, pop(self, name)


class KeysViewHDF5(KeysView[str], Reversible[str]):
    """The names of the members of a group, or of the attributes of an object.

    Example:
        >>> list(file.keys())
        ['names', 'stations', 'surface']
    """

    _mapping: _Named

    def __init__(self, mapping: _Named) -> None:
        super().__init__(cast(Mapping[str, Any], mapping))

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._mapping)

    def __repr__(self) -> str:
        return f"<KeysViewHDF5 {list(self)}>"

    __str__ = __repr__


class ValuesViewHDF5(ValuesView[Any], Reversible[Any]):
    """The members of a group, or the values of the attributes of an object.

    A link that leads nowhere gives None.

    Example:
        >>> list(dataset.attrs.values())
        [np.float64(1.5), 'K']
    """

    _mapping: _Named

    def __init__(self, mapping: _Named) -> None:
        super().__init__(cast(Mapping[str, Any], mapping))

    def __contains__(self, value: object) -> bool:
        return any(value == self._mapping.get(name) for name in self._mapping)

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping.get(name) for name in self._mapping)

    def __reversed__(self) -> Iterator[Any]:
        return (self._mapping.get(name) for name in reversed(self._mapping))


class ItemsViewHDF5(ItemsView[str, Any], Reversible[tuple[str, Any]]):
    """Pairs of name and member of a group, or of name and value of the attributes of an object.

    Example:
        >>> dict(dataset.attrs.items())
        {'scale': np.float64(1.5), 'units': 'K'}
    """

    _mapping: _Named

    def __init__(self, mapping: _Named) -> None:
        super().__init__(cast(Mapping[str, Any], mapping))

    def __contains__(self, item: object) -> bool:
        name, value = cast(tuple[str, Any], item)
        return name in self._mapping and bool(value == self._mapping.get(name))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._mapping.get(name)) for name in self._mapping)

    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._mapping.get(name)) for name in reversed(self._mapping))
