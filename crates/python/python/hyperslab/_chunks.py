"""What is said of a stored chunk."""

from typing import NamedTuple


class StoreInfo(NamedTuple):
    """Where a chunk is stored."""

    chunk_offset: tuple[int, ...] | None
    """The coordinates of the chunk's first element, or None if it is not stored."""
    filter_mask: int
    """Bit n is set if filter n was left out."""
    byte_offset: int | None
    """Where in the file it begins, or None if it is not stored."""
    size: int
    """Its stored bytes."""
