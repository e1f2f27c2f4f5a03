"""Conversion between SEG-Y and HDF5."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .._create import _compression
from .._native import _segy_export, _segy_extract, _segy_ingest, _segy_scan
from .._progress import Progress, reported
from ._places import Number, place_of
from ._survey import Survey, open

if TYPE_CHECKING:
    from .._filters import Filter

Path: TypeAlias = str | os.PathLike[str]
FieldPlace: TypeAlias = int | str
"""The first byte of a field of the trace header, counted from 1, such as `189`. A type other than i4 follows
the byte, as in `"189:i2"`: i1, u1, i2, u2, i4, u4, i8, u8, f4 or f8."""

_SHUFFLE, _FLETCHER32 = 2, 3


def _taking(
    inline_byte: FieldPlace | None,
    crossline_byte: FieldPlace | None,
    offset_byte: FieldPlace | None,
    cdp_byte: FieldPlace | None,
    x_byte: FieldPlace | None,
    y_byte: FieldPlace | None,
    kind: str | None,
    pad: bool,
    ignore_rest: bool,
    trust_length: bool,
) -> dict[str, Any]:
    def place(field: FieldPlace | None) -> str | None:
        return None if field is None else str(field)

    return {
        "inline_byte": place(inline_byte),
        "crossline_byte": place(crossline_byte),
        "offset_byte": place(offset_byte),
        "cdp_byte": place(cdp_byte),
        "x_byte": place(x_byte),
        "y_byte": place(y_byte),
        "kind": kind,
        "pad": bool(pad),
        "ignore_rest": bool(ignore_rest),
        "trust_length": bool(trust_length),
    }


def _filters(compression: Any, compression_opts: Any, shuffle: bool, fletcher32: bool) -> list[tuple[int, list[int]]]:
    if hasattr(compression, "filter_id"):
        compression, compression_opts = compression.filter_id, compression.filter_options
    number, options = _compression(compression, compression_opts)
    found: list[tuple[int, list[int]]] = [(_SHUFFLE, [])] if shuffle else []
    if number is not None:
        found.append((number, options))
    if fletcher32:
        found.append((_FLETCHER32, []))
    return found


def ingest(
    source: Path,
    to: Path,
    *,
    compression: "Filter | str | int | bool | None" = None,
    compression_opts: Any = None,
    shuffle: bool = False,
    fletcher32: bool = False,
    chunks: Sequence[int] | None = None,
    depth: bool = False,
    inline_byte: FieldPlace | None = None,
    crossline_byte: FieldPlace | None = None,
    offset_byte: FieldPlace | None = None,
    cdp_byte: FieldPlace | None = None,
    x_byte: FieldPlace | None = None,
    y_byte: FieldPlace | None = None,
    kind: str | None = None,
    pad: bool = False,
    ignore_rest: bool = False,
    trust_length: bool = False,
    memory: int = 512 << 20,
    overwrite: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Converts a SEG-Y file into a new HDF5 file, in chunks, with all headers. `open` reads the new file.

    If the conversion is interrupted or killed, the same call continues it. `open` refuses the file until it
    is complete.

    Args:
        source: The path of the SEG-Y file.
        to: The path of the HDF5 file.
        compression, compression_opts, shuffle, fletcher32: The filters of the samples, as for
            `Group.create_dataset`.
        chunks: The shape of a chunk, with samples last.
        depth: Whether samples follow each other in depth, and not in time.
        inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte: The first byte of these fields in
            the trace headers, counted from 1, as `189` or `"189:i2"`. The defaults are those of revision 1:
            189, 193, 37, 21, 181, 185.
        kind: The kind of survey: "volume", "prestack", "line", "prestack line" or "traces". None detects the
            kind.
        pad: Whether to accept traces of several lengths, and to make them as long as the longest.
        ignore_rest: Whether to accept a file that is cut short, and to take its whole traces.
        trust_length: Whether to believe the file header if trace headers count another number of samples.
        memory: The memory for samples, in bytes.
        overwrite: Whether to replace an existing file at `to`.
        progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A function is
            called with the number of bytes that are done, and the size of the file. An exception of the
            function ends the conversion, and is raised.

    Returns:
        A dict with `shape`, `traces`, `ibm_words` (the number of IBM floats that no IEEE float equals, and
        that are stored beside the samples), `resumed`, and `note` (a remark about the geometry, or None).

    Raises:
        ValueError: An argument is wrong, the geometry does not work out, or `to` exists.
        FormatError: The file is damaged, or is not SEG-Y. The message names the trace and the byte.
        OSError: The system refuses to read or to write a file.
        NotImplementedError: The file uses a feature of SEG-Y that is not supported.

    Example:
        >>> done = hs.segy.ingest("volume.sgy", "small.h5", compression=hs.Zstd())
        >>> done["shape"], done["traces"]
        ([3, 4, 5], 12)
    """
    taking = _taking(
        inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte, kind, pad, ignore_rest, trust_length
    )
    storing = {
        "filters": _filters(compression, compression_opts, shuffle, fletcher32),
        "chunks": None if chunks is None else [int(side) for side in chunks],
        "depth": bool(depth),
        "memory": int(memory),
        "overwrite": bool(overwrite),
    }
    with reported(progress, source, "B") as tell:
        return _segy_ingest(source, to, taking, storing, tell)


