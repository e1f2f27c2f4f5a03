"""The rows that may meet a condition of pandas: a query finds them with indexes, and skips chunks.

A condition of pandas compares values as pandas shows them, so it decides about rows after they were read.
Parts of it compare numbers, dates or strings as they are stored. A query on these parts returns all rows that
the condition can select, and others.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._records import at_path
from .._table import Table
from ._where import COMPARISONS, MIRRORED, Condition, conformed

_Array = np.ndarray[Any, Any]
_NEGATED: "dict[type[ast.cmpop], type[ast.cmpop]]" = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: Integers up to here are floats, too.
_EXACT = 1 << 53
#: Longer lists of values are not part of a query.
_MOST_VALUES = 32


def candidates(
    table: Table, condition: Condition, paths: Mapping[str, str], samples: Mapping[str, Any], first: int, last: int
) -> "_Array | None":
    """Returns the numbers of rows that hold all rows which meet a condition. None if every row may meet it.

    Args:
        table: The table.
        condition: The condition.
        paths: The paths of columns of the condition whose stored values have the order of the shown ones.
            Of strings in UTF-8, equal ones are stored as equal bytes.
        samples: Columns without rows, as pandas has them, by their names.
        first: The first row to search.
        last: The row after the last one.
    """
    made = _Query(table, condition, paths, samples)
    try:
        text = made.text(condition.rows, False)
        return None if text is None else table.get_where_list(text, made.names, start=first, stop=last)
    except (TypeError, ValueError, OverflowError):
        # What a query cannot compare, the condition can, or has its own error.
        return None


class _Query:
    """A condition of tables, made of the parts of a condition of pandas."""

    def __init__(
        self, table: Table, condition: Condition, paths: Mapping[str, str], samples: Mapping[str, Any]
    ) -> None:
        self.table, self.condition, self.paths, self.samples = table, condition, paths, samples
        self.names: dict[str, Any] = {}

    def text(self, node: ast.expr, is_negated: bool) -> str | None:
        """Returns a condition that holds where the node holds, or its negation. None if that is anywhere."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.text(node.operand, not is_negated)
        if isinstance(node, ast.BoolOp):
            parts = [self.text(term, is_negated) for term in node.values]
            return _joined(parts, isinstance(node.op, ast.And) != is_negated)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = [
                self._compared(left, _NEGATED.get(type(op), ast.Is) if is_negated else type(op), right)
                for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
            ]
            return _joined(parts, not is_negated)
        return None

    def _compared(self, left: ast.expr, op: "type[ast.cmpop]", right: ast.expr) -> str | None:
        if not (isinstance(left, ast.Name) and left.id in self.samples):
            left, right, op = right, left, MIRRORED.get(op, op)
        if not (isinstance(left, ast.Name) and left.id in self.paths):
            return None
        if isinstance(right, ast.Name) and right.id in self.samples and right.id not in self.condition.scope:
            return None
        value = self.condition.constant(right)
        if pd.api.types.is_list_like(value) or op is ast.In:
            values = list(value) if pd.api.types.is_list_like(value) else [value]
            if op not in (ast.Eq, ast.In) or len(values) > _MOST_VALUES:
                return None
            return _joined([self._bounded(left.id, ast.Eq, one) for one in values], False)
        return self._bounded(left.id, op, value)

    def _bounded(self, name: str, op: "type[ast.cmpop]", value: Any) -> str | None:
        """Returns a condition for the stored values of a column. It may hold at the bound, too."""
        path, sample = self.paths[name], self.samples[name]
        stored = at_path(self.table.dtype, path)
        if op not in COMPARISONS or op is ast.NotEq or stored.kind == "S" and op is not ast.Eq:
            return None
        bounds = _bounds(stored, sample, conformed(sample, value, name))
        if bounds is None:
            return None
        column = self._named(self.table.cols._f_col(path))
        low, high = (self._named(bound) for bound in bounds)
        if stored.kind == "S":
            return f"{column} == {low}"
        parts = [f"({column} >= {low})"] * (op not in (ast.Lt, ast.LtE))
        parts += [f"({column} <= {high})"] * (op not in (ast.Gt, ast.GtE))
        return " & ".join(parts)

    def _named(self, value: Any) -> str:
        name = f"_{len(self.names)}"
        self.names[name] = value
        return name


def _joined(parts: "list[str | None]", is_and: bool) -> str | None:
    known = [f"({part})" for part in parts if part is not None]
    if not known or not is_and and len(known) < len(parts):
        return None
    return (" & " if is_and else " | ").join(known)


def _bounds(stored: "np.dtype[Any]", sample: Any, value: Any) -> "tuple[Any, Any] | None":
    """Returns stored values between which a value is, if the order of stored values is that of pandas."""
    shown = sample.dtype
    kind = "M" if isinstance(shown, pd.DatetimeTZDtype) else shown.kind if isinstance(shown, np.dtype) else ""
    if kind == "M" and stored.kind == "i" and isinstance(value, pd.Timestamp) and value is not pd.NaT:
        unit = shown.unit if isinstance(shown, pd.DatetimeTZDtype) else np.datetime_data(shown)[0]
        plain = value if value.tz is None else value.tz_convert("UTC").tz_localize(None)
        number = int(plain.as_unit(unit).asm8.astype("i8"))
        # A value between two units is rounded.
        return number - 1, number + 1
    if isinstance(value, str) and stored.kind == "S":
        # Bytes that are not UTF-8 may be shown as this character.
        return None if "\ufffd" in value else (value.encode("utf-8"),) * 2
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or kind not in ("i", "u", "f") or stored != shown:
        return None
    if not math.isfinite(value) or abs(value) > _EXACT:
        return None
    return (value, value) if kind == "f" else (math.floor(value), math.ceil(value))
