"""`h5py._hl.files`."""

from ..._native import File as File
from .._drivers import drivers as _drivers
from .._drivers import make_fapl as make_fapl
from .._drivers import register_driver as register_driver
from .._drivers import registered_drivers as registered_drivers
from .._drivers import unregister_driver as unregister_driver
from ..h5f import LIBVER_EARLIEST, LIBVER_LATEST, LIBVER_V18, LIBVER_V110, LIBVER_V112, LIBVER_V114, LIBVER_V200

__all__ = ["_drivers"]

mpi = ros3 = direct_vfd = False
swmr_support = True
libver_dict = {
    "earliest": LIBVER_EARLIEST,
    "latest": LIBVER_LATEST,
    "v108": LIBVER_V18,
    "v110": LIBVER_V110,
    "v112": LIBVER_V112,
    "v114": LIBVER_V114,
    "v200": LIBVER_V200,
}
libver_dict_r = {number: name for name, number in libver_dict.items() if name != "latest"}
