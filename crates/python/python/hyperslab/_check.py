"""Whether a file is sound."""

import os
from typing import IO, Literal, NamedTuple

from ._native import _check
from ._progress import Progress, reported


class Finding(NamedTuple):
    """One finding of `check`.

    The fields are `severity`, `message`, `structure`, `spec`, `address` and `path`.

    Example:
        >>> with hs.File("out.h5", "w") as made:
        ...     made["levels"], made["heights"] = np.arange(1000), [2]
        ...     made.flush()
        ...     del made["levels"]
        >>> for finding in hs.check("out.h5"):
        ...     print(finding.severity, finding.message)
        warning ... bytes in 1 piece are unreachable
    """

    severity: Literal["note", "warning", "error"]
    """An error violates the specification. A warning is harmless: 4096 or more unreachable bytes, or a count
    that is too large. A note names something that was not checked."""
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
    file: "str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]",
    *,
    data: bool = False,
    progress: Progress = None,
) -> list[Finding]:
    """Checks every structure of a file, and accounts for every byte.

    Nothing is written. A file that a crash left half-written is checked in the state after recovery. The file
    is sound if no finding is an error.

    Args:
        file: The path of the file, or a file object.
        data: Whether to decode every chunk as well.
        progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A function is
            called with the number of bytes that are accounted for, and the size of the file. An exception of
            the function ends the check, and is raised.

    Returns:
        The findings, in the order of the structures.

    Raises:
        OSError: The file cannot be read, or is not an HDF5 file.

    Example:
        >>> [finding for finding in hs.check("climate.h5", data=True) if finding.severity == "error"]
        []
        >>> seen = []
        >>> findings = hs.check("climate.h5", progress=lambda done, total: seen.append(done == total))
        >>> seen[-1]
        True
    """
    name = file if isinstance(file, str | bytes | os.PathLike) else getattr(file, "name", "file")
    with reported(progress, name, "B") as tell:
        return [Finding(*found) for found in _check(file, data, tell)]
