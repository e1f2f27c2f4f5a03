"""Exceptions that h5py has no class for."""


class FormatError(OSError):
    """The file is damaged, or is not HDF5. The message says what is wrong, where, and by which section of the specification."""


class UnsupportedDtypeError(NotImplementedError, TypeError, ValueError):
    """NumPy has no dtype for the datatype.

    h5py raises ``TypeError``, or ``ValueError`` for numbers that no float holds; this is both, and says that it is a limit.
    """


class ClosedError(OSError, ValueError, KeyError):
    """The file of an object was closed.

    h5py raises ``OSError``, ``ValueError`` or ``KeyError`` here, depending on what is asked of the object; this is all three.
    """
