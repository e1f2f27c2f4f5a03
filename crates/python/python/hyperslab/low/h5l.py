"""The links of a group."""

from collections.abc import Callable
from typing import Any, TypeVar

from .._native import ExternalLink as _ExternalLink
from .._native import SoftLink as _SoftLink
from .._native import _link_facts
from ._objects import check_way, missing_as, name_text
from ._plists import PropLCID

_T = TypeVar("_T")

TYPE_HARD, TYPE_SOFT, TYPE_EXTERNAL = 0, 1, 64


class LinkInfo:
    """Facts about a link: its kind, its place in the order of creation, and the character set of its name."""

    def __init__(self, kind: int, order: "int | None", is_utf8: bool, target: Any) -> None:
        self.type = kind
        self.corder_valid = order is not None
        self.corder = order or 0
        self.cset = int(is_utf8)
        self._target = target

    @property
    def u(self) -> int:
        """The address of the object, or the length of the value of a soft or external link."""
        return int(self._target) if self.type == TYPE_HARD else len(self._target) + 1


class LinkProxy:
    """The links of a group."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.id = group.id.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinkProxy) and self._group == other._group

    def __hash__(self) -> int:
        return hash(self._group)

    def create_hard(
        self, new_name: bytes, cur_loc: Any, cur_name: bytes, lcpl: "PropLCID | None" = None, lapl: Any = None
    ) -> None:
        """Creates a hard link to the object at a path."""
        check_way(self._group, new_name, lcpl, OSError, "Unable to synchronously create hard link")
        with missing_as(OSError, "Unable to synchronously create hard link"):
            found = cur_loc._object[name_text(cur_name)]
        self._group[name_text(new_name)] = found

    def create_soft(self, new_name: bytes, target: bytes, lcpl: "PropLCID | None" = None, lapl: Any = None) -> None:
        """Creates a soft link."""
        check_way(self._group, new_name, lcpl, OSError, "Unable to synchronously create soft link")
        self._group[name_text(new_name)] = _SoftLink(name_text(target))

    def create_external(
        self, link_name: bytes, file_name: bytes, obj_name: bytes, lcpl: "PropLCID | None" = None, lapl: Any = None
    ) -> None:
        """Creates an external link."""
        check_way(self._group, link_name, lcpl, RuntimeError, "Unable to create external link")
        self._group[name_text(link_name)] = _ExternalLink(name_text(file_name), name_text(obj_name))

    def get_val(self, name: bytes, lapl: Any = None) -> Any:
        """Returns the path of a soft link, or the file and the path of an external link."""
        kind, _, _, target = _link_facts(self._group, name_text(name))
        if kind == TYPE_HARD:
            raise TypeError("Link must be either a soft or external link")
        return tuple(target.split(b"\0")) if kind == TYPE_EXTERNAL else target

    def move(self, src_name: bytes, dst_loc: Any, dst_name: bytes, lcpl: Any = None, lapl: Any = None) -> None:
        """Moves a link, also to another group of the file."""
        old, new = name_text(src_name), name_text(dst_name)
        if dst_loc is self or dst_loc == self or not new.startswith("/"):
            target = getattr(dst_loc, "_group", None) or dst_loc._object
            new = new if target == self._group else f"{target.name.rstrip('/')}/{new}"
        check_way(self._group, new, lcpl, ValueError, "Unable to move link")
        self._group.move(old, new)

    def exists(self, name: bytes, lapl: Any = None) -> bool:
        """Returns whether there is a link."""
        check_way(self._group, name, None, RuntimeError, "Unable to synchronously check link existence")
        return name_text(name) in self._group

    def get_info(self, name: bytes, index: int = -1, *, lapl: Any = None) -> LinkInfo:
        """Returns facts about a link."""
        try:
            return LinkInfo(*_link_facts(self._group, name_text(name)))
        except KeyError as error:
            raise RuntimeError(error.args[0]) from None

    def _names(self, index_type: int, order: int) -> "list[str]":
        names = list(self._group)
        if index_type == 0:
            names.sort()
        return names[::-1] if order == 1 else names

    def iterate(
        self,
        func: "Callable[..., _T | None]",
        *,
        obj_name: bytes = b".",
        index_type: int = 0,
        order: int = 0,
        ssize: int = 0,
        lapl: Any = None,
        info: bool = False,
    ) -> "_T | None":
        """Calls a function with the name of each link, until it returns something."""
        at = self if name_text(obj_name) == "." else LinkProxy(self._group[name_text(obj_name)])
        for name in at._names(index_type, order):
            encoded = name.encode()
            result = func(encoded, at.get_info(encoded)) if info else func(encoded)
            if result is not None:
                return result
        return None

    def visit(
        self,
        func: "Callable[..., _T | None]",
        *,
        info: bool = False,
        obj_name: bytes = b".",
        index_type: int = 0,
        order: int = 0,
        lapl: Any = None,
    ) -> "_T | None":
        """Calls a function with the path of each link below the group, until it returns something."""
        group = self._group if name_text(obj_name) == "." else self._group[name_text(obj_name)]

        def each(path: str) -> "_T | None":
            encoded = path.encode()
            return func(encoded, LinkInfo(*_link_facts(group, path))) if info else func(encoded)

        found: _T | None = group.visit_links(each)
        return found
