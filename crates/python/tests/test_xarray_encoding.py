"""Encodings of the engine "hyperslab" of xarray: which filters are kept and taken. The oracle is netCDF4."""

import pickle
import subprocess
import sys

import hyperslab as hs
import numpy as np
import pytest
import xarray as xr
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="an engine of hyperslab")
VALUES = np.arange(6000, dtype="i4").reshape(60, 100) // 7
BLOSC = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_zlib", "blosc_zstd")
PLAIN = {"zlib": False, "szip": False, "zstd": False, "bzip2": False, "blosc": False, "complevel": 0}
OFF = {"shuffle": False, "fletcher32": False}


def write(path, engine="hyperslab", **encoding):
    data = xr.Dataset({"v": (("x", "y"), VALUES)})
    data.to_netcdf(path, engine=engine, encoding={"v": {"chunksizes": (20, 100), **encoding}})


def of_netcdf4(path):
    """The filters of the variable, as netCDF4 has them."""
    with xr.open_dataset(path, engine="netcdf4") as found:
        np.testing.assert_array_equal(found["v"].values, VALUES)
        return {key: value for key, value in found["v"].encoding.items() if key in (*PLAIN, *OFF)}


def of_ours(path):
    with hs.File(path) as file:
        np.testing.assert_array_equal(file["v"][:], VALUES)
        return [(one.filter_id, one.filter_options) for one in file["v"].filters]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ({"zlib": True, "complevel": 7}, {"zlib": True, "complevel": 7, "shuffle": True}),
        ({"compression": "zlib", "shuffle": False}, {"zlib": True, "complevel": 4}),
        ({"compression": "gzip", "compression_opts": 2}, {"zlib": True, "complevel": 2, "shuffle": True}),
        ({"compression": "zstd", "complevel": 5}, {"zstd": True, "complevel": 5, "shuffle": True}),
        ({"zstd": True, "fletcher32": True}, {"zstd": True, "complevel": 3, "shuffle": True, "fletcher32": True}),
        ({"compression": "bzip2", "complevel": 6}, {"bzip2": True, "complevel": 6, "shuffle": True}),
        ({"compression": "szip"}, {"szip": {"coding": "nn", "pixels_per_block": 8}}),
        (
            {"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 16},
            {"szip": {"coding": "ec", "pixels_per_block": 16}},
        ),
        ({"fletcher32": True}, {"fletcher32": True}),
        ({"shuffle": True}, {"shuffle": True}),
        ({}, {}),
    ],
    ids=str,
)
def test_the_words_of_netcdf4_mean_what_they_mean_there(encoding, expected, tmp_path):
    write(tmp_path / "ours.nc", **encoding)
    assert of_netcdf4(tmp_path / "ours.nc") == {**PLAIN, **OFF, **expected}


@pytest.mark.parametrize("word", BLOSC)
@pytest.mark.parametrize("before", [0, 1, 2])
def test_blosc_is_named_as_in_netcdf4(word, before, tmp_path):
    encoding = {"compression": word, "complevel": 3, "blosc_shuffle": before}
    write(tmp_path / "ours.nc", **encoding)
    write(tmp_path / "theirs.nc", engine="netcdf4", shuffle=False, **encoding)
    assert of_ours(tmp_path / "ours.nc") == of_ours(tmp_path / "theirs.nc")
    expected = {"blosc": {"compressor": word, "shuffle": before}, "complevel": 3}
    assert of_netcdf4(tmp_path / "ours.nc") == {**PLAIN, **OFF, **expected}


STANDARD = [
    {"zlib": True, "complevel": 2},
    {"compression": "zstd", "complevel": 6},
    {"compression": "bzip2", "complevel": 5, "shuffle": False},
    {"compression": "szip", "shuffle": False},
    {"fletcher32": True, "shuffle": False},
    *({"compression": word, "blosc_shuffle": 2, "shuffle": False} for word in BLOSC),
]


