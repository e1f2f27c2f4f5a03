"""Selections that NumPy has no syntax for."""


class MultiBlockSlice:
    """A selection of equal blocks at equal distances along one axis.

    Args:
        start: The first element of the first block.
        stride: The distance between the starts of two blocks, in elements.
        count: The number of blocks. None selects all whole blocks that fit on the axis.
        block: The length of a block, in elements.

    Raises:
        ValueError: The blocks overlap (`block > stride`), or a number other than `start` is below 1.

    Example:
        >>> file["x"] = np.arange(10)
        >>> file["x"][hs.MultiBlockSlice(start=1, stride=4, block=2)]
        array([1, 2, 5, 6])
    """

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if stride < 1 or block < 1 or (count is not None and count < 1):
            raise ValueError("Stride, count and block can't be 0 or negative")
        if block > stride:
            raise ValueError("Blocks will overlap if block > stride")
        self.start = start
        self.stride = stride
        self.count = count
        self.block = block

    def __repr__(self) -> str:
        values = f"start={self.start}, stride={self.stride}, count={self.count}, block={self.block}"
        return f"{type(self).__name__}({values})"

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Returns start, stride, count and block for an axis.

        Args:
            length: The length of the axis, in elements.

        Raises:
            ValueError: The blocks do not fit on the axis.

        Example:
            >>> hs.MultiBlockSlice(start=1, stride=4, block=2).indices(10)
            (1, 4, 2, 2)
        """
        if self.start < 0:
            raise ValueError(f"Start can't be negative (got {self.start})")
        count = self.count
        if count is None:
            count = (length - self.start - self.block) // self.stride + 1
            if count < 1:
                raise ValueError(f"No full blocks can be selected from an axis of {length}")
        end = self.start + (count - 1) * self.stride + self.block
        if end > length:
            raise ValueError(f"{count} blocks end at {end}, beyond the axis of {length}")
        return self.start, self.stride, count, self.block
