"""Changes that are taken back if an exception leaves them half done."""

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import File


class Transaction:
    """What is done to a file inside ``with``: committed at its end, taken back if an exception leaves it.

    Elements that are written in place, without filters, stay as they were written.
    """

    def __init__(self, file: "File") -> None:
        self._file = file

    def __enter__(self) -> "File":
        self._file._begin()
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file._end(kind is None)