@pytest.mark.parametrize("encoding", STANDARD, ids=str)
@pytest.mark.parametrize("source", ["hyperslab", "netcdf4"])
@pytest.mark.parametrize("reader", ["hyperslab", "netcdf4", "h5netcdf"])
def test_a_compression_is_kept_from_reading_to_writing(encoding, source, reader, tmp_path):
    write(tmp_path / "first.nc", engine=source, **encoding)
    with xr.open_dataset(tmp_path / "first.nc", engine=reader) as found:
        found.to_netcdf(tmp_path / "second.nc", engine="hyperslab")
    expected = of_ours(tmp_path / "first.nc")
    if reader == "h5netcdf" and str(encoding.get("compression")).startswith("blosc"):
        expected = []  # h5netcdf does not tell of Blosc
    assert sorted(of_ours(tmp_path / "second.nc")) == sorted(expected)


# netCDF4 takes szip's coding from other keys than h5netcdf.
@pytest.mark.parametrize("encoding", [one for one in STANDARD if one.get("compression") != "szip"], ids=str)
def test_netcdf4_keeps_the_compressions_that_the_engine_reads(encoding, tmp_path):
    write(tmp_path / "first.nc", **encoding)
    with xr.open_dataset(tmp_path / "first.nc", engine="hyperslab") as found:
        found.load().to_netcdf(tmp_path / "second.nc", engine="netcdf4")
    expected = of_netcdf4(tmp_path / "first.nc")
    expected["shuffle"] &= expected["zlib"]  # netCDF4 shuffles only for zlib
    assert of_netcdf4(tmp_path / "second.nc") == expected


@pytest.mark.parametrize(
    "filters",
    [
        hs.Blosc2("zstd", 4, "bitshuffle"),
        hs.LZ4(),
        hs.Bitshuffle(cname="zstd", level=2),
        hs.Zfp(reversible=True),
        hs.NBit(),
        "lz4",
        "lzf",
        (hs.Zstd(2), hs.LZ4()),
    ],
    ids=str,
)
def test_filters_without_a_word_are_kept(filters, tmp_path):
    write(tmp_path / "first.nc", compression=filters)
    assert of_ours(tmp_path / "first.nc")
    with xr.open_dataset(tmp_path / "first.nc", engine="hyperslab") as found:
        found.to_netcdf(tmp_path / "second.nc", engine="hyperslab")
        if filters != "lzf":
            found.load().to_netcdf(tmp_path / "third.nc", engine="netcdf4")  # which knows none of them
    assert of_ours(tmp_path / "second.nc") == of_ours(tmp_path / "first.nc")


def test_an_encoding_that_is_given_replaces_the_one_that_was_read(tmp_path):
    write(tmp_path / "first.nc", compression=hs.LZ4())
    with xr.open_dataset(tmp_path / "first.nc", engine="hyperslab") as found:
        found["v"].encoding["zlib"] = True
        found.to_netcdf(tmp_path / "second.nc", engine="hyperslab")
    assert of_netcdf4(tmp_path / "second.nc") == {**PLAIN, **OFF, "zlib": True, "complevel": 4, "shuffle": True}


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ({"significant_digits": 3}, "'significant_digits'"),
        ({"least_significant_digit": 3}, "'least_significant_digit'"),
        ({"nonsense": 3}, "the keys of encoding must be among zlib, .*not 'nonsense'"),
        ({"compression": "blosc_snappy"}, "compression must be one of zlib, .*not 'blosc_snappy'"),
        ({"compression": "blosc_lz4", "blosc_shuffle": 3}, "blosc_shuffle must be"),
        ({"contiguous": True}, "contiguous must be False"),
        ({"endian": "middle"}, "endian must be one of little, big, native, not 'middle'"),
        ({"compression": (hs.LZ4(),), "shuffle": True}, "shuffle must be left out if compression lists all filters"),
        ({"compression": [hs.LZ4()], "fletcher32": True}, "fletcher32 must be left out"),
        ({"compression": (hs.Zstd(),), "complevel": 4}, "complevel must be left out"),
        ({"compression": (hs.Zstd(),), "compression_opts": (4,)}, "compression_opts must be left out"),
    ],
    ids=str,
)
def test_what_is_no_encoding_is_refused(encoding, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "f.nc", **encoding)


