"""`h5py._hl.filters`."""

from ...filters import DEFAULT_GZIP as DEFAULT_GZIP
from ...filters import DEFAULT_SZIP as DEFAULT_SZIP
from ...filters import FilterRefBase as FilterRefBase
from ...filters import Gzip as Gzip
from ...filters import decode as decode
from ...filters import encode as encode
from ...filters import guess_chunk as guess_chunk
from ...filters import h5z as h5z
