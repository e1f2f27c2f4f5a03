"""Selections that NumPy has no syntax for."""


class MultiBlockSlice:
    """Blocks at equal distances along an axis: ``count`` blocks of ``block`` elements, ``stride`` apart, from ``start`` on.

    Without a count there are as many whole blocks as fit. ValueError: the blocks overlap.
    """

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if block > stride:
            raise ValueError("Blocks will overlap if block > stride")
        self.start = start
        self.stride = stride
        self.count = count
        self.block = block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Start, stride, count and block along an axis of ``length``. ValueError: they do not fit in it."""
        if self.start < 0:
            raise ValueError(f"Start can't be negative (got {self.start})")
        if self.stride < 1 or self.block < 1 or (self.count is not None and self.count < 1):
            raise ValueError("Stride, count and block can't be 0 or negative")
        count = self.count
        if count is None:
            count = (length - self.start - self.block) // self.stride + 1
            if count < 1:
                raise ValueError(f"No full blocks can be selected from an axis of {length}")
        end = self.start + (count - 1) * self.stride + self.block
        if end > length:
            raise ValueError(f"{count} blocks end at {end}, beyond the axis of {length}")
        return self.start, self.stride, count, self.block
