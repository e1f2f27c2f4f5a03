"""Ingests a SEG-Y file into compressed chunks, by hyperslab into HDF5 and by MDIO into Zarr."""

from pathlib import Path

import data
import numpy as np
import writers
from common import OUR_NAME, OURS, Group, Target
from peers import h5py_answer

TITLE = "a SEG-Y file of 500x400x1000 IBM floats with its headers into chunks of 128^3, Blosc Zstd 5 + shuffle"
THREADS = (2,)
CHUNKS = (128, 128, 128)


def by_us(path: Path) -> None:
    import hyperslab

    hyperslab.segy.ingest(data.planes_segy(), path, chunks=CHUNKS, compression=hyperslab.Blosc2("zstd", level=5))


def by_mdio(path: Path) -> None:
    """MDIO scans the file first, and starts processes for both passes."""
    from mdio import segy_to_mdio
    from mdio.builder.template_registry import TemplateRegistry
    from segy.schema import HeaderField
    from segy.standards import get_segy_standard

    places = {"inline": 189, "crossline": 193, "cdp_x": 181, "cdp_y": 185}
    fields = [HeaderField(name=name, byte=byte, format="int32") for name, byte in places.items()]
    fields.append(HeaderField(name="coordinate_scalar", byte=71, format="int16"))
    standard = get_segy_standard(1.0).customize(trace_header_fields=fields)
    template = TemplateRegistry().get("PostStack3DTime")
    segy_to_mdio(standard, template, data.planes_segy(), path, overwrite=True)


def read_back(path: Path | None) -> np.ndarray | None:
    """Returns the samples of a file or of a store, read by the library of its format."""
    if path is None or not path.exists():
        return None
    if not path.is_dir():
        return h5py_answer(path, name="data")
    import zarr

    return zarr.open_group(str(path), mode="r")["amplitude"][...]


def groups(threads: int):
    yield Group(
        "SEG-Y into Blosc Zstd",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us, OURS),
            writers.writer(
                "MDIO", "survey.mdio", by_mdio, threads=f"{threads} processes", MDIO__IMPORT__CPU_COUNT=str(threads)
            ),
        ],
        [Target("MDIO", 4.0)],
        data.planes_values,
        work_bytes=4 * int(np.prod(data.planes_shape())),
        files=[data.planes_segy()],
        normal=read_back,
    )
