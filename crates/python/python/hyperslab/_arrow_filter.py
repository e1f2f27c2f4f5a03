"""Filters of pyarrow as conditions of tables.

pyarrow shows an expression as text and in no other form that can be read without its own engine. A filter is
applied again by pyarrow, so a condition need not say all of it, but must be true wherever the filter is.
"""

import re
from typing import Any

_COMPARISON = re.compile(r"\(([^\W\d]\w*) (==|>=|<=|>|<) (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\)", re.ASCII)

#: The texts of a filter, which may have parentheses.
_TEXT = re.compile(r'"[^"]*"')
#: Names that cannot be taken for a part of a filter.
_NAME = re.compile(r"[\w/.]+")


def condition_of(filter: Any, schema: Any) -> str | None:
    """Returns a condition that is true for all rows of a filter, or None if there is no better one than that.

    The parts of a filter that are joined by "and" become parts of the condition if they compare a column of
    numbers with a number.
    """
    text = str(filter)
    if "\\" in text or not all(_NAME.fullmatch(name) for name in schema.names):
        # What ends a text or a name is not certain.
        return None
    parts = []
    for part in _conjunction(_TEXT.sub('""', text)):
        found = _COMPARISON.fullmatch(part)
        if found and schema.get_field_index(found[1]) >= 0:
            parts += _comparison(found[1], found[2], found[3], schema.field(found[1]).type)
    return " & ".join(parts) or None


def _conjunction(text: str) -> "list[str]":
    """Returns the parts of a text that are joined by "and"."""
    if not (text.startswith("(") and text.endswith(")")):
        return [text]
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and at + 1 < len(text):
            return []
        if depth == 1 and text.startswith(" and ", at + 1):
            return _conjunction(text[1 : at + 1]) + _conjunction(text[at + 6 : -1])
    return [text]


def _comparison(name: str, operator: str, number: str, kind: Any) -> "list[str]":
    import pyarrow

    if pyarrow.types.is_integer(kind) and re.fullmatch(r"-?\d+", number):
        return [f"({name} {operator} {number})"]
    largest = {pyarrow.float32(): 1e38, pyarrow.float64(): 1e300}.get(kind, 0)
    if abs(float(number)) >= largest:
        return []
    # The text says neither the type of the number nor all its digits, so the interval is made wider.
    value = float(number)
    width = abs(value) * 1e-5 + 1e-30
    below, above = f"({name} >= {value - width!r})", f"({name} <= {value + width!r})"
    return {"==": [below, above], ">": [below], ">=": [below], "<": [above], "<=": [above]}[operator]
