"""Opens a file on a web server, lists it, and reads a plane of a cube."""

import atexit
import subprocess
import sys
from functools import cache
from typing import Any

import data
import numpy as np
import peers
from common import HERE, OURS, Contestant, Group, Target

TITLE = "a file on a web server, 20 ms and 100 MB/s for each connection: open, list 200 groups, read a plane"
THREADS = (1, 2)


@cache
def address() -> str:
    """Starts the server and returns the URL of the file."""
    command = [sys.executable, str(HERE / "far.py"), str(data.remote())]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    return f"http://127.0.0.1:{int(server.stdout.readline())}/remote.h5"


def used(file: Any) -> np.ndarray:
    """Returns the number of each group and a plane of the cube, as one array."""
    numbers = [group.attrs["number"] for group in file["runs"].values()]
    return np.concatenate([np.array(numbers, "f4"), file["cube"][:, 100].ravel()])


def ours(_: None, turn: int) -> np.ndarray:
    with peers.ours_module().File(address()) as file:
        return used(file)


def by_fsspec(_: None, turn: int) -> np.ndarray:
    import fsspec
    import h5py

    with fsspec.filesystem("http").open(address()) as opened, h5py.File(opened) as file:
        return used(file)


def by_ros3(_: None, turn: int) -> np.ndarray:
    import h5py

    with h5py.File(address(), driver="ros3") as file:
        return used(file)


def expected() -> np.ndarray:
    import h5py

    with h5py.File(data.remote()) as file:
        return used(file)


def groups(threads: int):
    import h5py

    peers.ours_module().set_threads(threads)
    theirs = [Contestant("fsspec + h5py", by_fsspec, threads="1")]
    if h5py.get_config().ros3:
        theirs.append(Contestant("h5py, ros3", by_ros3, threads="1"))
    yield Group(
        "open, list, plane",
        [Contestant("hyperslab", ours, kind=OURS), *theirs],
        [Target("fsspec", 10.0)],
        expected,
        files=[data.remote()],
        memory=False,
    )
