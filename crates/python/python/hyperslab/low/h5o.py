"""Objects of any kind."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .._native import ExternalLink as _ExternalLink
from .._native import File as _File
from .._native import Group as _Group
from .._native import HLObject, _object_facts
from .._native import SoftLink as _SoftLink
from ._access import PropCopyID
from ._objects import check_way, missing_as, name_text, unsupported

_T = TypeVar("_T")

TYPE_GROUP, TYPE_DATASET, TYPE_NAMED_DATATYPE = 0, 1, 2
COPY_SHALLOW_HIERARCHY_FLAG, COPY_EXPAND_SOFT_LINK_FLAG, COPY_EXPAND_EXT_LINK_FLAG = 1, 2, 4
COPY_EXPAND_REFERENCE_FLAG, COPY_WITHOUT_ATTR_FLAG, COPY_PRESERVE_NULL_FLAG = 8, 16, 32


class _Header(NamedTuple):
    version: int
    nmesgs: int
    nchunks: int
    flags: int = 0


class ObjInfo(NamedTuple):
    """Facts about an object: where it is, its kind, its number of links, its times and its attributes."""

    fileno: int
    addr: int
    type: int
    rc: int
    atime: int
    mtime: int
    ctime: int
    btime: int
    num_attrs: int
    hdr: _Header


def _at(loc: Any, name: "bytes | str") -> Any:
    owner, text = loc._object, name_text(name)
    return owner if text == "." else owner[text]


def _facts(found: HLObject) -> ObjInfo:
    address, kind, links, header, modified, _, attributes = _object_facts(found)
    time = modified or 0
    number = abs(hash(found.file)) & 0xFFFFFFFF
    return ObjInfo(number, address, kind, links, time, time, time, time, attributes, _Header(*header))


def open(loc: Any, name: "bytes | str", lapl: Any = None) -> Any:
    """Opens an object of any kind."""
    prefix = b"" if lapl is None else lapl.get_elink_prefix()
    found = _behind(loc._object, name_text(name), os.fsdecode(prefix), lapl.get_nlinks()) if prefix else None
    return (_at(loc, name) if found is None else found).id


def _behind(group: Any, path: str, prefix: str, links: int) -> "HLObject | None":
    """Returns the object at a path if the path leads to a file in the folder `prefix`, else None."""
    way = path.split("/") if isinstance(group, _Group) and links > 0 else []
    for number in range(1, len(way) + 1):
        link, rest = group.get("/".join(way[:number]) or "/", getlink=True), "/".join(way[number:])
        if isinstance(link, _SoftLink):
            # From the group of the link on, if the path of the link does not begin with "/".
            start = "".join(f"{part}/" for part in way[: number - 1]) if not link.path.startswith("/") else ""
            return _behind(group, f"{start}{link.path}/{rest}".rstrip("/"), prefix, links - 1)
        if isinstance(link, _ExternalLink):
            file_name = os.path.join(prefix, link.filename)
            if not os.path.exists(file_name):
                return None
            file, target = _File(file_name, group.file.mode), f"{link.path}/{rest}" if rest else link.path
            return _behind(file, target, prefix, links - 1) or file[target]
    return None


def link(obj: Any, loc: Any, name: "bytes | str", lcpl: Any = None, lapl: Any = None) -> None:
    """Makes a hard link to an object."""
    check_way(loc._object, name, lcpl, OSError, "Unable to create link")
    loc._object[name_text(name)] = obj._object


def copy(
    src_loc: Any,
    src_name: "bytes | str",
    dst_loc: Any,
    dst_name: "bytes | str",
    copypl: "PropCopyID | None" = None,
    lcpl: Any = None,
) -> None:
    """Copies an object, also into another file."""
    flags = 0 if copypl is None else copypl.get_copy_object()
    failed = "Unable to synchronously copy object"
    with missing_as(RuntimeError, failed):
        source, target = _at(src_loc, src_name), dst_loc._object
    check_way(target, dst_name, lcpl, RuntimeError, failed)
    source_group = source if isinstance(source, _Group) else source.parent
    source_group.copy(
        source,
        target,
        name=name_text(dst_name),
        shallow=bool(flags & COPY_SHALLOW_HIERARCHY_FLAG),
        expand_soft=bool(flags & COPY_EXPAND_SOFT_LINK_FLAG),
        expand_external=bool(flags & COPY_EXPAND_EXT_LINK_FLAG),
        expand_refs=bool(flags & COPY_EXPAND_REFERENCE_FLAG),
        without_attrs=bool(flags & COPY_WITHOUT_ATTR_FLAG),
    )


def get_info(
    loc: Any,
    name: "bytes | str | None" = None,
    index: int = -1,
    *,
    obj_name: bytes = b".",
    index_type: int = 0,
    order: int = 0,
    lapl: Any = None,
) -> ObjInfo:
    """Returns facts about an object, by its name or its number in a group."""
    if name is not None and index >= 0:
        raise ValueError("At most one of name or index may be specified")
    with missing_as(RuntimeError, "Can't get deprecated info for object"):
        found = _at(loc, obj_name if name is None else name)
        if index < 0:
            return _facts(found)
        names = list(found)
        if index >= len(names):
            raise KeyError(f"there is no member {index}")
        return _facts(found[names[index]])


def exists_by_name(loc: Any, name: "bytes | str", lapl: Any = None) -> bool:
    """Returns whether a path leads to an object."""
    try:
        _at(loc, name)
    except KeyError:
        return False
    return True


def get_comment(loc: Any, name: "bytes | str" = b".", *, obj_name: bytes = b".", lapl: Any = None) -> bytes:
    """Returns the comment of an object, which is empty if it has none."""
    comment = _object_facts(_at(loc, name))[5]
    return (comment or "").encode()


def set_comment(loc: Any, comment: bytes, *, obj_name: bytes = b".", lapl: Any = None) -> None:
    raise unsupported("h5o.set_comment", "store the text in an attribute")


def visit(
    loc: Any,
    func: "Callable[..., _T | None]",
    *,
    idx_type: int = 0,
    order: int = 0,
    obj_name: bytes = b".",
    lapl: Any = None,
    info: bool = False,
) -> "_T | None":
    """Calls a function with the path of each object below a group, until it returns something."""
    with missing_as(RuntimeError, "Object visitation failed"):
        group = _at(loc, obj_name)
    if not isinstance(group, _Group):
        return None

    def each(path: str, found: Any) -> "_T | None":
        return func(path.encode(), _facts(found)) if info else func(path.encode())

    result: _T | None = group.visititems(each)
    return result
