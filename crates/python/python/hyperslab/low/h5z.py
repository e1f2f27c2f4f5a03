"""Filters: their numbers, and whether they are available."""

from .._native import _filter_facts
from ._objects import unsupported

FILTER_ERROR, FILTER_NONE, FILTER_ALL, FILTER_RESERVED, FILTER_MAX = -1, 0, 0, 256, 65535
FILTER_DEFLATE, FILTER_SHUFFLE, FILTER_FLETCHER32, FILTER_SZIP, FILTER_NBIT, FILTER_SCALEOFFSET = 1, 2, 3, 4, 5, 6
FILTER_LZF = 32000
FLAG_DEFMASK, FLAG_MANDATORY, FLAG_OPTIONAL = 0x00FF, 0x0000, 0x0001
FLAG_INVMASK, FLAG_REVERSE, FLAG_SKIP_EDC = 0xFF00, 0x0100, 0x0200
SZIP_ALLOW_K13_OPTION_MASK, SZIP_CHIP_OPTION_MASK, SZIP_EC_OPTION_MASK, SZIP_NN_OPTION_MASK = 1, 2, 4, 32
SZIP_MAX_PIXELS_PER_BLOCK = 32
SO_FLOAT_DSCALE, SO_FLOAT_ESCALE, SO_INT, SO_INT_MINBITS_DEFAULT = 0, 1, 2, 0
FILTER_CONFIG_ENCODE_ENABLED, FILTER_CONFIG_DECODE_ENABLED = 1, 2
ERROR_EDC, DISABLE_EDC, ENABLE_EDC, NO_EDC = -1, 0, 1, 2
CLASS_T_VERS = 1


def filter_avail(filter_code: int) -> bool:
    """Returns whether chunks with this filter can be read."""
    from ..filters import is_known

    return is_known(filter_code)


def get_filter_info(filter_code: int) -> int:
    """Returns the flags that say whether a filter decodes and encodes."""
    if not filter_avail(filter_code):
        raise RuntimeError(f"Filter info not retrieved (filter {filter_code} is not available)")
    encodes = _filter_facts(filter_code)[2]
    return FILTER_CONFIG_DECODE_ENABLED | (FILTER_CONFIG_ENCODE_ENABLED if encodes else 0)


def register_filter(cls_pointer_address: int) -> bool:
    raise unsupported("h5z.register_filter", "a pointer to H5Z_class2_t is libhdf5's; see hyperslab.register_filter")


def unregister_filter(filter_code: int) -> bool:
    raise unsupported("h5z.unregister_filter", "the filters of the package are always there")


def _register_lzf() -> None:
    """Does nothing: LZF is always there."""
