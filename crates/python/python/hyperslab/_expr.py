"""Expressions over arrays that may be larger than memory."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._columns import Column
from ._native import Dataset, _Calculation, _check_operand, _keeping_rows, _names_of
from ._table import Table

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

T = TypeVar("T")


class Expr:
    """An expression over datasets, columns of tables, arrays and scalars.

    Parts of the operands are read, computed and written by several threads, so that an operand may be larger
    than memory. The types of results are NumPy's, and operands are broadcast as in NumPy.

    The operators are those of Python, with `&`, `|` and `~` for truth values. The functions are those of
    numexpr and some more, and the reductions `sum`, `mean`, `min`, `max`, `prod`, `any`, `all`, `std`, `var`,
    `argmin` and `argmax` take `axis`, `keepdims` and `ddof`.

    Args:
        expr: The expression.
        uservars: The values of names. Names that are neither here nor in `operands` are variables of the
            caller.
        operands: More values of names: a dataset, a column of a table, an array or a scalar.

    Raises:
        ValueError: The expression has an error, or operands have shapes that do not fit.
        NameError: A name has no value.
        TypeError: An operand is not one of those above.

    Example:
        >>> expr = hs.Expr("2*t + 1", t=dataset)
        >>> expr.shape, expr.dtype
        ((4, 2, 3), dtype('float32'))
        >>> expr.eval()[0]
        array([[ 1.,  3.,  5.],
               [ 7.,  9., 11.]], dtype=float32)
        >>> hs.Expr("max(t) - mean(t)", t=dataset).eval()
        np.float32(11.5)
    """

    def __init__(self, expr: str, /, uservars: "Mapping[str, Any] | None" = None, **operands: Any) -> None:
        if not isinstance(expr, str):
            raise TypeError(f"expr must be a string such as '2*a + b', not {type(expr).__name__}")
        scopes: list[Mapping[str, Any]] = [operands, uservars or {}]
        frame = sys._getframe(1)
        self._text = expr
        self._operands = {name: _operand(name, _value(name, scopes, frame)) for name in _names_of(expr)}
        del frame
        self._outline()

    def _calculation(self, rows: "tuple[int, int, int] | None") -> _Calculation:
        return _Calculation(self._text, self._operands, rows)

    def _outline(self) -> "tuple[tuple[int, ...], np.dtype[Any]]":
        shape, dtype = self._keeping_rows(lambda: self._calculation(None).outline())
        return shape, np.dtype(dtype)

    @property
    def expr(self) -> str:
        """The text of the expression.

        Example:
            >>> hs.Expr("2*t", t=1).expr
            '2*t'
        """
        return self._text

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result.

        Example:
            >>> hs.Expr("sum(t, axis=0)", t=dataset).shape
            (2, 3)
        """
        return self._outline()[0]

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of the result.

        Example:
            >>> hs.Expr("t > 3", t=dataset).dtype
            dtype('bool')
        """
        return self._outline()[1]

    def eval(
        self,
        out: "Dataset | NDArray[Any] | None" = None,
        *,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        append: bool = False,
    ) -> Any:
        """Computes the expression.

        `start`, `stop` and `step` select rows of the operands, along the first axis of their common shape. An
        operand that is broadcast along this axis is used as it is.

        Args:
            out: Where the result goes: an array or a dataset of the shape of the result. A dataset that has
                all rows where the result has those of `start`, `stop` and `step` takes them at the same
                places. Results are cast to its dtype if NumPy's `same_kind` allows.
            start: The first row.
            stop: The row after the last one.
            step: Take every `step`-th row; at least 1.
            append: Whether the result becomes new rows at the end of the dataset `out`.

        Returns:
            `out`, or a new array. A result without axes is a scalar.

        Raises:
            ValueError: The shapes do not fit, or there is no operand with elements for a reduction.
            TypeError: The result cannot be cast to the dtype of `out`, or an operation has no meaning.
            OSError: The file of `out` is open for reading.

        Example:
            >>> t = dataset
            >>> hs.Expr("t - mean(t, axis=0)", t=t).eval(start=0, stop=2)[0, 0]
            array([-3., -3., -3.], dtype=float32)
            >>> r = file.create_dataset("result", (4, 2, 3), "f8", chunks=(1, 2, 3), maxshape=(None, 2, 3))
            >>> hs.Expr("t * t", t=t).eval(out=r) is r
            True
            >>> hs.Expr("-t", t=t).eval(out=r, start=1, stop=2, append=True).shape
            (5, 2, 3)
            >>> r[3:, 1, 2]
            array([529., -11.])
        """
        if out is not None and not isinstance(out, Dataset | np.ndarray):
            raise TypeError(f"out must be a dataset or an array, not {type(out).__name__}")
        return self._keeping_rows(partial(self._eval, out, (start, stop, step), append))

    def _keeping_rows(self, call: "Callable[[], T]") -> "T":
        """Calls `call` while no other thread changes the rows of a table whose columns are operands.

        The columns of a table belong together: they have as many rows, and those of the same moment.
        """
        owners = (operand[0] if isinstance(operand, tuple) else operand for operand in self._operands.values())
        tables = {owner for owner in owners if isinstance(owner, Table)}
        # All threads take the tables in one order, so that none waits for another that waits for it.
        for table in sorted(tables, key=hash):
            table._settle()
            call = partial(_keeping_rows, table, call)
        return call()

    def _eval(self, out: Any, places: "tuple[int | None, int | None, int | None]", append: bool) -> Any:
        whole = self._calculation(None)
        rows, (start, stop, step) = None, places
        if (start, stop, step) != (None, None, None):
            rows = self._rows(start, stop, step)
        calculation = whole if rows is None else self._calculation(rows)
        shape, dtype = calculation.outline()
        if out is None:
            if append:
                raise ValueError("out must be a dataset if append=True")
            made = np.empty(shape, dtype)
            calculation.run_into(made)
            return made if made.ndim else made[()]
        if not np.can_cast(dtype, out.dtype, "same_kind"):
            message = f"Cannot cast the result from {np.dtype(dtype)!r} to {out.dtype!r} with casting rule 'same_kind'"
            raise TypeError(message)
        if isinstance(out, Dataset):
            if append and any(operand == out for operand in self._operands.values() if isinstance(operand, Dataset)):
                raise ValueError(
                    "cannot append to out because it is also an operand of the expression; append to another dataset"
                )
            _to_dataset(calculation, shape, out, rows, append)
        else:
            if append:
                raise ValueError("out must be a dataset if append=True")
            self._to_array(calculation, shape, out)
        return out

    def _rows(self, start: int | None, stop: int | None, step: int | None) -> tuple[int, int, int]:
        shapes = [_shape(operand) for operand in self._operands.values()]
        common = np.broadcast_shapes(*shapes)
        if not common:
            raise ValueError("start, stop and step must be left out, because all operands are scalars")
        if step is not None and step < 1:
            raise ValueError(f"step must be at least 1, not {step}")
        rows = range(*slice(start, stop, step).indices(common[0]))
        return rows.start if rows else 0, rows.step, len(rows)

    def _to_array(self, calculation: _Calculation, shape: tuple[int, ...], out: "NDArray[Any]") -> None:
        if out.shape != shape:
            raise ValueError(f"out must have the shape {shape}, not {out.shape}")
        if not out.flags.writeable:
            raise ValueError("out must be writable, not read-only")
        operands = [operand for operand in self._operands.values() if isinstance(operand, np.ndarray)]
        is_shared = any(np.may_share_memory(out, operand) for operand in operands)
        if out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative and not is_shared:
            calculation.run_into(out)
        else:
            made = np.empty(shape, out.dtype.newbyteorder("="))
            calculation.run_into(made)
            out[...] = made

    def __repr__(self) -> str:
        operands = ", ".join(f"{name}={_described(operand)}" for name, operand in self._operands.items())
        return f"<expression {self._text!r}: {operands}>" if operands else f"<expression {self._text!r}>"


def _to_dataset(
    calculation: _Calculation,
    shape: tuple[int, ...],
    out: Dataset,
    rows: "tuple[int, int, int] | None",
    append: bool,
) -> None:
    if isinstance(out, Table):
        raise TypeError("out must be a dataset of numbers, not a table")
    if out.shape is None:
        raise TypeError("out must be a dataset with elements, not an empty one")
    if append:
        if not shape or shape[1:] != out.shape[1:] or len(shape) != len(out.shape):
            raise ValueError(f"cannot append results of shape {shape} to out, whose shape is {out.shape}")
        before = out.shape[0]
        out.resize(before + shape[0], axis=0)
        try:
            calculation.run_to(out, (before, 1, shape[0]))
        except BaseException:
            out.resize(before, axis=0)
            raise
    elif rows is not None and out.shape != shape and len(out.shape) == len(shape) > 0:
        calculation.run_to(out, rows)
    else:
        calculation.run_to(out)


def _value(name: str, scopes: "list[Mapping[str, Any]]", frame: "FrameType") -> Any:
    """Returns the value of a name, which may be that of an attribute, as in `t.cols.temp`."""
    first, *rest = name.split(".")
    for scope in (*scopes, frame.f_locals, frame.f_globals):
        if name in scope:
            return scope[name]
        if first in scope:
            found = scope[first]
            for attribute in rest:
                found = getattr(found, attribute)
            return found
    raise NameError(f"the name {name!r} of the expression is not defined")


def _operand(name: str, value: Any) -> Any:
    """Returns an operand in a form that the native code takes."""
    if isinstance(value, Dataset) or value.__class__ in (bool, int, float, complex, str, bytes):
        return value
    if isinstance(value, Column):
        return value.table, value.pathname
    if isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    if array.dtype.hasobject or array.dtype.names is not None:
        raise TypeError(f"an expression cannot compute with {name} of dtype {array.dtype}")
    _check_operand(array.dtype)
    # A copy only of what is strided, unaligned or in the other byte order.
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def _shape(operand: Any) -> tuple[int, ...]:
    if isinstance(operand, tuple):
        return operand[0].shape
    return (operand.shape or ()) if isinstance(operand, Dataset) else np.shape(operand)


def _described(operand: Any) -> str:
    if isinstance(operand, tuple):
        return repr(Column(*operand))
    if isinstance(operand, np.ndarray) and operand.ndim:
        return f"array of shape {operand.shape}, type {operand.dtype.str!r}"
    return repr(operand)
