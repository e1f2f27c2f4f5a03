"""Between SEG-Y and HDF5."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .._create import _compression
from .._native import _segy_export, _segy_extract, _segy_ingest, _segy_scan
from ._survey import Survey, open

if TYPE_CHECKING:
    from .._filters import Filter

Path: TypeAlias = str | os.PathLike[str]
FieldPlace: TypeAlias = int | str
"""The first byte of a field of the trace header, counted from 1, as ``189``; with the kind of number if that is not i4, as
``"189:i2"``: i1, u1, i2, u2, i4, u4, i8, u8, f4 or f8."""
Progress: TypeAlias = Callable[[int, int], object]

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
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Brings the SEG-Y file ``source`` into a new HDF5 file ``to``: in chunks, with all its headers. ``open`` reads it.

    If it is interrupted or killed, the same call goes on where it was; until it is complete, ``open`` refuses the file.

    compression, compression_opts, shuffle, fletcher32 : as for ``Group.create_dataset``, of the samples.
    chunks : the shape of chunks, samples last.  depth : samples follow each other in depth, not in time.
    inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte : where trace headers hold these, as ``189`` or
        ``"189:i2"``, where they are not as revision 1 has them (189, 193, 37, 21, 181, 185).
    kind : what the survey is, if that is not to be found out: "volume", "prestack", "line", "prestack line", "traces".
    pad : take traces of several lengths, and make them as long as the longest.  ignore_rest : take the whole traces of a
        file that is cut short.  trust_length : believe the file header where trace headers count other samples.
    memory : bytes of samples in memory.  overwrite : replace ``to`` if it is there.
    progress : is called with the bytes done and the bytes of the file; what it raises ends the work, and is raised.

    Returns ``shape``, ``traces``, ``ibm_words`` (IBM floats kept beside, as no IEEE float is equal), ``resumed``, and
    ``note`` (what to know of the geometry, or None).

    ValueError: a wrong argument, a geometry that does not work out, ``to`` exists. FormatError: damaged, or no SEG-Y; the
    message names the trace and the byte. OSError: as the system says. NotImplementedError: SEG-Y that is not handled.
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
    return _segy_ingest(source, to, taking, storing, progress)


def export(cube: Path | Survey, to: Path, *, progress: Progress | None = None) -> None:
    """Writes a survey back as SEG-Y, to a file that must not be there: byte for byte the one that it was made of.

    Samples that were changed since are written as they are now. The file appears under its name when it is whole.

    cube : the HDF5 file, or the open survey.
    progress : is called with the bytes done and the bytes of the file; what it raises ends the work, and is raised.

    ValueError: ``to`` exists, or a sample cannot be stored in the format of the file. OSError: as the system says, or a
    damaged file.
    """
    if isinstance(cube, Survey):
        _segy_export(cube.file, to, progress)
        return
    with open(cube) as survey:
        _segy_export(survey.file, to, progress)


def extract(cube: Path | Survey, axis: str, number: int, to: Path) -> None:
    """Writes the traces at one number of an axis as a SEG-Y file, with their headers; ``to`` must not be there.

    axis : "inline", "crossline", "offset", "cdp" or "trace", as the survey has them.

    ValueError: no such axis or number, or ``to`` exists. OSError: as the system says, or a damaged file.
    """
    if isinstance(cube, Survey):
        _segy_extract(cube.file, axis, number, to)
        return
    with open(cube) as survey:
        _segy_extract(survey.file, axis, number, to)


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
    """What ``hyperslab segy info`` says of a SEG-Y file, or of a survey made of one. Arguments are those of ``ingest``.

    ``axes`` is a list of dicts with ``name``, ``first``, ``last`` and ``length``, and ``unit`` where there is one; ``sample_interval``
    is in microseconds; ``note`` says what to know of the geometry, if there is something.

    Errors are those of ``ingest``.
    """
    taking = _taking(
        inline_byte, crossline_byte, offset_byte, cdp_byte, x_byte, y_byte, kind, pad, ignore_rest, trust_length
    )
    return {"note": None, **_segy_scan(path, taking)}