@pytest.mark.parametrize("level", ["5", 5.7, np.float32(5), None, np.int8(5)])
@pytest.mark.parametrize("word", ["zlib", "zstd", "bzip2", "blosc_lz4"])
def test_a_level_that_is_no_integer_is_refused(word, level, tmp_path):
    if level is None or isinstance(level, np.integer):
        write(tmp_path / "f.nc", compression=word, complevel=level)
        found = of_netcdf4(tmp_path / "f.nc")["complevel"]
        assert found == 5 if level is not None else found == {"zlib": 4, "zstd": 3, "bzip2": 9, "blosc_lz4": 4}[word]
        return
    with pytest.raises(TypeError, match="complevel must be an integer, not "):
        write(tmp_path / "f.nc", compression=word, complevel=level)


@pytest.mark.parametrize("endian", ["little", "big"])
def test_endian_is_the_byte_order_of_the_file(endian, tmp_path):
    write(tmp_path / "f.nc", endian=endian)
    with hs.File(tmp_path / "f.nc") as file:
        assert file["v"].dtype == np.dtype("i4").newbyteorder(endian) and file["v"][1, 1] == VALUES[1, 1]


@pytest.mark.whole
def test_urls_are_opened(server, tmp_path):
    urls = []
    for number in range(3):
        data = xr.Dataset({"v": (("t", "x"), VALUES[None, number])}, {"t": [number]})
        data.to_netcdf(tmp_path / f"{number}.nc", engine="hyperslab", encoding={"v": {"zlib": True}})
        urls.append(server.add(tmp_path / f"{number}.nc"))
    with xr.open_dataset(urls[0], engine="hyperslab") as found:
        assert found["v"].values[0].tolist() == VALUES[0].tolist() and found["v"].encoding["source"] == urls[0]
    with xr.open_dataset(urls[0], engine="hyperslab", chunks={}) as found:
        assert found["v"].chunks and found["v"].sum().compute() == VALUES[0].sum()
    with xr.open_mfdataset(urls, engine="hyperslab") as found:
        np.testing.assert_array_equal(found["v"].values, VALUES[:3])
    with xr.open_datatree(urls[0], engine="hyperslab") as found:
        assert found["v"].shape == (1, 100)
    for url, error in (
        (server.url("missing.nc"), FileNotFoundError),
        ("ftp://host/f.nc", OSError),
    ):
        with pytest.raises(error):
            xr.open_dataset(url, engine="hyperslab")


@pytest.mark.process
@pytest.mark.parametrize(
    "imports",
    [
        "import hyperslab, xarray",
        "import xarray, hyperslab",
        "import xarray, hyperslab.xarray",
        "import hyperslab.segy, xarray",
    ],
)
def test_the_first_call_may_be_one_that_writes(imports, tmp_path):
    program = f"{imports}\nxarray.Dataset({{'a': ('x', [1, 2])}}).to_netcdf('f.nc', engine='hyperslab')\n"
    program += "import inspect, xarray.backends.writers as w; assert 'def to_netcdf' in inspect.getsource(w)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert xr.open_dataset(tmp_path / "f.nc", engine="netcdf4")["a"].values.tolist() == [1, 2]


@pytest.mark.whole
def test_storage_options_are_those_of_the_file(server, tmp_path):
    write(tmp_path / "f.nc")
    server.files["/bucket/f.nc"] = (tmp_path / "f.nc").read_bytes()
    options = {"endpoint": server.url(""), "skip_signature": "true", "allow_http": "true", "region": "x"}
    with xr.open_dataset("s3://bucket/f.nc", engine="hyperslab", storage_options=options, chunks={}) as found:
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(found))["v"].values, VALUES)


def test_hyperslab_does_not_import_xarray(tmp_path):
    program = "import hyperslab, sys; assert 'xarray' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
