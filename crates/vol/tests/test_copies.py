"""Files that programs write through the connector have the values of those that they copy.

What was written is compared natively: by h5diff, and by ncdump's text.
"""

import h5py
import hdf5plugin
import numpy as np
import pytest
from through import ALL_CALLS, GOLDEN, SAID, TESTED, Report, asserted, run

REPACKS = {
    "gzip 1": ["-f", "GZIP=1"],
    "shuffle and gzip 6": ["-f", "SHUF", "-f", "GZIP=6"],
    "fletcher32": ["-f", "FLET"],
    "szip": ["-f", "SZIP=8,NN"],
    "nbit": ["-f", "/line:NBIT", "-f", "/plain:NBIT", "-f", "/cube:NBIT"],
    "no filters": ["-f", "NONE"],
    "contiguous": ["-l", "CONTI"],
    "other chunks": ["-l", "/cube:CHUNK=7x64x13", "-l", "/line:CHUNK=10000"],
    "chunked, and gzip": ["-l", "/plain:CHUNK=40x40", "-f", "GZIP=3"],
    "latest format": ["-L", "-f", "GZIP=2"],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A file with datasets of several types, layouts and filters."""
    path = tmp_path_factory.mktemp("source") / "source.h5"
    numbers = np.random.default_rng(17)
    with h5py.File(path, "w") as file:
        cube = np.cumsum(numbers.normal(size=(60, 70, 80)), axis=2).astype("f4")
        file.create_dataset("cube", data=cube, chunks=(16, 32, 80), compression="gzip", shuffle=True)
        file.create_dataset("line", data=np.arange(200_000, dtype=">i8"), chunks=(33_000,), fletcher32=True)
        file.create_dataset("plain", data=numbers.integers(0, 99, (700, 500), dtype="<i2"))
        file.create_dataset("grows", data=np.arange(30_000), maxshape=(None,), chunks=(1024,), compression="gzip")
        record = np.zeros(5000, [("a", "<f8"), ("b", ">u2"), ("c", "S5")])
        record["a"], record["b"], record["c"] = np.arange(5000), np.arange(5000), b"text"
        file.create_dataset("records", data=record, chunks=(999,), compression="gzip")
        file.create_dataset("words", data=["one", "two", ""] * 500, chunks=(100,), compression="gzip")
        sparse = file.create_dataset("sparse", (4000, 300), "f8", chunks=(100, 300), fillvalue=2.5, compression="gzip")
        sparse[1000:1200] = 1
        file["cube"].attrs["unit"] = "m/s"
        file["group/link"] = h5py.SoftLink("/cube")
    return path


def same(expected, found):
    """Asserts that h5diff finds no difference."""
    run(["h5diff", expected, found])


@pytest.mark.parametrize("name", REPACKS)
def test_h5repack(name, source, tmp_path):
    report, out = tmp_path / "report", tmp_path / "out.h5"
    run(["h5repack", *REPACKS[name], source, out], TESTED, report)
    same(source, out)
    said = Report.of(report)
    SAID.append(f"h5repack, {name}: {said}")
    asserted(said.taken["reads"] > 0, str(said))
    if "gzip" in name:
        asserted(said.taken["writes"] > 0, str(said))


def test_h5repack_of_the_golden_files(tmp_path):
    report = tmp_path / "report"
    count = 0
    for path in sorted(GOLDEN.glob("*.h5")):
        native, ours = tmp_path / "native.h5", tmp_path / "ours.h5"
        expected = run(["h5repack", "-f", "GZIP=1", path, native], check=False).returncode
        found = run(["h5repack", "-f", "GZIP=1", path, ours], TESTED, report, check=False, env=ALL_CALLS).returncode
        assert found == expected, path
        if expected == 0:
            differs = [run(["h5diff", path, out], check=False) for out in (native, ours)]
            assert differs[1].returncode == differs[0].returncode, (path, differs[1].stdout[-500:])
            count += 1
        for out in (native, ours):
            out.unlink(missing_ok=True)
    SAID.append(f"h5repack: {count} golden files; {Report.of(report)}")
    assert count > 70


def test_h5copy(source, tmp_path):
    report, out = tmp_path / "report", tmp_path / "out.h5"
    for name in ("cube", "line", "plain", "records", "words", "sparse", "group"):
        run(["h5copy", "-i", source, "-o", out, "-s", f"/{name}", "-d", f"/{name}"], TESTED, report)
        run(["h5diff", source, out, f"/{name}"])
    SAID.append(f"h5copy: {Report.of(report)}")


def test_h5diff(source, tmp_path):
    report, other = tmp_path / "report", tmp_path / "other.h5"
    other.write_bytes(source.read_bytes())
    with h5py.File(other, "r+") as file:
        file["cube"][3, 4, 5] = 1e9
    native = run(["h5diff", "-v", source, other], check=False)
    ours = run(["h5diff", "-v", source, other], TESTED, report, check=False)
    assert (native.returncode, native.stdout) == (ours.returncode, ours.stdout)
    assert native.returncode == 1
    said = Report.of(report)
    SAID.append(f"h5diff: {said}")
    asserted(said.taken["reads"] > 0, str(said))


@pytest.fixture(scope="module")
def climate(tmp_path_factory):
    """A file of netCDF-4, written by ncgen and h5py."""
    folder = tmp_path_factory.mktemp("climate")
    text = """netcdf climate { dimensions: time = UNLIMITED; lat = 90; lon = 180;
        variables: double time(time); float lat(lat); float lon(lon); float t2m(time, lat, lon);
        short snow(time, lat, lon); string names(lat);
        t2m:units = "K"; t2m:_DeflateLevel = 4; t2m:_Shuffle = "true"; t2m:_ChunkSizes = 5, 45, 90;
        snow:_FillValue = -1s; snow:_ChunkSizes = 10, 90, 180; snow:_DeflateLevel = 1; data: time = 0; }"""
    (folder / "climate.cdl").write_text(text)
    run(["ncgen", "-4", "-o", folder / "climate.nc", folder / "climate.cdl"])
    numbers = np.random.default_rng(5)
    with h5py.File(folder / "climate.nc", "r+") as file:
        for name in ("time", "t2m", "snow"):
            file[name].resize(24, axis=0)
        file["time"][:] = np.arange(24)
        file["t2m"][:] = 280 + np.cumsum(numbers.normal(size=(24, 90, 180)), axis=2)
        file["snow"][:12] = numbers.integers(0, 30, (12, 90, 180))
    return folder / "climate.nc"


def text_of(path):
    return run(["ncdump", path]).stdout.split(b"\n", 1)[1]


@pytest.mark.parametrize(
    "options",
    [["-d", "1", "-s"], ["-d", "0"], ["-c", "time/24,lat/30,lon/60"], ["-k", "netCDF-4", "-m", "100K"], ["-u"]],
    ids=lambda options: " ".join(options),
)
def test_nccopy(options, climate, tmp_path):
    report, native, ours = tmp_path / "report", tmp_path / "native" / "out.nc", tmp_path / "ours" / "out.nc"
    for out in (native, ours):
        out.parent.mkdir()
    run(["nccopy", *options, climate, native])
    run(["nccopy", *options, climate, ours], TESTED, report)
    assert text_of(ours) == text_of(native)
    said = Report.of(report)
    SAID.append(f"nccopy {' '.join(options)}: {said}")
    asserted(said.taken["reads"] > 0, str(said))


@pytest.mark.parametrize(
    "options",
    [["-4", "-L", "1"], ["-d", "lat,3,60,2", "-d", "time,5,"], ["-v", "t2m"], ["--cnk_dmn", "lat,10", "-L", "2"]],
    ids=lambda options: " ".join(options),
)
def test_ncks(options, climate, tmp_path):
    report, native, ours = tmp_path / "report", tmp_path / "native" / "out.nc", tmp_path / "ours" / "out.nc"
    for out in (native, ours):
        out.parent.mkdir()
    run(["ncks", "-h", "-O", *options, climate, native])
    run(["ncks", "-h", "-O", *options, climate, ours], TESTED, report)
    assert text_of(ours) == text_of(native)
    said = Report.of(report)
    SAID.append(f"ncks {' '.join(options)}: {said}")
    asserted(said.taken["reads"] > 0, str(said))


def test_ncgen(climate, tmp_path):
    report = tmp_path / "report"
    text = run(["ncdump", "-s", climate]).stdout
    (tmp_path / "climate.cdl").write_bytes(text)
    run(["ncgen", "-4", "-o", tmp_path / "climate.nc", tmp_path / "climate.cdl"], TESTED, report)
    assert text_of(tmp_path / "climate.nc") == text_of(climate)
    SAID.append(f"ncgen: {Report.of(report)}")


PLUGIN_FILTERS = {
    "blosc": hdf5plugin.Blosc(cname="lz4"),
    "blosc2": hdf5plugin.Blosc2(cname="zstd", clevel=3),
    "bitshuffle": hdf5plugin.Bitshuffle(),
    "lz4": hdf5plugin.LZ4(),
    "zstd": hdf5plugin.Zstd(clevel=3),
}


@pytest.mark.parametrize("name", PLUGIN_FILTERS)
def test_filters_that_the_library_does_not_have(name, tmp_path):
    """h5dump has no plug-in for these filters: the connector decodes them, or h5dump fails."""
    path, report = tmp_path / "in.h5", tmp_path / "report"
    values = np.arange(60_000, dtype="f4").reshape(300, 200)
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values, chunks=(100, 200), **PLUGIN_FILTERS[name])
        file.create_dataset("plain", data=values)
    dump = ["h5dump", "-d", "/d", "-b", "LE", "-o", tmp_path / "out", path]
    done = run(dump, TESTED, report, check=False)
    said = Report.of(report)
    SAID.append(f"h5dump of {name}, which is no filter of this libhdf5: {said}")
    if said.taken["reads"]:
        assert done.returncode == 0
        assert (tmp_path / "out").read_bytes() == values.tobytes()
    else:
        assert done.returncode != 0
