"""The progress of long work: a bar of tqdm, a line on standard error, or a function of the caller."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Progress: TypeAlias = bool | Callable[[int, int], object] | None

#: The seconds between two versions of the line.
_PAUSE = 0.2


@contextmanager
def reported(progress: Progress, what: Any, unit: str) -> "Iterator[Callable[[int, int], object] | None]":
    """Gives the function that is called with what is done and the total, or None without progress.

    Args:
        progress: True for a bar, None or False for nothing, or the function itself.
        what: What is worked on: a path, or anything with a text.
        unit: The unit of the numbers: "B" for bytes, or a noun in the plural.
    """
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError(
                f"progress is True, None or a function of what is done and the total, not {type(progress).__name__}"
            )
        yield progress
        return
    text = os.fsdecode(what) if isinstance(what, str | bytes | os.PathLike) else str(what)
    bar = _Bar(text, unit) if _tqdm() else _Line(text, unit)
    try:
        yield bar.tell
    finally:
        # The bar also ends with an exception and on Ctrl-C, where it was.
        bar.close()


def _tqdm() -> Any:
    """Returns the bar of tqdm for this terminal or notebook, or None without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class _Bar:
    """A bar of tqdm."""

    def __init__(self, text: str, unit: str) -> None:
        unit = "B" if unit == "B" else f" {unit}"
        self.bar = _tqdm()(desc=text, unit=unit, unit_scale=True, unit_divisor=1024 if unit == "B" else 1000)

    def tell(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


class _Line:
    """A line on standard error: rewritten on a terminal, and else a new one for each tenth."""

    def __init__(self, text: str, unit: str) -> None:
        self.text, self.unit = text, unit
        self.is_terminal = sys.stderr.isatty()
        self.when, self.tenth, self.width = 0.0, -1, 0

    def tell(self, done: int, total: int) -> None:
        tenth = 10 * done // max(1, total)
        now = time.monotonic()
        if self.is_terminal:
            if done < total and now - self.when < _PAUSE:
                return
        elif tenth == self.tenth:
            return
        self.when, self.tenth = now, tenth
        line = f"{self.text}: {100 * done // max(1, total)} % of {_amount(total, self.unit)}"
        if self.is_terminal:
            sys.stderr.write("\r" + line.ljust(self.width))
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()
        self.width = len(line)

    def close(self) -> None:
        if self.is_terminal and self.width:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _amount(count: int, unit: str) -> str:
    if unit != "B":
        return f"{count:,} {unit}"
    return f"{count / (1 << 20):,.1f} MiB" if count >= 1 << 20 else f"{count:,} bytes"
