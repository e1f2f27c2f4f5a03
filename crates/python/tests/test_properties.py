"""Random files written by h5py, of any type, shape, filter and version: any selection equals NumPy's."""

import io

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import assert_same, image_of, open_image

DTYPES = [
    "i1",
    "u1",
    "<i2",
    ">i2",
    "<u4",
    ">i4",
    "<i8",
    ">u8",
    "<f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<c8",
    "<c16",
    "?",
    "S1",
    "S7",
    np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3")]),
    np.dtype(("<i2", (2,))),
    np.dtype([("v", "<f4", (3,)), ("n", [("k", ">u2")])]),
]
FILTERS = [
    {},
    {"compression": "gzip"},
    {"compression": "gzip", "shuffle": True},
    {"shuffle": True},
    {"fletcher32": True},
    {"compression": "lzf"},
    {"compression": "lzf", "shuffle": True, "fletcher32": True},
    {"compression": hdf5plugin.LZ4()},
    {"compression": hdf5plugin.Zstd()},
    {"compression": hdf5plugin.Bitshuffle()},
    {"compression": hdf5plugin.Blosc()},
    {"compression": hdf5plugin.Blosc(cname="zstd", shuffle=2)},
    {"compression": hdf5plugin.Blosc2()},
    {"compression": hdf5plugin.Blosc2(cname="zstd", filters=2)},
]
LIBVERS = ["earliest", "v108", "v110", "v112", "v114", "latest"]
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@st.composite
def layouts(draw):
    """Draws the arguments of `create_dataset`, the corner that is written, and a selection."""
    shape = tuple(draw(st.lists(st.integers(0, 13), max_size=4)))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    options = {"shape": shape, "dtype": dtype}
    if shape and draw(st.booleans()):
        options["chunks"] = tuple(draw(st.integers(1, max(n, 1))) for n in shape)
        options["maxshape"] = tuple(
            draw(st.sampled_from((n, n + 3, None))) if n >= c else None for n, c in zip(shape, options["chunks"])
        )
        if dtype.subdtype is None:
            options.update(draw(st.sampled_from(FILTERS)))
    if dtype.kind in "iuf" and draw(st.booleans()):
        options["fillvalue"] = np.asarray(draw(st.integers(0, 100)), dtype)[()]
    corner = tuple(slice(0, draw(st.integers(0, n))) if draw(st.booleans()) else slice(None) for n in shape)
    return options, corner, draw(selections(shape))


@st.composite
def selections(draw, shape):
    """Draws integers, slices and at most one list or mask, as h5py allows."""
    parts, fancy = [], False
    for n in shape:
        kind = draw(st.sampled_from(("slice", "slice", "integer", "list", "mask", "all")))
        if kind == "integer" and n:
            parts.append(draw(st.integers(-n, n - 1)))
        elif kind == "list" and n and not fancy:
            fancy = True
            parts.append(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1))))
        elif kind == "mask" and n and not fancy:
            fancy = True
            parts.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))))
        elif kind == "slice":
            parts.append(
                slice(
                    draw(st.none() | st.integers(-n - 2, n + 2)),
                    draw(st.none() | st.integers(-n - 2, n + 2)),
                    draw(st.none() | st.integers(1, 5)),
                )
            )
        else:
            parts.append(slice(None))
    keep = draw(st.integers(0, len(parts)))
    if keep < len(parts) and draw(st.booleans()):
        parts = parts[:keep]
    return tuple(parts)


@pytest.mark.soak
@SETTINGS
@given(layout=layouts(), libver=st.sampled_from(LIBVERS), seed=st.integers(0, 1000))
def test_any_selection_of_any_dataset_gives_the_result_of_numpy(layout, libver, seed):
    options, corner, selection = layout
    values = noise(options["dtype"], options["shape"], seed)

    def write(f):
        d = f.create_dataset("d", **options)
        if values.size:
            d[corner] = values[corner]

    image = image_of(write, (libver, "latest"))
    with h5py.File(io.BytesIO(image), "r") as f:
        whole = f["d"][()]
    expected_properties = (
        options["shape"],
        options["dtype"],
        options.get("chunks"),
        options.get("maxshape", options["shape"]),
    )
    with open_image(image) as f:
        d = f["d"]
        assert (d.shape, d.dtype, d.chunks, d.maxshape) == expected_properties
        assert_same(np.asarray(d[()]), np.asarray(whole))
        found = np.asarray(d[selection])
        np.testing.assert_array_equal(found, orthogonal(whole, selection))


def orthogonal(array, selection):
    """Selects each axis by itself, as h5py does.

    NumPy would move an axis if an integer and a list are apart.
    """
    for axis in reversed(range(len(selection))):
        array = array[(slice(None),) * axis + (selection[axis],)]
    return array


def noise(dtype, shape, seed):
    """Returns random values of the type, some of them equal."""
    rng = np.random.default_rng(seed)
    if dtype.subdtype is not None:
        return noise(dtype.subdtype[0], shape + dtype.subdtype[1], seed)
    if dtype.names:
        out = np.zeros(shape, dtype)
        for i, name in enumerate(dtype.names):
            out[name] = noise(dtype[name], shape, seed + i)
        return out
    if dtype.kind == "S":
        return rng.integers(0, 10 ** min(dtype.itemsize, 9), shape).astype(dtype)
    return rng.integers(0, 100, shape).astype(dtype)
