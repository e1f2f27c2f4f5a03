"""`h5py._hl.vds`."""

from typing import Any

from ... import __dict__ as _package

vds_support = True


def __getattr__(name: str) -> Any:
    if name in ("VirtualLayout", "VirtualSource") and name in _package:
        return _package[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
