"""The configuration of h5py, and the version of HDF5 whose behaviour the package has."""

import warnings
from typing import Any

from .. import _native
from ._objects import phil as phil
from .h5py_warnings import H5pyDeprecationWarning

INDEX_NAME, INDEX_CRT_ORDER = 0, 1
ITER_INC, ITER_DEC, ITER_NATIVE = 0, 1, 2

#: The version of HDF5 whose files and behaviour the package has.
HDF5_VERSION_COMPILED_AGAINST = (2, 0, 0)


class H5PYConfig:
    """The settings of h5py. There is one object, which `get_config` returns.

    `track_order` is the default of new files, groups and datasets. `complex_names` and `bool_names` are the
    names of the parts of complex numbers and of the values of booleans; only the defaults can be set.
    """

    mpi = False
    ros3 = False
    direct_vfd = False
    has_native_complex = True
    API_16 = False
    API_18 = True

    def __init__(self) -> None:
        self._complex_names = ("r", "i")
        self._bool_names = ("FALSE", "TRUE")

    @property
    def complex_names(self) -> tuple[str, str]:
        return self._complex_names

    @complex_names.setter
    def complex_names(self, names: Any) -> None:
        self._complex_names = _two_names(names, "complex_names", self._complex_names, "[(real, 'f8'), (imag, 'f8')]")

    @property
    def bool_names(self) -> tuple[bytes, bytes]:
        # As bytes, and set as text, as in h5py.
        return self._f_name, self._t_name

    @bool_names.setter
    def bool_names(self, names: Any) -> None:
        made = "hyperslab.enum_dtype({no: 0, yes: 1}, 'i1')"
        self._bool_names = _two_names(names, "bool_names", self._bool_names, made)

    @property
    def track_order(self) -> bool:
        return _native._track_order(None)

    @track_order.setter
    def track_order(self, is_on: Any) -> None:
        _native._track_order(bool(is_on))

    @property
    def swmr_min_hdf5_version(self) -> tuple[int, int, int]:
        _warn_of("swmr_min_hdf5_version")
        return 1, 9, 178

    @property
    def vds_min_hdf5_version(self) -> tuple[int, int, int]:
        _warn_of("vds_min_hdf5_version")
        return 1, 9, 233

    @property
    def read_byte_strings(self) -> bool:
        _warn_of("read_byte_strings")
        return True

    @property
    def default_file_mode(self) -> str:
        _warn_of("default_file_mode")
        return "r"

    @default_file_mode.setter
    def default_file_mode(self, mode: str) -> None:
        if mode not in ("r", "r+", "w", "w-", "x", "a"):
            raise ValueError("Invalid mode; must be one of r, r+, w, w-, x, a")
        if mode != "r":
            raise ValueError("Using default_file_mode other than 'r' is no longer supported: pass the mode to File()")

    @property
    def _r_name(self) -> bytes:
        return self._complex_names[0].encode()

    @property
    def _i_name(self) -> bytes:
        return self._complex_names[1].encode()

    @property
    def _f_name(self) -> bytes:
        return self._bool_names[0].encode()

    @property
    def _t_name(self) -> bytes:
        return self._bool_names[1].encode()

    def __repr__(self) -> str:
        return (
            f"<h5py configuration: complex_names={self.complex_names} bool_names={self.bool_names} "
            f"track_order={self.track_order}>"
        )


def _warn_of(name: str) -> None:
    warnings.warn(f"get_config().{name} has no meaning any more", H5pyDeprecationWarning, stacklevel=3)


def _two_names(names: Any, what: str, known: tuple[str, str], dtype: str) -> tuple[str, str]:
    try:
        first, second = names
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a 2-tuple of str") from None
    if not (isinstance(first, str) and isinstance(second, str)):
        raise TypeError(f"{what} must be a 2-tuple of str")
    if (first, second) != known:
        raise ValueError(
            f"{what} can only be {known}: for other names, give the dtype of the dataset, which is {dtype}, and view "
            "the elements that are read"
        )
    return known


_config = H5PYConfig()


def get_config() -> H5PYConfig:
    """Returns the settings of h5py, which are the same object at every call.

    Example:
        >>> hs.get_config().complex_names
        ('r', 'i')
    """
    return _config


def get_libversion() -> tuple[int, int, int]:
    """Returns the version of HDF5 whose behaviour the package has."""
    return HDF5_VERSION_COMPILED_AGAINST
