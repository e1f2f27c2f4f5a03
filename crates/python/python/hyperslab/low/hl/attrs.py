"""`h5py._hl.attrs`."""

from ..._native import AttributeManager as AttributeManager
