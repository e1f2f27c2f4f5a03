"""Files that all ranks of `MPI.COMM_WORLD` change together, checked by h5py. Run by `make test-mpi`.

    mpirun -n 2 python crates/python/tests/mpi/ranks.py

Every rank runs every test, in the same order. A rank that fails ends the program on all ranks.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import h5py
import hyperslab as hs
import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
ROWS, COLUMNS = 37, 11
EXPECTED = np.arange(ROWS * COLUMNS, dtype="i4").reshape(ROWS, COLUMNS)


def opened(path: Path, mode: str = "w", **keywords: object) -> hs.File:
    return hs.File(path, mode, driver="mpio", comm=COMM, **keywords)


def mine() -> slice:
    """The rows of this rank. They do not begin where chunks do."""
    return slice(ROWS * RANK // SIZE, ROWS * (RANK + 1) // SIZE)


def read_by_h5py(path: Path, name: str) -> np.ndarray:
    """Returns a dataset as h5py reads it, on all ranks."""
    COMM.Barrier()
    values = None
    if RANK == 0:
        with h5py.File(path) as file:
            values = file[name][()]
    return COMM.bcast(values)


def raised(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("no error")


def test_collective_writes_of_every_storage(folder: Path) -> None:
    storages: dict[str, dict[str, object]] = {
        "contiguous": {},
        "chunked": {"chunks": (5, 4)},
        "gzip": {"chunks": (5, 4), "compression": "gzip", "shuffle": True},
        "one chunk": {"chunks": (ROWS, COLUMNS), "compression": "lzf"},
        "growing": {"chunks": (5, COLUMNS), "maxshape": (None, COLUMNS), "fletcher32": True},
        "blosc2": {"chunks": (5, 4), **hs.Blosc2()},
    }
    path = folder / "storages.h5"
    with opened(path) as file:
        file.attrs["title"] = "Temperature"
        for name, storage in storages.items():
            dataset = file.create_dataset(name, EXPECTED.shape, "i4", **storage)
            with dataset.collective:
                dataset[mine()] = EXPECTED[mine()]
            np.testing.assert_array_equal(dataset[()], EXPECTED)
        assert file.driver == "mpio"
    for name in storages:
        if name != "blosc2":
            np.testing.assert_array_equal(read_by_h5py(path, name), EXPECTED)
    with hs.File(path) as file:
        np.testing.assert_array_equal(file["blosc2"][()], EXPECTED)
        assert file.attrs["title"] == "Temperature"


def test_independent_writes(folder: Path) -> None:
    path = folder / "independent.h5"
    with opened(path) as file:
        dataset = file.create_dataset("d", EXPECTED.shape, "i4", fillvalue=-1)
        chunked = file.create_dataset("c", EXPECTED.shape, "i4", chunks=(5, 4))
        if RANK == SIZE - 1:
            dataset[3] = EXPECTED[3]
            assert "make a collective write" in raised(lambda: chunked.__setitem__(0, 1))
    expected = np.full_like(EXPECTED, -1)
    expected[3] = EXPECTED[3]
    np.testing.assert_array_equal(read_by_h5py(path, "d"), expected)


def test_data_of_a_new_dataset_are_the_same_on_all_ranks(folder: Path) -> None:
    path = folder / "created.h5"
    names = ["Geneva", "Zürich"]
    with opened(path) as file:
        file.create_dataset("chunked", data=EXPECTED, chunks=(5, 4), compression="gzip")
        file["contiguous"] = EXPECTED
        file["names"] = names
        group = file.create_group("group", track_order=True)
        group.attrs["names"] = names
        group["link"] = hs.SoftLink("/chunked")
    for name in ("chunked", "contiguous", "group/link"):
        np.testing.assert_array_equal(read_by_h5py(path, name), EXPECTED)
    assert [name.decode() for name in read_by_h5py(path, "names")] == names


def test_a_file_of_h5py_is_changed_and_grown(folder: Path) -> None:
    path = folder / "changed.h5"
    if RANK == 0:
        with h5py.File(path, "w") as file:
            options = {"chunks": (5, COLUMNS), "maxshape": (None, COLUMNS), "compression": "gzip"}
            file.create_dataset("d", data=EXPECTED[:7], **options)
    COMM.Barrier()
    with opened(path, "r+") as file:
        dataset = file["d"]
        dataset.resize(ROWS, 0)
        rows = slice(max(7, mine().start), max(7, mine().stop))
        with dataset.collective:
            dataset[rows] = EXPECTED[rows]
        file.flush()
        with dataset.collective:
            dataset[mine(), 2] = 0
    expected = EXPECTED.copy()
    expected[:, 2] = 0
    np.testing.assert_array_equal(read_by_h5py(path, "d"), expected)


def test_a_rank_that_fails_makes_all_fail(folder: Path) -> None:
    path = folder / "failing.h5"
    with opened(path) as file:
        file["d"] = EXPECTED
        file.flush()

    def change() -> None:
        with opened(path, "r+") as file:
            file.create_group("half")
            if RANK == SIZE - 1:
                raise KeyError("no input")
            file.flush()

    error = raised(change)
    assert "no input" in error, error
    assert RANK == SIZE - 1 or f"rank {SIZE - 1} failed" in error, error
    np.testing.assert_array_equal(read_by_h5py(path, "d"), EXPECTED)
    with hs.File(path) as file:
        assert list(file) == ["d"]


def test_opening_fails_on_all_ranks(folder: Path) -> None:
    assert "FileNotFoundError" in raised(lambda: opened(folder / "no.h5", "r+")) or RANK > 0
    path = folder / "there.h5"
    opened(path).close()
    error = raised(lambda: opened(path, "x"))
    assert "FileExistsError" in error or ("rank 0 failed" in error and RANK > 0), error
    assert "needs comm=" in raised(lambda: hs.File(path, "w", driver="mpio"))
    assert "mpi4py" in raised(lambda: hs.File(path, "w", driver="mpio", comm=3))
    with opened(path, "a") as file:
        assert not list(file)


def test_communicators_are_freed(folder: Path) -> None:
    # MPI has a limit, and no room for 60 more.
    kept = []
    with contextlib.suppress(MPI.Exception):
        while True:
            kept.append(COMM.Dup())
    for _ in range(20):
        kept.pop().Free()
    try:
        for _ in range(30):
            opened(folder / "often.h5").close()
            raised(lambda: opened(folder / "often.h5", "x"))
    finally:
        for comm in kept:
            comm.Free()


def test_options_that_differ_are_refused(folder: Path) -> None:
    error = raised(lambda: opened(folder / "options.h5", rdcc_nbytes=(1 + RANK) << 20))
    assert "rank 1" in error and "same arguments" in error, error


def main() -> int:
    folder = Path(COMM.bcast(tempfile.mkdtemp() if RANK == 0 else None))
    try:
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(folder)
                COMM.Barrier()
                if RANK == 0:
                    print(f"{SIZE} ranks: {name}", flush=True)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        COMM.Abort(1)
    finally:
        if RANK == 0:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
