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


class ClosedError(OSError, ValueError, KeyError, RuntimeError):
    """The file of an object is closed.

    h5py raises `OSError`, `ValueError`, `KeyError` or `RuntimeError` for an object of a closed file. It
    depends on the call. This exception is all four.

    Example:
        >>> file.close()
        >>> try:
        ...     dataset[0]
        ... except hs.ClosedError as error:
        ...     print(error)
        the file is closed
    """

    __module__ = "hyperslab"


class NameExistsError(OSError, ValueError, KeyError, RuntimeError):
    """There is already an object, a link or an attribute of this name.

    h5py raises `ValueError` (`create_dataset`), `OSError` (`group[name] = value`), `RuntimeError` (`copy`) or
    `KeyError` (a committed dtype), depending on the call. This exception is all four.

    Example:
        >>> try:
        ...     file.create_group("surface")
        ... except hs.NameExistsError as error:
        ...     print(error)
        name already exists: "surface" (/surface)
    """

    __module__ = "hyperslab"
