"""Texts of attributes."""

from typing import Any


def text_of(value: Any) -> str:
    """An attribute that is a string, of fixed length or not."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
