"""Exceptions that h5py has no class for."""


class FormatError(OSError):
    """The file is damaged, or is not an HDF5 file.

    The message names the structure, its address, and the section of the specification that the bytes violate.

    Example:
        >>> try:
        ...     hs.File.from_bytes(bytes(1000))
        ... except hs.FormatError:
        ...     print("not an HDF5 file")
        not an HDF5 file
    """

    __module__ = "hyperslab"


class UnsupportedDtypeError(NotImplementedError, TypeError, ValueError):
    """NumPy has no dtype for a datatype of the file.

    h5py raises `TypeError`, or `ValueError` for numbers that no float of NumPy holds. This exception is both.
    It is a `NotImplementedError` as well, because the datatype is valid.

    Example:
        >>> issubclass(hs.UnsupportedDtypeError, TypeError)
        True
    """

    __module__ = "hyperslab"


class ClosedError(OSError, ValueError, KeyError):
    """The file of an object is closed.

    h5py raises `OSError`, `ValueError` or `KeyError` for an object of a closed file, depending on the call.
    This exception is all three.

    Example:
        >>> file.close()
        >>> try:
        ...     dataset[0]
        ... except hs.ClosedError as error:
        ...     print(error)
        the file is closed
    """

    __module__ = "hyperslab"
