"""Texts of attributes."""

from typing import Any


def text_of(value: Any) -> str:
    """Returns the text of an attribute, of fixed or of variable length."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
