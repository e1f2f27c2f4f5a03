"""Repacks a file with another filter, with `hyperslab repack` and with h5repack."""

import os
import subprocess
import sys
from pathlib import Path

import data
import writers
from common import OUR_NAME, OURS, Group, Target

TITLE = "1 GB of float32, (250,1000,1000) in chunks (1,500,500): from shuffle + gzip 4 to shuffle + Zstandard 3"
THREADS = (1, 2)
ZSTD = 32015


def groups(threads: int):
    import hdf5plugin

    source = data.repack_source()
    command = Path(sys.executable).with_name("hyperslab")

    def by_us(path: Path) -> None:
        filters = ["--filter", "zstd:3", "--shuffle", "--threads", str(threads)]
        subprocess.run([command, "repack", source, path, *filters], check=True, capture_output=True)

    def by_them(path: Path) -> None:
        environment = {**os.environ, "HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
        filters = ["-f", "SHUF", "-f", f"UD={ZSTD},0,1,3"]
        subprocess.run(["h5repack", *filters, source, path], check=True, env=environment)

    yield Group(
        "gzip to Zstandard",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us, OURS),
            writers.writer("h5repack", "h5repack.h5", by_them, threads="1 (it has no more)"),
        ],
        [Target("h5repack", 4.0)] if threads == 2 else [],
        lambda: data.gzip_values(data.repack_count()),
        work_bytes=4 * data.repack_count() * 1000 * 1000,
        files=[source],
        memory=False,
        normal=writers.read_back,
    )
