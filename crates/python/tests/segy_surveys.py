"""Ingests SEG-Y files, exports them again, and compares surveys with arrays."""

import numpy as np
from segy_files import sha256
from support import hs


def brought(directory, image, **options):
    """Ingests a SEG-Y file, asserts that an export gives the same bytes, and returns the open survey."""
    source, cube, back = (directory / name for name in ("source.sgy", "cube.h5", "back.sgy"))
    source.write_bytes(image)
    back.unlink(missing_ok=True)
    hs.segy.ingest(source, cube, overwrite=True, **options)
    hs.segy.export(cube, back)
    assert sha256(source) == sha256(back), "the exported file differs from the source"
    return hs.segy.open(cube)


def assert_planes(survey, volume, axes):
    """Asserts that every line and some slices of a survey equal those of an array."""
    names = list(survey.axes)
    assert [list(survey.axes[name]) for name in names[:-1]] == [list(axis) for axis in axes]
    assert survey.data.dtype == volume.dtype
    for axis, name in enumerate(names[:-1]):
        read = {"inline": survey.inline, "crossline": survey.crossline, "offset": survey.offset}.get(name)
        for place, number in enumerate(survey.axes[name] if read else ()):
            np.testing.assert_array_equal(read(number), np.take(volume, place, axis))
    times = survey.axes[names[-1]]
    for place in {0, len(times) // 2, len(times) - 1}:
        np.testing.assert_array_equal(survey.depth_slice(times[place]), volume[..., place])
        np.testing.assert_array_equal(survey.depth_slice(place, index=True), volume[..., place])
    np.testing.assert_array_equal(survey.cube(), volume)
