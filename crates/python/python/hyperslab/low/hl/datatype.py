"""`h5py._hl.datatype`."""

from ..._native import Datatype as Datatype
