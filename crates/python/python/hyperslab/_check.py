"""Whether a file is sound."""

import os
from typing import IO, Literal, NamedTuple

from ._native import _check


class Finding(NamedTuple):
    """One thing that a check found."""

    severity: Literal["note", "warning", "error"]
    """An error breaks the specification. A warning does no harm: space that nothing reaches, a count that is too large. A note
    says what was not checked."""
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
    """Checks every structure of a file, and accounts for every byte; ``data``: decodes every chunk as well.

    ``file`` is a name, the bytes of a file, or a file object. Nothing is written; a file that a crash left half-way is checked
    as recovery would leave it. It is sound if no finding is an error. OSError: it cannot be read, or is no HDF5 file.
    """
    return [Finding(*found) for found in _check(file, data)]
