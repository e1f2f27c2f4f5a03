"""References to a million chunks of 64 bytes, for Zarr's readers: as kerchunk's dictionary and JSON."""

import gc
import json
import tempfile
from pathlib import Path

import data
from common import OUR_NAME, OURS, Contestant, Group, Target

TITLE = "references to 1,000,000 chunks of 64 bytes"
THREADS = (1,)
KINDS = ("btree1", "fixed_array")


def ours(path: Path):
    def call(state, turn):
        import hyperslab

        return hyperslab.references(path)["refs"]

    return call


def kerchunk(path: Path):
    def call(state, turn):
        from kerchunk.hdf import SingleHdf5ToZarr

        # An object of h5py that is collected in Zarr's thread waits for the lock that kerchunk holds.
        gc.disable()
        try:
            return SingleHdf5ToZarr(str(path), inline_threshold=0).translate()["refs"]
        finally:
            gc.enable()

    return call


def command(path: Path):
    """Writes the JSON by the command, and returns its path."""

    def call(state, turn):
        from hyperslab._native import run_cli

        target = Path(state.name) / "ours.json"
        assert run_cli(["hyperslab", "refs", str(path), "-o", str(target)]) == 0
        return target

    return call


def dumped(path: Path):
    def call(state, turn):
        target = Path(state.name) / "theirs.json"
        with target.open("w") as file:
            json.dump({"version": 1, "refs": kerchunk(path)(None, turn)}, file)
        return target

    return call


def chunks(refs) -> dict:
    """Returns the references to chunks, without metadata and the name of the file."""
    if isinstance(refs, Path):
        refs = json.loads(refs.read_text())["refs"]
    return {key: list(found[1:]) for key, found in refs.items() if not key.rpartition("/")[2].startswith(".")}


def expected(path: Path):
    def find():
        import h5py

        found = {}
        with h5py.File(path) as file:
            width = file["d"].chunks[0]
            file["d"].id.chunk_iter(
                lambda chunk: found.update({f"d/{chunk.chunk_offset[0] // width}": [chunk.byte_offset, chunk.size]})
            )
        return found

    return find


def groups(threads: int):
    for kind in KINDS:
        path = data.million(kind)
        for what, mine, theirs in (("dictionary", ours, kerchunk), ("JSON file", command, dumped)):
            is_file = what == "JSON file"
            folder = {"open": tempfile.TemporaryDirectory, "close": lambda folder: folder.cleanup()} if is_file else {}
            yield Group(
                f"{kind.replace('_', ' ').replace('btree', 'B-tree version ')}: {what}",
                [
                    Contestant(OUR_NAME, mine(path), kind=OURS, **folder),
                    Contestant("kerchunk", theirs(path), **folder),
                ],
                [Target("kerchunk", 5.0)],
                expected(path),
                operations=data.million_side() ** 2,
                files=[path],
                memory=False,
                normal=chunks,
            )
