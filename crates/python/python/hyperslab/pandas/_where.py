"""Conditions in pandas' syntax, such as `"index > 5 & A == 'x'"`, evaluated on columns as pandas shows them.

A condition compares the index or data columns with values: constants, lists, dates, and names of the caller.
`=` is `==`, `&` and `|` are `and` and `or`, `~` is `not`. `columns=['A', 'B']` selects columns and no rows.
"""

import ast
import datetime
import io
import operator
import tokenize
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

_Mask = np.ndarray[Any, np.dtype[np.bool_]]
COMPARISONS: "dict[type[ast.cmpop], Callable[[Any, Any], Any]]" = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MIRRORED: "dict[type[ast.cmpop], type[ast.cmpop]]" = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_NAMES: "dict[str, Any]" = {
    "Timestamp": pd.Timestamp,
    "Timedelta": pd.Timedelta,
    "Period": pd.Period,
    "datetime": datetime.datetime,
    "date": datetime.date,
    "list": list,
    "inf": np.inf,
    "Inf": np.inf,
}
_FUNCTIONS = (pd.Timestamp, pd.Timedelta, pd.Period, pd.to_datetime, datetime.datetime, datetime.date, list)
_SPELLED = {"&": "and", "|": "or", "~": "not ", "=": "=="}


class Condition:
    """A condition: which rows to read, and which columns.

    Args:
        where: The condition, or a list of conditions that all hold.
        columns: The names that select rows: the index, its levels and data columns.
        scope: Other names, those of the caller.

    Raises:
        ValueError: The condition is not in pandas' syntax, or compares an unknown name.
        TypeError: The condition is not a string.
    """

    def __init__(self, where: Any, columns: "list[str]", scope: Mapping[str, Any]) -> None:
        parts = [where] if isinstance(where, str) else list(where)
        if not parts or not all(isinstance(part, str) for part in parts):
            raise TypeError(f"where is a condition as a string, or a list of conditions, not {where!r}")
        self.text = " & ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]
        self.names = columns
        self.scope = {**_NAMES, **scope}
        try:
            self.tree = ast.parse(_as_python(self.text).strip(), mode="eval").body
        except (SyntaxError, tokenize.TokenError) as error:
            raise ValueError(f"where {self.text!r} is not a condition: {error}") from None
        self.selected: Any = None
        """The labels of the columns to read. None selects every column."""
        self.rows = self._without_columns(self.tree)
        """The condition on rows. None if every row is selected."""
        used = [] if self.rows is None else ast.walk(self.rows)
        self.used = sorted({node.id for node in used if isinstance(node, ast.Name)} & set(columns))

    def mask(self, values: Mapping[str, Any]) -> _Mask:
        """Returns for each row whether the condition holds.

        Args:
            values: The columns that the condition uses, by name: arrays or indexes of pandas.

        Raises:
            TypeError: A column cannot be compared with a value.
            ValueError: The condition uses something else than comparisons.
        """
        return self._mask(self.rows, values)

    def _without_columns(self, node: ast.expr) -> Any:
        """Takes the comparison of `columns` out of the terms that all hold."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            kept = [found for term in node.values if (found := self._without_columns(term)) is not None]
            return ast.BoolOp(ast.And(), kept) if kept else None
        negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        term = node.operand if isinstance(node, ast.UnaryOp) and negated else node
        if isinstance(term, ast.Compare) and isinstance(term.left, ast.Name) and term.left.id == "columns":
            if "columns" not in self.names:
                labels = self.constant(term.comparators[0])
                labels = list(labels) if pd.api.types.is_list_like(labels) else [labels]
                is_excluded = negated != isinstance(term.ops[0], ast.NotEq | ast.NotIn)
                self.selected = Selected(labels, is_excluded)
                return None
        return node

    def _mask(self, node: ast.expr, values: Mapping[str, Any]) -> _Mask:
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return np.asarray(join.reduce([self._mask(term, values) for term in node.values]))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self._mask(node.operand, values)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            terms = [
                self._compare(left, op, right, values)
                for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
            ]
            return np.asarray(np.logical_and.reduce(terms))
        raise ValueError(f"where {self.text!r}: {ast.unparse(node)!r} is not a comparison")

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr, values: Mapping[str, Any]) -> _Mask:
        if not (isinstance(left, ast.Name) and left.id in values):
            if isinstance(right, ast.Name) and right.id in values:
                left, right, op = right, left, MIRRORED.get(type(op), type(op))()
            else:
                raise ValueError(
                    f"where {self.text!r} contains an invalid variable reference: {ast.unparse(left)!r} is not the "
                    f"index or a data column. The names are: {', '.join(self.names)}"
                )
        column = values[left.id]
        # On the right, the caller's names come before columns.
        if isinstance(right, ast.Name) and right.id in values and right.id not in self.scope:
            wanted = values[right.id]
            return _as_mask(COMPARISONS[type(op)](pd.Series(column), pd.Series(wanted)))
        wanted = self.constant(right)
        if wanted is None:
            raise TypeError(f"Cannot compare [{left.id}] to None")
        is_list = pd.api.types.is_list_like(wanted)
        if is_list or isinstance(op, ast.In | ast.NotIn):
            if not isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                raise TypeError(f"where {self.text!r}: only ==, != and in compare {left.id!r} with several values")
            items = [conformed(column, item, left.id) for item in (wanted if is_list else [wanted])]
            found = np.asarray(pd.Series(column).isin(items), dtype=bool)
            return ~found if isinstance(op, ast.NotEq | ast.NotIn) else found
        return _as_mask(COMPARISONS[type(op)](pd.Series(column), conformed(column, wanted, left.id)))

    def constant(self, node: ast.expr) -> Any:
        """Returns the value of the other side: a constant, a list, a name of the caller, or a date."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self.constant(item) for item in items]
            case ast.Name(id=name):
                # A name that the caller does not have is a string, as in pandas: `columns=A`.
                return self.scope.get(name, name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.constant(operand)
            case ast.Attribute(value=owner, attr=name) if not name.startswith("_"):
                found = self.constant(owner)
                # `datetime.datetime`, whether the caller has the module or the class by this name.
                is_class = isinstance(owner, ast.Name) and owner.id == name and not hasattr(found, name)
                return found if is_class else getattr(found, name)
            case ast.Subscript(value=owner, slice=place):
                return self.constant(owner)[self.constant(place)]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if part is None else self.constant(part) for part in (lower, upper, step)))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._called(function)(*map(self.constant, arguments))
        if isinstance(node, ast.BinOp):
            raise NotImplementedError(
                f"where {self.text!r}: arithmetic is not supported in a condition; compute the value before"
            )
        raise ValueError(f"where {self.text!r}: {ast.unparse(node)!r} is not a value to compare with")

    def _called(self, node: ast.expr) -> Any:
        """Returns a function that a condition may call: one that makes a date or a list.

        Raises:
            ValueError: The function is another one.
        """
        function = self.constant(node)
        if isinstance(node, ast.Attribute) and node.attr == "tolist":
            return function
        if not any(function is allowed for allowed in _FUNCTIONS):
            raise ValueError(
                f"where {self.text!r} calls {ast.unparse(node)!r}, which is not one of Timestamp, Timedelta, Period, "
                "datetime and date: compute the value before, and use its name"
            )
        return function


