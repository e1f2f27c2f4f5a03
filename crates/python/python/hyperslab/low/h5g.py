"""Groups by their identifiers."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .._native import Dataset as _Dataset
from .._native import Datatype as _Datatype
from .._native import ExternalLink as _ExternalLink
from .._native import Group as _Group
from .._native import GroupID as _GroupID
from .._native import SoftLink as _SoftLink
from .._native import _link_facts, _object_facts
from . import h5l
from ._objects import check_way, missing_as, name_text, unsigned, unsupported
from ._plists import PropGCID

_T = TypeVar("_T")

UNKNOWN, GROUP, DATASET, TYPE, LINK = -1, 0, 1, 2, 3
LINK_ERROR, LINK_HARD, LINK_SOFT = -1, 0, 1
CRT_ORDER_TRACKED = 1


class GroupStat:
    """Facts about an object: which it is, how many links lead to it, and when it was changed."""

    def __init__(self, fileno: int, objno: int, nlink: int, type: int, mtime: int, linklen: int) -> None:
        self.fileno = (fileno & 0xFFFFFFFF, fileno >> 32)
        self.objno = (objno & 0xFFFFFFFF, objno >> 32)
        self.nlink = nlink
        self.type = type
        self.mtime = mtime
        self.linklen = linklen

    def _hash(self) -> int:
        return hash((self.fileno, self.objno, self.nlink, self.type, self.mtime, self.linklen))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GroupStat) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return self._hash()


class GroupIter:
    """An iterator over the names of the members of a group."""

    def __init__(self, group: "GroupID", reversed: bool = False) -> None:
        names = [name.encode() for name in group._object]
        self._names = iter(names[::-1] if reversed else names)

    def __next__(self) -> bytes:
        return next(self._names)

    def __iter__(self) -> "GroupIter":
        return self


class GroupMethods:
    """The methods of the identifiers of groups and of files."""

    _object: Any

    @property
    def links(self) -> "h5l.LinkProxy":
        """The links of the group."""
        return h5l.LinkProxy(self._object)

    def __contains__(self, name: "bytes | str") -> bool:
        return name_text(name) in self._object

    def __len__(self) -> int:
        return len(self._object)

    def __iter__(self) -> Iterator[bytes]:
        return iter([name.encode() for name in self._object])

    def __reversed__(self) -> Iterator[bytes]:
        return iter([name.encode() for name in reversed(self._object)])

    def link(self, current_name: bytes, new_name: bytes, link_type: int = LINK_HARD, remote: Any = None) -> None:
        """Makes a hard or a soft link at `new_name`."""
        target = self._object if remote is None else remote._object
        check_way(target, new_name, None, RuntimeError, "Unable to create link")
        if link_type == LINK_SOFT:
            target[name_text(new_name)] = _SoftLink(name_text(current_name))
        else:
            target[name_text(new_name)] = self._object[name_text(current_name)]

    def unlink(self, name: bytes) -> None:
        """Removes a link."""
        del self._object[name_text(name)]

    def move(self, current_name: bytes, new_name: bytes, remote: Any = None) -> None:
        """Gives a link another name."""
        if remote is not None and remote != self:
            raise unsupported("GroupID.move to another group", "name the new path from this group")
        check_way(self._object, new_name, None, ValueError, "Unable to move link")
        self._object.move(name_text(current_name), name_text(new_name))

    def get_num_objs(self) -> int:
        """Returns the number of members."""
        return len(self._object)

    def get_objname_by_idx(self, idx: int) -> bytes:
        """Returns the name of a member by its number."""
        try:
            return str(list(self._object)[unsigned(idx, "hsize_t")]).encode()
        except IndexError:
            raise RuntimeError(f"Can't get object name (there is no member {idx})") from None

    def get_objtype_by_idx(self, idx: int) -> int:
        """Returns the kind of a member by its number."""
        if idx >= len(self._object):
            raise TypeError(f"Can't get object info (there is no member {idx})")
        return int(get_objinfo(self, self.get_objname_by_idx(idx)).type)

    def get_linkval(self, name: bytes) -> bytes:
        """Returns the path of a soft link."""
        with missing_as(RuntimeError, "Can't get info for object"):
            _link_facts(self._object, name_text(name))
        found = self._object.get(name_text(name), getlink=True)
        if not isinstance(found, _SoftLink):
            raise ValueError("not a soft link")
        return found.path.encode()

    def get_create_plist(self) -> PropGCID:
        """Returns the properties that the group was created with."""
        from .h5p import create_list_of

        made: PropGCID = create_list_of(self._object)
        return made

    def get_comment(self, name: bytes = b".") -> bytes:
        """Returns the comment of an object."""
        from .h5o import get_comment

        return get_comment(self, name)

    def set_comment(self, name: bytes, comment: bytes) -> None:
        raise unsupported("GroupID.set_comment", "store the text in an attribute")


class GroupID(GroupMethods, _GroupID):
    """The identifier of a group."""


def open(loc: Any, name: "bytes | str", gapl: Any = None) -> Any:
    """Opens a group."""
    try:
        found = loc._object[name_text(name)]
    except KeyError as error:
        raise ValueError(f"Unable to open group ({error.args[0]})") from None
    if not isinstance(found, _Group):
        raise ValueError(f"Unable to open group (not a group: {name_text(name)!r})")
    return found.id


def create(loc: Any, name: "bytes | str | None", lcpl: Any = None, gcpl: "PropGCID | None" = None) -> Any:
    """Creates a group, without a link if `name` is None."""
    tracks = gcpl is not None and bool(gcpl.get_link_creation_order() or gcpl.get_attr_creation_order())
    check_way(loc._object, name, lcpl, ValueError, "Unable to synchronously create group")
    made = loc._object.create_group(None if name is None else name_text(name), track_order=tracks)
    return made.id


def iterate(
    loc: Any, func: "Callable[[bytes], _T | None]", startidx: int = 0, *, obj_name: bytes = b"."
) -> "_T | None":
    """Calls a function with the name of each member, until it returns something."""
    with missing_as(RuntimeError, "Error iterating over group's links"):
        group = loc._object if name_text(obj_name) == "." else loc._object[name_text(obj_name)]
    for name in list(group)[startidx:]:
        result = func(name.encode())
        if result is not None:
            return result
    return None


def _kind(found: Any) -> int:
    return DATASET if isinstance(found, _Dataset) else TYPE if isinstance(found, _Datatype) else GROUP


def get_objinfo(obj: Any, name: "bytes | str" = b".", follow_link: bool = True) -> GroupStat:
    """Returns facts about an object."""
    owner, text = obj._object, name_text(name)
    if not follow_link and text != ".":
        link = owner.get(text, getlink=True)
        if isinstance(link, _SoftLink | _ExternalLink):
            return GroupStat(0, 0, 0, LINK, 0, len(_link_facts(owner, text)[3]) + 1)
    with missing_as(RuntimeError, "Can't get info for object"):
        found = owner if text == "." else owner[text]
    address, _, links, _, modified, _, _ = _object_facts(found)
    return GroupStat(abs(hash(found.file)) & 0xFFFFFFFFFFFFFFFF, address, links, _kind(found), modified or 0, 0)


def _path_valid(group: Any, path: "bytes | str", lapl: Any = None) -> bool:
    """Returns whether a path leads to an object."""
    try:
        group._object[name_text(path)]
    except KeyError:
        return False
    return True
