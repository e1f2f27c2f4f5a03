"""Where a chunk is stored."""

from typing import NamedTuple


class StoreInfo(NamedTuple):
    """The place of a stored chunk, as `DatasetID.get_chunk_info` returns it.

    Example:
        >>> info = dataset.id.get_chunk_info(2)
        >>> info.chunk_offset, info.filter_mask
        ((2, 0, 0), 0)
    """

    chunk_offset: tuple[int, ...] | None
    """The coordinates of the chunk's first element, or None if it is not stored."""
    filter_mask: int
    """Bit n is set if filter n was left out."""
    byte_offset: int | None
    """Where in the file it begins, or None if it is not stored."""
    size: int
    """Its stored bytes."""
