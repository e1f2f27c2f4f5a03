"""The warnings of h5py."""


class H5pyWarning(UserWarning):
    """The base of h5py's warnings."""


class H5pyDeprecationWarning(H5pyWarning):
    """A use that a later version of h5py may not have."""
