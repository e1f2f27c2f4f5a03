"""Changes that are undone if an exception interrupts them."""

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import File


class Transaction:
    """The context of a transaction, as `File.transaction` returns it.

    The end of the `with` block commits all changes of the block. An exception that leaves the block undoes
    them, except for elements of datasets without chunks, which are written in place.

    Example:
        >>> try:
        ...     with file.transaction():
        ...         del file["surface"]
        ...         raise RuntimeError
        ... except RuntimeError:
        ...     print("surface" in file)
        True
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
