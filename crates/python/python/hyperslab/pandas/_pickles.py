"""Reads pickles of plain values, without `pickle`: nothing is imported or called by a name of the file.

PyTables pickles attributes that HDF5 has no datatype for, and pandas pickles arrays of Python objects.
`loads` interprets the instructions of such a pickle itself. A name in the pickle is looked up in a table of
values that this module makes: NumPy's scalars and arrays, dates, and pandas' timestamps and frequencies. Any
other name is an error.
"""

import datetime
import math
import pickletools
import re
import zoneinfo
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.tseries import offsets

# The dtypes of values in pickles: numbers, strings, dates and Python objects.
_DTYPE = re.compile(r"[<>|=]?([biufcSUOMm])(\d{0,9})")
_MARK = object()


class PickleError(ValueError):
    """A pickle is damaged, or holds a value that is not read."""


class _Name:
    """A name in a pickle: a value of the table `_NAMES`, or a frequency of pandas."""

    def __init__(self, name: str) -> None:
        self.name = name

    def call(self, arguments: Any) -> Any:
        function = _NAMES.get(self.name)
        if not isinstance(arguments, tuple) or not callable(function):
            raise PickleError(f"{self.name} is used in a way that plain values are not")
        return function(*arguments)


class _Array:
    """An array before its state is set: `BUILD` gives shape, dtype and elements."""

    def __init__(self, *_arguments: Any) -> None:
        self.found: np.ndarray[Any, Any] | None = None

    def build(self, state: Any) -> None:
        _version, shape, dtype, is_fortran, elements = state
        # Objects are listed in C order, whatever the order of the array is.
        order: Any = "F" if is_fortran and not isinstance(elements, list) else "C"
        if isinstance(elements, list):
            self.found = np.empty(len(elements), dtype=object)
            for index, element in enumerate(elements):
                self.found[index] = element
        else:
            elements = elements.encode("latin1") if isinstance(elements, str) else elements
            self.found = np.frombuffer(elements, _checked(dtype)).copy()
        if math.prod(shape) != self.found.size:
            raise PickleError(f"an array of shape {shape} has {self.found.size} elements")
        self.found = self.found.reshape(shape, order=order)


class _Dtype:
    """A dtype before its state is set: `BUILD` gives the byte order and the unit of dates."""

    def __init__(self, name: Any, *_arguments: Any) -> None:
        if not isinstance(name, str) or not _DTYPE.fullmatch(name):
            raise PickleError(f"dtype {name!r} is not one of plain values")
        self.found: np.dtype[Any] = np.dtype(name)

    def build(self, state: Any) -> None:
        order = state[1]
        if order not in ("<", ">", "|", "="):
            raise PickleError(f"a dtype has the byte order {order!r}")
        if self.found.kind in "mM" and len(state) > 8:
            unit, count = state[8][-1][:2]
            unit = unit.decode("ascii") if isinstance(unit, bytes) else unit
            self.found = np.dtype(f"{self.found.kind}8[{int(count)}{unit}]")
        self.found = self.found.newbyteorder(order)


def loads(pickled: bytes) -> Any:
    """Returns the value of a pickle.

    Args:
        pickled: The pickle, of any protocol.

    Raises:
        PickleError: The pickle is damaged, or holds a value that is not read: an object of another class.
    """
    try:
        return _value(_run(pickled))
    except PickleError:
        raise
    except Exception as error:
        # The instructions of a damaged pickle are used on values of any type.
        raise PickleError(f"damaged pickle: {error}") from error


def _run(pickled: bytes) -> Any:
    stack: list[Any] = []
    memo: dict[int, Any] = {}

    def from_mark() -> "list[Any]":
        place = len(stack) - 1
        while stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise PickleError("damaged pickle: an instruction lacks its mark")
        items = stack[place + 1 :]
        del stack[place:]
        return items

    for opcode, given, position in pickletools.genops(pickled):
        name, argument = opcode.name, cast(Any, given)
        if name in _PLAIN:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in ("PROTO", "FRAME"):
            pass
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "APPEND":
            item = stack.pop()
            _checked_type(stack[-1], list).append(_value(item))
        elif name == "APPENDS":
            items = from_mark()
            _checked_type(stack[-1], list).extend(map(_value, items))
        elif name in ("SETITEM", "SETITEMS"):
            items = from_mark() if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            values = [_value(item) for item in items]
            _checked_type(stack[-1], dict).update(zip(values[::2], values[1::2], strict=True))
        elif name == "ADDITEMS":
            items = from_mark()
            _checked_type(stack[-1], set).update(map(_value, items))
        elif name in _FROM_MARK:
            stack.append(_FROM_MARK[name]([_value(item) for item in from_mark()]))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            if len(stack) < count:
                raise PickleError("damaged pickle: a tuple lacks its items")
            items = stack[-count:]
            del stack[-count:]
            stack.append(tuple(_value(item) for item in items))
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            if name == "STACK_GLOBAL":
                last, first = stack.pop(), stack.pop()
                argument = f"{first} {last}"
            stack.append(_named(argument))
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, function = stack.pop(), stack.pop()
            stack.append(_checked_type(function, _Name).call(arguments))
        elif name == "BUILD":
            state = stack.pop()
            _checked_type(stack[-1], _Array | _Dtype).build(state)
        elif name == "STOP":
            if len(stack) != 1:
                raise PickleError("damaged pickle: it ends with several values")
            return stack[0]
        elif name in ("POP", "POP_MARK", "DUP"):
            raise PickleError(f"pickle with the instruction {name}, which no pickle of plain values has")
        else:
            raise PickleError(f"pickle with the instruction {name} at byte {position}: its value is not plain")
    raise PickleError("damaged pickle: it does not end")