class Selected:
    """The labels of columns that a condition selects, or all but these."""

    def __init__(self, labels: "list[Any]", is_excluded: bool) -> None:
        self.labels = labels
        self.is_excluded = is_excluded

    def of(self, columns: pd.Index) -> pd.Index:
        """Returns the columns that are selected, in their own order."""
        return columns[columns.isin(self.labels) != self.is_excluded]


def _as_python(text: str) -> str:
    """Returns the condition in Python's syntax, in which comparisons bind closer than `and` and `or`."""
    words = []
    for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
        is_operator = token.type == tokenize.OP
        words.append((token.type, _SPELLED.get(token.string, token.string) if is_operator else token.string))
    return tokenize.untokenize(
        [(tokenize.NAME if word in ("and", "or", "not ") else kind, word) for kind, word in words]
    )


def _as_mask(found: Any) -> _Mask:
    return np.asarray(found.fillna(False) if hasattr(found, "fillna") else found, dtype=bool)


def conformed(column: Any, value: Any, name: str) -> Any:
    """Returns a value of the column's kind: dates of strings and numbers, UTC for zones that differ."""
    dtype = column.dtype
    try:
        if isinstance(dtype, pd.DatetimeTZDtype) or getattr(dtype, "kind", "") == "M":
            text = str(value) if isinstance(value, int | float) else value
            found = pd.Timestamp(text)
            tz = getattr(dtype, "tz", None)
            if tz is None:
                return found if found.tz is None else found.tz_convert("UTC").tz_localize(None)
            return (found.tz_localize("UTC") if found.tz is None else found).tz_convert(tz)
        if getattr(dtype, "kind", "") == "m":
            return pd.Timedelta(value, unit="s") if isinstance(value, int | float) else pd.Timedelta(value)
        if isinstance(dtype, pd.PeriodDtype):
            return value if isinstance(value, pd.Period) else pd.Period(value, freq=dtype.freq)
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf" and isinstance(value, str):
            return float(value)
        if isinstance(dtype, np.dtype) and dtype.kind == "b":
            no = ("false", "f", "no", "n", "none", "0", "[]", "{}", "")
            return value.strip().lower() not in no if isinstance(value, str) else bool(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot compare {value!r} with the column {name!r} of dtype {dtype}: {error}") from None
    if isinstance(value, str) or not isinstance(dtype, pd.StringDtype):
        return value
    raise TypeError(f"Cannot compare {value!r} of type {type(value)} to string column {name!r}")
