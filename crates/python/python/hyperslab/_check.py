"""Whether a file is sound."""

import os
from typing import IO, Literal, NamedTuple

from ._native import _check


class Finding(NamedTuple):
    """One finding of `check`.

    The fields are `severity`, `message`, `structure`, `spec`, `address` and `path`.

    Example:
        >>> with open("climate.h5", "r+b") as damaged:
        ...     _ = damaged.seek(0), damaged.write(b"?")
        >>> hs.check("climate.h5")
        Traceback (most recent call last):
        ...
        hyperslab.FormatError: ...
    """

    severity: Literal["note", "warning", "error"]
    """An error violates the specification. A warning is harmless: unreachable space, or a count that is too
    large. A note names something that was not checked."""
    message: str
    """What is wrong."""
    structure: str
    """The structure's name in the HDF5 File Format Specification."""
    spec: str
    """The section of the specification that defines it."""
    address: int | None
    """Where it is, counted from the end of the user block, or None if it is of no one place."""
    path: str | None
    """The path of the object that it belongs to, or None if it belongs to none."""


def check(
    file: "str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]", *, data: bool = False
) -> list[Finding]:
    """Checks every structure of a file, and accounts for every byte.

    Nothing is written. A file that a crash left half-written is checked in the state after recovery. The file
    is sound if no finding is an error.

    Args:
        file: The path of the file, or a file object.
        data: Whether to decode every chunk as well.

    Returns:
        The findings, in the order of the structures.

    Raises:
        OSError: The file cannot be read, or is not an HDF5 file.

    Example:
        >>> [finding for finding in hs.check("climate.h5", data=True) if finding.severity == "error"]
        []
    """
    return [Finding(*found) for found in _check(file, data)]
