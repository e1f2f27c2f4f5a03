"""Random small surveys: every exported file equals its source, and every trace has its values."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segy_files import BYTES, CROSSLINE, INLINE, STORED, grid, segy, some_values
from segy_surveys import brought
from support import hs

FILTERS = [{}, {"compression": "gzip"}, {"compression": "lzf", "shuffle": True}]
if hasattr(hs, "segy"):
    FILTERS += [{"compression": hs.Blosc2("zstd")}, {"compression": hs.Bitshuffle()}, {"compression": hs.LZ4()}]


@st.composite
def surveys(draw):
    """Draws a file, the line numbers of its traces, and its samples (None if they are random bytes)."""
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
        # Header bytes that no geometry field uses may have any value, and so may samples.
        patches.append((start + 118, draw(st.binary(min_size=40, max_size=40))))
        if not is_known:
            raw = np.random.default_rng(draw(st.integers(0, 2**32))).bytes(trace - 240)
            patches.append((start + 240, raw))
    fields = {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]}
    image = segy(samples, fields, code=code, order=order, revision=revision, patches=patches)
    return image, numbers, samples if is_known else None


@pytest.mark.soak
@settings(max_examples=60, deadline=None)
@given(
    surveys(),
    st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 21)),
    st.sampled_from([1, 3000, 1 << 20]),
    st.sampled_from(FILTERS),
)
def test_every_survey_is_exported_byte_for_byte(survey, chunks, memory, filters):
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


BASES = [
    segy(some_values(code, (12, 7)), {INLINE: np.arange(12) // 4, CROSSLINE: np.arange(12) % 4}, code=code, **options)
    for code, options in [
        (1, {"revision": (0, 0)}),
        (5, {"extended": ["((SEG: EndText))"], "extended_count": -1}),
        (3, {"revision": (2, 0), "further": 1, "trailer": b"x" * 3200}),
        (6, {"revision": (2, 1), "order": "<", "label": True, "gap": 64}),
    ]
]
# Offsets of header fields with positions and counts. Damage to them has the largest effect.
TELLING = [3216, 3217, 3220, 3221, 3224, 3225, *range(3268, 3300), *range(3500, 3532), 3714, 3715, 3788, 3792]


@st.composite
def damaged(draw):
    """Draws a file with some bytes changed, and often with its end cut off."""
    image = bytearray(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 4))):
        offset = draw(st.one_of(st.sampled_from(TELLING), st.integers(0, len(image) - 1)))
        image[offset] = draw(st.sampled_from([0, 1, 2, 3, 5, 127, 128, 255]))
    return bytes(image[: draw(st.one_of(st.just(len(image)), st.integers(0, len(image))))])


@pytest.mark.soak
@settings(max_examples=150, deadline=None)
@given(damaged(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([1, 1 << 20]))
def test_a_damaged_file_is_refused_with_a_message_or_exported_byte_for_byte(
    image, pad, ignore_rest, trust_length, memory
):
    with tempfile.TemporaryDirectory() as directory:
        try:
            options = {"pad": pad, "ignore_rest": ignore_rest, "trust_length": trust_length, "memory": memory}
            brought(Path(directory), image, **options).close()
        except (hs.FormatError, ValueError, NotImplementedError) as error:
            assert str(error)
