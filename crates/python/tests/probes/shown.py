"""Shows a value as text that is the same for h5py and for hyperslab if a user sees no difference."""

import inspect
import re

import h5py
import numpy as np

_PLACE = re.compile(r" at (0x[0-9a-f]+|[0-9]{9,})")
_PLAIN = re.compile(r"<[\w.]*?(\w+) object>")
_CLASS = re.compile(r"<(class|enum|function|built-in function|method) '?[\w.]+?(\w+)'?>")


def text_of(text):
    """Returns a text without places in memory, and without the modules of classes."""
    return _CLASS.sub(r"<\1 \2>", _PLAIN.sub(r"<\1>", _PLACE.sub("", text)))


def dtype_of(dtype):
    """Returns a dtype with its fields, their offsets, and its metadata."""
    if dtype.subdtype is not None:
        return f"{dtype_of(dtype.subdtype[0])}{list(dtype.shape)}"
    if dtype.names is not None:
        fields = [f"{name}@{dtype.fields[name][1]}: {dtype_of(dtype.fields[name][0])}" for name in dtype.names]
        return f"{{{', '.join(fields)}; {dtype.itemsize}}}"
    if dtype.metadata:
        known = [f"{key}={shown(value)}" for key, value in sorted(dtype.metadata.items())]
        return f"{dtype.str}({', '.join(known)})"
    return dtype.str


def shown(value):
    """Returns a text for a value."""
    if isinstance(value, np.dtype):
        return f"dtype {dtype_of(value)}"
    if isinstance(value, np.ndarray):
        return f"array {dtype_of(value.dtype)} {list(value.shape)} {shown(value.astype(str).tolist() if value.dtype.char in 'gG' else value.tolist())}"
    if isinstance(value, np.generic):
        plain = str(value) if value.dtype.kind in "fc" else shown(value.item())
        return f"{type(value).__name__} {dtype_of(value.dtype)} {plain}"
    if isinstance(value, type):
        return f"class {value.__name__}"
    if isinstance(value, dict):
        return f"{type(value).__name__} {{{', '.join(f'{shown(k)}: {shown(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple) and type(value) is not tuple:
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__} {sorted(map(shown, value))}"
    if isinstance(value, h5py.Empty):
        return f"Empty {dtype_of(value.dtype)}"
    if inspect.isroutine(value):
        return f"routine {value.__name__}"
    return text_of(repr(value))
