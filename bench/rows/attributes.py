"""Lists many datasets and reads all their attributes."""

import data
from common import OUR_NAME, OURS, Contestant, Group, Target
from peers import ours_module

TITLE = "open a file, list its datasets with 5 attributes each, read all attributes"
THREADS = (1,)


def h5py_module():
    import h5py

    return h5py


def reading(module):
    """Returns a function that opens the file and reads the attributes of each dataset of its group."""

    def read(state, turn):
        with module().File(data.attributes(), "r") as file:
            return [
                (
                    name,
                    int(attrs["number"]),
                    float(attrs["scale"]),
                    attrs["units"],
                    len(attrs["range"]),
                    attrs["long_name"],
                )
                for name, attrs in ((name, dict(dataset.attrs.items())) for name, dataset in file["g"].items())
            ]

    return read


def expected():
    count = data.attributes_count()
    return [(f"d{n:06d}", n, 0.5, "K", 2, f"variable number {n}") for n in range(count)]


def groups(threads: int):
    count = data.attributes_count()
    yield Group(
        f"{count} datasets",
        [
            Contestant(OUR_NAME, reading(ours_module), kind=OURS),
            Contestant("h5py", reading(h5py_module), threads="1 (it has no more)"),
        ],
        [Target("h5py", 5.0)],
        expected,
        operations=count,
        files=[data.attributes()],
        memory=False,
    )
