"""Attributes as PyTables and pandas use them: plain values in HDF5's datatypes, all others pickled."""

import pickle
from typing import Any

import numpy as np

from .._dtypes import check_string_dtype
from .._native import AttributeManager, Empty, HLObject
from .._pytables import set_text
from ._pickles import PickleError, loads

_MISSING = object()


def attribute(node: HLObject, name: str, default: Any = None) -> Any:
    """Returns an attribute as a Python value.

    Raises:
        ValueError: The attribute is a pickle of a value that is not read without unpickling.
    """
    found = node.attrs.get(name, _MISSING)
    if found is _MISSING:
        return default
    if isinstance(found, Empty):
        return ""
    if isinstance(found, bytes):
        is_text = check_string_dtype(node.attrs.get_id(name).dtype)
        if (is_text is None or is_text.encoding == "ascii") and found.endswith(b"."):
            try:
                return loads(bytes(found))
            except PickleError as error:
                raise PickleError(f"attribute {name} of {node.name!r}: {error}") from None
        return found.decode("utf-8")
    return found.item() if isinstance(found, np.generic) else found


def set_attribute(attrs: AttributeManager, name: str, value: Any) -> None:
    """Writes an attribute as PyTables does. Values that HDF5 has no datatype for are pickled."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        set_text(attrs, name, value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and not -(2**63) > value and not value >= 2**63:
        attrs[name] = np.array(value)[()]
    else:
        attrs.create(name, np.bytes_(pickle.dumps(value, 0)))
