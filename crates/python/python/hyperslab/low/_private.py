"""Attributes of h5py's classes that are not for users, and that packages and tests use all the same."""

import contextlib
from typing import Any

from .._native import (
    AttributeManager,
    Dataset,
    ExternalLink,
    HLObject,
    SoftLink,
)
from ._selector import Reader

_NAMES = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 6: "scaleoffset", 32000: "lzf"}


def _filters(dataset: Any) -> "dict[str, Any]":
    """Returns the options of each filter by its name, or by its number as text."""
    found: dict[str, Any] = {}
    for code, _, values, _ in dataset.id.get_create_plist()._filters():
        name = _NAMES.get(code, str(code))
        found[name] = values[0] if name == "gzip" else None if name in ("fletcher32", "lzf", "shuffle") else values
    return found


def _encoded(_: Any, name: "str | bytes", lcpl: Any = None) -> Any:
    """Returns a name as bytes; with `lcpl`, also the property list of the link."""
    encoded = name if isinstance(name, bytes) else name.encode("utf-8")
    return encoded if lcpl is None else (encoded, None)


def _decoded(_: Any, name: "bytes | None") -> "str | None":
    """Returns a name as text."""
    return None if name is None else name.decode("utf-8", "surrogateescape")


def install() -> None:
    """Adds the attributes to the classes of the package."""
    added: dict[Any, dict[str, Any]] = {
        HLObject: {"_e": _encoded, "_d": _decoded},
        AttributeManager: {"_e": _encoded, "_d": _decoded},
        Dataset: {
            "_fast_reader": property(lambda dataset: Reader(dataset.id)),
            "_filters": property(_filters),
            "_dcpl": property(lambda dataset: dataset.id.get_create_plist()),
        },
        SoftLink: {"_path": property(lambda link: link.path)},
        ExternalLink: {
            "_path": property(lambda link: link.path),
            "_filename": property(lambda link: link.filename),
        },
    }
    for class_, attributes in added.items():
        for name, value in attributes.items():
            with contextlib.suppress(TypeError):
                setattr(class_, name, value)
