"""What a typed program looks like: ``mypy --strict`` accepts it. Usage: typed_example.py FILE [DATASET]."""

import sys

import hyperslab as hs
import numpy as np


def describe(file: hs.File) -> list[str]:
    """One line for each dataset of a file."""
    lines: list[str] = []

    def note(name: str, item: object) -> None:
        if isinstance(item, hs.Dataset):
            lines.append(f"{name}: {item.shape} {item.dtype}, chunks {item.chunks}, {item.compression or 'plain'}")

    file.visititems(note)
    return lines


def mean_of_rows(dataset: hs.Dataset, rows: slice) -> float:
    """The mean of some rows, read once into an array that could be used again."""
    count = len(range(*rows.indices(len(dataset))))
    out = np.empty((count, *(dataset.shape or ())[1:]), dtype=np.float64)
    dataset.read(rows, out=out, threads=2)
    return float(out.mean())


def main(path: str, name: str | None = None) -> int:
    try:
        with hs.File(path) as file:
            for line in describe(file):
                print(line)
            if name is not None:
                dataset = file[name]
                print(dataset.plan(slice(0, 10)))
                print(mean_of_rows(dataset, slice(0, 10)))
                for key, value in dataset.attrs.items():
                    print(key, value)
    except (hs.FormatError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
