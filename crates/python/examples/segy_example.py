"""A seismic survey, typed: ``mypy --strict`` accepts it. Usage: segy_example.py SEGY CUBE."""

import sys

import hyperslab as hs
import numpy as np


def tell(done: int, total: int) -> None:
    print(f"\r{done / total:4.0%}", end="", file=sys.stderr)


def strongest(survey: hs.segy.Survey) -> tuple[int, float]:
    """The inline with the largest mean magnitude, each read into the same array."""
    numbers = survey.axes["inline"]
    out = np.empty(survey.shape[1:], survey.data.dtype)
    means = [float(np.nanmean(np.abs(survey.inline(int(number), out=out)))) for number in numbers]
    best = int(np.argmax(means))
    return int(numbers[best]), means[best]


def main(source: str, cube: str) -> int:
    try:
        done = hs.segy.ingest(source, cube, compression=hs.Blosc2("zstd"), progress=tell)
        print(f"{done['traces']} traces, {done['note'] or 'geometry found'}")
        with hs.segy.open(cube) as survey:
            print(survey)
            print(survey.text.splitlines()[:3])
            if survey.kind == "volume":
                print("strongest inline: {} ({:g})".format(*strongest(survey)))
                samples, numbers = survey.polyline([(axis[0], other[-1]) for axis, other in corners(survey)])
                print(samples.shape, numbers[0], numbers[-1])
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def corners(survey: hs.segy.Survey) -> list[tuple[list[int], list[int]]]:
    """The first and the last inline, each with a crossline: ends of a diagonal."""
    inlines, crosslines = ([int(axis[0]), int(axis[-1])] for axis in (survey.axes["inline"], survey.axes["crossline"]))
    return [(inlines, crosslines[::-1]), (inlines[::-1], crosslines)]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
