"""Rows that other libraries have as streams of Arrow."""

from typing import Any


def is_stream(rows: Any) -> bool:
    """Whether rows come as a stream of Arrow. A DataFrame of pandas does not: its stream has null for NaN."""
    return hasattr(rows, "__arrow_c_stream__") and type(rows).__module__.partition(".")[0] != "pandas"
