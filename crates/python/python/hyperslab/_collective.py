"""Writes in which all ranks of a file take part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Dataset


class CollectiveContext:
    """Makes the writes of a `with` block collective.

    Args:
        dataset: A dataset of a file with the driver "mpio".

    Example:
        >>> with dataset.collective:
        ...     dataset[0] = [7, 8, 9]
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._before: str | None = None

    def __enter__(self) -> None:
        self._before = self._dataset._transfer("collective")

    def __exit__(self, *args: object) -> None:
        if self._before is not None:
            self._dataset._transfer(self._before)
