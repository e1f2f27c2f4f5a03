"""Ranks of MPI that write or read one file when they are told to. Run by the row `ranks`.

    mpirun -n 2 python ranks.py FOLDER

Each rank reads lines from the named pipe FOLDER/rank.N: `WORK PATH`. It does not look for them meanwhile, as
a rank that waits for a message does. Rank 0 prints the seconds from before the file is opened until all ranks
have closed it, or the error. The package of a `WORK` is imported when it is first needed, so the interpreter
of parallel HDF5 may be another one.
"""

import functools
import sys
import traceback

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
FOLDER, ROWS = sys.argv[1], int(sys.argv[2])
COLUMNS = 256 * 1024
# 1 MiB of float32.
CHUNK = (1, COLUMNS)
MINE = slice(ROWS * RANK // SIZE, ROWS * (RANK + 1) // SIZE)


@functools.cache
def values():
    """The elements of this rank: they compress by about a half."""
    random = np.random.default_rng(RANK)
    shape = (MINE.stop - MINE.start, COLUMNS)
    return (random.integers(0, 1 << 12, shape, "i4") * np.float32(0.25)).astype("f4")


STORAGES = {
    "contiguous": {},
    "chunked": {"chunks": CHUNK},
    "gzip": {"chunks": CHUNK, "compression": "gzip", "compression_opts": 1, "shuffle": True},
}


def raw_write(path):
    file = MPI.File.Open(COMM, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Write_at(MINE.start * COLUMNS * 4, values())
    file.Close()


def raw_read(path):
    out = target()
    file = MPI.File.Open(COMM, path, MPI.MODE_RDONLY)
    # The elements of a contiguous dataset of hyperslab, which follow the metadata, have the same length.
    file.Read_at(MINE.start * COLUMNS * 4, out)
    file.Close()


@functools.cache
def target():
    return np.zeros((MINE.stop - MINE.start, COLUMNS), "f4")


def write(package, storage, collective, path):
    with package.File(path, "w", driver="mpio", comm=COMM) as file:
        dataset = file.create_dataset("d", (ROWS, COLUMNS), "f4", **STORAGES[storage])
        if collective:
            with dataset.collective:
                dataset[MINE] = values()
        else:
            dataset[MINE] = values()


def read(package, path):
    with package.File(path, "r", driver="mpio", comm=COMM) as file:
        file["d"].read_direct(target(), np.s_[MINE])


def do(work, path):
    if work == "raw-write":
        return raw_write(path)
    if work == "raw-read":
        return raw_read(path)
    if work.startswith("hyperslab"):
        import hyperslab as package
    else:
        import h5py as package
    _, kind, storage = work.split("-")
    if kind == "read":
        return read(package, path)
    return write(package, storage, kind == "collective", path)


def main():
    values()
    target()
    with open(f"{FOLDER}/rank.{RANK}") as told:
        if RANK == 0:
            print("ready", flush=True)
        for line in told:
            work, path = line.split()
            try:
                COMM.Barrier()
                start = MPI.Wtime()
                do(work, path)
                COMM.Barrier()
                answer = repr(MPI.Wtime() - start)
            except Exception:
                traceback.print_exc()
                COMM.Abort(1)
            if RANK == 0:
                print(answer, flush=True)


main()
