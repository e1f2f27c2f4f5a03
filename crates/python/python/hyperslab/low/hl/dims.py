"""`h5py._hl.dims`."""

from ..._dims import Dimension as DimensionProxy
from ..._dims import DimensionManager as DimensionManager

__all__ = ["DimensionManager", "DimensionProxy"]
