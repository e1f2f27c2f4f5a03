"""`h5py._hl.group`."""

from ..._native import ExternalLink as ExternalLink
from ..._native import Group as Group
from ..._native import HardLink as HardLink
from ..._native import SoftLink as SoftLink