def _value(item: Any) -> Any:
    """Returns the value of an item of the stack: a name that is a value, a finished array or dtype."""
    if isinstance(item, _Array | _Dtype):
        if item.found is None:
            raise PickleError("damaged pickle: an array has no elements")
        return item.found
    if isinstance(item, _Name) and item.name in _VALUES:
        return _VALUES[item.name]
    if item is _MARK:
        raise PickleError("damaged pickle: a mark is used as a value")
    return item


def _checked_type(item: Any, kind: Any) -> Any:
    if not isinstance(item, kind):
        raise PickleError(f"damaged pickle: a {type(item).__name__} is used as another type")
    return item


def _checked(dtype: Any) -> "np.dtype[Any]":
    if not isinstance(dtype, np.dtype) or dtype.hasobject:
        raise PickleError(f"{dtype!r} is not a dtype of plain elements")
    return dtype


def _named(argument: str) -> _Name:
    module, _, name = argument.partition(" ")
    full = f"{_RENAMED.get(module, module)} {name}"
    if full not in _NAMES and full not in _VALUES:
        raise PickleError(f"pickle of an object of {module}.{name}: only plain values are read, without unpickling")
    return _Name(full)


def _scalar(dtype: Any, elements: Any = b"") -> Any:
    if isinstance(dtype, np.dtype) and dtype.itemsize == 0:
        return dtype.type()
    return np.frombuffer(elements, _checked(dtype), count=1)[0]


def _from_buffer(elements: Any, dtype: Any, shape: Any, order: str) -> "np.ndarray[Any, Any]":
    return np.frombuffer(elements, _checked(dtype)).reshape(shape, order="F" if order == "F" else "C").copy()


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise PickleError(f"bytes in the encoding {encoding!r}")
    return text.encode("latin1")


def _timestamp(value: int, freq: Any, tz: Any, unit: int = 10) -> Any:
    found = pd.Timestamp(np.datetime64(value, _UNITS[unit]))
    return found if tz is None else found.tz_localize("UTC").tz_convert(tz)


def _getattr(owner: Any, name: str) -> _Name:
    if isinstance(owner, _Name) and owner.name == "zoneinfo ZoneInfo" and name == "_unpickle":
        return owner
    raise PickleError(f"pickle that takes the attribute {name!r} of an object")


# The names of modules in other versions.
_RENAMED = {
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
    "__builtin__": "builtins",
    "pandas.tseries.offsets": "pandas._libs.tslibs.offsets",
}
# The units of timestamps in pandas' pickles, by number.
_UNITS: dict[int, Any] = {7: "s", 8: "ms", 9: "us", 10: "ns"}
_VALUES: "dict[str, Any]" = {"pandas NA": pd.NA, "pandas._libs.missing NA": pd.NA}
_NAMES: "dict[str, Callable[..., Any] | None]" = {
    "numpy._core.multiarray _reconstruct": _Array,
    "numpy._core.multiarray scalar": _scalar,
    "numpy._core.numeric _frombuffer": _from_buffer,
    "numpy dtype": _Dtype,
    "numpy ndarray": None,
    "_codecs encode": _encoded,
    "builtins getattr": _getattr,
    "builtins set": set,
    "builtins frozenset": frozenset,
    "builtins bytearray": bytes,
    "datetime date": datetime.date,
    "datetime datetime": datetime.datetime,
    "datetime time": datetime.time,
    "datetime timedelta": datetime.timedelta,
    "datetime timezone": datetime.timezone,
    "zoneinfo ZoneInfo": lambda key, _from_cache=True: zoneinfo.ZoneInfo(key),
    "pytz _p": lambda name, *_offsets: pd.DatetimeTZDtype(tz=name).tz,
    "pytz _UTC": lambda: pd.DatetimeTZDtype(tz="UTC").tz,
    "pytz FixedOffset": lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)),
    "pandas Period": lambda value, freq, ordinal: pd.Period(ordinal=ordinal, freq=freq),
    "pandas._libs.tslibs.period Period": lambda value, freq, ordinal: pd.Period(ordinal=ordinal, freq=freq),
    "pandas._libs.tslibs.nattype _nat_unpickle": lambda *_arguments: pd.NaT,
    "pandas._libs.tslibs.nattype __nat_unpickle": lambda *_arguments: pd.NaT,
    "pandas._libs.tslibs.period _period_unpickle": lambda ordinal, freq: pd.Period(ordinal=ordinal, freq=freq),
    "pandas._libs.tslibs.timestamps _unpickle_timestamp": _timestamp,
    "pandas._libs.tslibs.timedeltas _timedelta_unpickle": lambda value, unit=10: pd.Timedelta(
        np.timedelta64(value, _UNITS[unit])
    ),
    **{f"pandas._libs.tslibs.offsets {name}": getattr(offsets, name) for name in offsets.__all__},
}
_PLAIN = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"} | {
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": _MARK, "EMPTY_TUPLE": ()}
_EMPTY: "dict[str, Callable[[], Any]]" = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_FROM_MARK: "dict[str, Callable[[list[Any]], Any]]" = {
    "LIST": list,
    "TUPLE": tuple,
    "FROZENSET": frozenset,
    "DICT": lambda items: dict(zip(items[::2], items[1::2], strict=True)),
}
