"""The versions of h5py and HDF5 whose behaviour the package has."""

import sys
from collections import namedtuple

import numpy

from .._native import __version__ as hyperslab_version
from . import h5

_Version = namedtuple("_Version", "major minor bugfix pre post dev")

version_tuple = _Version(3, 16, 0, None, None, None)
version = "3.16.0"
hdf5_version_tuple = h5.get_libversion()
hdf5_version = "{}.{}.{}".format(*hdf5_version_tuple)
hdf5_built_version_tuple = h5.HDF5_VERSION_COMPILED_AGAINST
api_version_tuple = (1, 8)
api_version = "1.8"

info = f"""\
h5py            {version}, by hyperslab {hyperslab_version}
HDF5            {hdf5_version}, by hyperslab {hyperslab_version}
Python          {sys.version}
sys.platform    {sys.platform}
sys.maxsize     {sys.maxsize}
numpy           {numpy.__version__}
"""