def export(cube: Path | Survey, to: Path, *, progress: Progress = None) -> None:
    """Writes a survey as SEG-Y: byte for byte the original file, except for samples that changed since.

    The file appears under its name when it is complete.

    Args:
        cube: The path of the HDF5 file, or the open survey.
        to: The path of the SEG-Y file, which must not exist.
        progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A function is
            called with the number of bytes that are done, and the size of the file. An exception of the
            function ends the export, and is raised.

    Raises:
        ValueError: `to` exists, or a sample cannot be stored in the format of the file.
        OSError: The system refuses to read or to write a file, or the survey is damaged.

    Example:
        >>> hs.segy.export("cube.h5", "back.sgy")
        >>> open("back.sgy", "rb").read() == open("volume.sgy", "rb").read()
        True
    """
    if not isinstance(cube, Survey):
        with open(cube) as survey:
            export(survey, to, progress=progress)
        return
    with reported(progress, to, "B") as tell:
        _segy_export(cube.file, to, tell)


def extract(cube: Path | Survey, axis: str, number: Number, to: Path) -> None:
    """Writes the traces at one number of an axis as a SEG-Y file, with their headers.

    Args:
        cube: The path of the HDF5 file, or the open survey.
        axis: The name of the axis: "inline", "crossline", "offset", "cdp" or "trace".
        number: The number on the axis.
        to: The path of the SEG-Y file, which must not exist.

    Raises:
        ValueError: The survey has no such axis or number, or `to` exists.
        OSError: The system refuses to read or to write a file, or the survey is damaged.

    Example:
        >>> hs.segy.extract("cube.h5", "inline", 1201, "line.sgy")
        >>> hs.segy.scan("line.sgy")["traces"]
        4
    """
    if not isinstance(cube, Survey):
        with open(cube) as survey:
            extract(survey, axis, number, to)
        return
    if axis in cube.axes and axis != cube.sample_axis:
        number = cube.axes[axis][place_of(axis, cube.axes[axis], number)]
    _segy_extract(cube.file, axis, number, to)


def scan(
    path: Path,
    *,
    inline_byte: FieldPlace | None = None,
    crossline_byte: FieldPlace | None = None,
    offset_byte: FieldPlace | None = None,
    cdp_byte: FieldPlace | None = None,
    x_byte: FieldPlace | None = None,
    y_byte: FieldPlace | None = None,
    kind: str | None = None,
    pad: bool = False,
    ignore_rest: bool = False,
    trust_length: bool = False,
) -> dict[str, Any]:
    """Describes a SEG-Y file, or a survey, like the command `hyperslab segy info`.

    Args:
        path: The path of the SEG-Y or HDF5 file.
        inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte: The first byte of these fields in
            the trace headers, counted from 1, as `189` or `"189:i2"`. The defaults are those of revision 1:
            189, 193, 37, 21, 181, 185.
        kind: The kind of survey: "volume", "prestack", "line", "prestack line" or "traces". None detects the
            kind.
        pad: Whether to accept traces of several lengths, and to make them as long as the longest.
        ignore_rest: Whether to accept a file that is cut short, and to take its whole traces.
        trust_length: Whether to believe the file header if trace headers count another number of samples.

    Returns:
        A dict. `axes` is a list of dicts with `name`, `first`, `last`, `length` and, if the axis has one,
        `unit`. `sample_interval` is in microseconds. `note` is a remark about the geometry, or None.

    Raises:
        ValueError, FormatError, OSError, NotImplementedError: As for `ingest`.

    Example:
        >>> found = hs.segy.scan("volume.sgy")
        >>> [(axis["name"], axis["first"], axis["last"]) for axis in found["axes"]][:2]
        [('inline', 1200, 1202), ('crossline', 390, 393)]
    """
    taking = _taking(
        inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte, kind, pad, ignore_rest, trust_length
    )
    return {"note": None, **_segy_scan(path, taking)}
