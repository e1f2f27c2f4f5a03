"""Random small surveys: every one comes back byte for byte, and is read as it was written."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from segy_files import BYTES, CROSSLINE, INLINE, STORED, grid, segy, some_values
from segy_surveys import brought, pytestmark  # noqa: F401
from support import hs

FILTERS = [{}, {"compression": "gzip"}, {"compression": "lzf", "shuffle": True}]
if hasattr(hs, "segy"):
    FILTERS += [{"compression": hs.Blosc2("zstd")}, {"compression": hs.Bitshuffle()}, {"compression": hs.LZ4()}]


@st.composite
def surveys(draw):
    """A file, the numbers of its traces, and its samples if they are numbers that the generator knows."""
    revision = draw(st.sampled_from([(0, 0), (1, 0), (2, 0), (2, 1)]))
    code, order = draw(st.sampled_from(list(STORED))), draw(st.sampled_from("<>"))
    inlines, crosslines, length = (draw(st.integers(2, 6)), draw(st.integers(2, 6)), draw(st.integers(1, 20)))
    first, step = draw(st.integers(-1000, 1000)), draw(st.sampled_from([1, 2, 5]))
    numbers = grid(
        first + step * np.arange(inlines), np.arange(crosslines), draw(st.sampled_from(["inline", "crossline"]))
    )
    numbers = numbers[draw(st.permutations(range(len(numbers))))] if draw(st.booleans()) else numbers
    numbers = numbers[draw(st.integers(0, 2)) :]
    samples = some_values(code, (len(numbers), length), draw(st.integers(0, 99)))
    patches, is_known = [], draw(st.booleans())
    trace = 240 + length * BYTES[code]
    for number in range(len(numbers)):
        start = 3600 + number * trace
        # What no field of the geometry uses may hold anything, and so may samples.
        patches.append((start + 118, draw(st.binary(min_size=40, max_size=40))))
        if not is_known:
            raw = np.random.default_rng(draw(st.integers(0, 2**32))).bytes(trace - 240)
            patches.append((start + 240, raw))
    fields = {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]}
    image = segy(samples, fields, code=code, order=order, revision=revision, patches=patches)
    return image, numbers, samples if is_known else None


@settings(max_examples=60, deadline=None)
@given(
    surveys(),
    st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 21)),
    st.sampled_from([1, 3000, 1 << 20]),
    st.sampled_from(FILTERS),
)
def test_every_survey_comes_back_byte_for_byte(survey, chunks, memory, filters):
    image, numbers, samples = survey
    with tempfile.TemporaryDirectory() as directory:
        with brought(Path(directory), image, chunks=chunks, memory=memory, **filters) as found:
            assert len(found.headers) == len(numbers)
            for number, place in enumerate(numbers):
                assert tuple(found.trace_header(number)[["inline", "crossline"]]) == tuple(place)
                if samples is not None:
                    np.testing.assert_array_equal(found.trace(number), samples[number])
        assert not [
            finding for finding in hs.check(Path(directory) / "cube.h5", data=True) if finding.severity == "error"
        ]
