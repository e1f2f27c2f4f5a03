"""The files to read, which the peers write once under bench/data/. `BENCH_SCALE` changes their size."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import HERE, SCALE, say, scaled

ROOT = HERE / "data" / f"{SCALE:g}"
ND_CHUNK = (1, 100, 100, 100)
FLAT_CHUNK = (1_000_000,)
GZIP_CHUNK = (1, 500, 500)
CUBE_CHUNK = (64, 64, 64)
TINY_CHUNK_ELEMENTS = 16
PLANE_EDGES = (16, 24, 32, 64, 128)
INDEX_KINDS = ("btree1", "fixed_array", "extensible_array", "btree2")


def nd_shape() -> tuple[int, ...]:
    return (scaled(400, 4), 100, 100, 100)


def nd_bytes() -> int:
    return int(np.prod(nd_shape())) * 4


def counting() -> np.ndarray:
    """Returns 0, 1, 2, ... as int32: the values of `nd` and `flat`."""
    return np.arange(np.prod(nd_shape()), dtype="i4")


def made(name: str, make: Callable[[Path], None]) -> Path:
    """Returns the path of a file, and makes the file if it is missing.

    The file is made under another name first, so that an incomplete file is never used.
    """
    path = ROOT / name
    if not path.exists():
        ROOT.mkdir(parents=True, exist_ok=True)
        part = ROOT / f"part-{name}"
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)
        say(f".. making {path}")
        make(part)
        os.replace(part, path)
    return path


def blosc2_filter(codec: str, level: int = 5) -> dict:
    import hdf5plugin

    return dict(hdf5plugin.Blosc2(cname=codec, clevel=level, filters=hdf5plugin.Blosc2.SHUFFLE))


def blosc1_filter(codec: str, level: int = 5) -> dict:
    import hdf5plugin

    return dict(hdf5plugin.Blosc(cname=codec, clevel=level, shuffle=hdf5plugin.Blosc.SHUFFLE))


def hdf5(values: Callable[[], np.ndarray], libver: str | None = None, **options) -> Callable[[Path], None]:
    """Returns a function that makes a file with one dataset, `d`."""

    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w", libver=libver) as file:
            file.create_dataset("d", data=values(), **options)

    return make


def b2nd(values: Callable[[], np.ndarray], chunks: tuple[int, ...], codec: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import blosc2

        parameters = {"codec": blosc2.Codec[codec], "clevel": 5, "filters": [blosc2.Filter.SHUFFLE]}
        blosc2.asarray(values(), chunks=chunks, cparams=parameters, urlpath=str(path), mode="w", contiguous=True)

    return make


def zarr3(values: Callable[[], np.ndarray], chunks: tuple[int, ...], codec: str | None) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import zarr
        from zarr.codecs import BloscCodec

        array = values()
        compressors = [BloscCodec(typesize=4, cname=codec, clevel=5, shuffle="shuffle")] if codec else None
        zarr.create_array(
            str(path), shape=array.shape, chunks=chunks, dtype=array.dtype, compressors=compressors, fill_value=0
        )[...] = array

    return make


def nd() -> Path:
    return made("nd.h5", hdf5(lambda: counting().reshape(nd_shape()), chunks=ND_CHUNK, **blosc2_filter("blosclz")))


def nd_pytables() -> Path:
    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(complevel=5, complib="blosc2:blosclz", shuffle=True)
        with tables.open_file(str(path), "w") as file:
            file.create_carray("/", "d", obj=counting().reshape(nd_shape()), chunkshape=ND_CHUNK, filters=filters)

    return made("nd_pytables.h5", make)


def flat_blosc2() -> Path:
    return made("flat_blosc2.h5", hdf5(counting, chunks=FLAT_CHUNK, **blosc2_filter("blosclz")))


def flat_blosc1() -> Path:
    return made("flat_blosc1.h5", hdf5(counting, chunks=FLAT_CHUNK, **blosc1_filter("blosclz")))


def flat_b2nd() -> Path:
    return made("flat.b2nd", b2nd(counting, FLAT_CHUNK, "BLOSCLZ"))


def flat_zarr() -> Path:
    return made("flat.zarr", zarr3(counting, FLAT_CHUNK, "blosclz"))


def noisy_count() -> int:
    return scaled(200, 4) * FLAT_CHUNK[0]


def noisy_values() -> np.ndarray:
    """Returns a sine with noise, which Blosc2 compresses about 1.7 times."""
    random = np.random.default_rng(1)
    x = np.arange(FLAT_CHUNK[0])
    out = np.empty((noisy_count() // x.size, x.size), "f4")
    for i, row in enumerate(out):
        row[...] = np.sin(x / 300 + i) * 1000 + random.normal(0, 0.05, x.size)
    return out.reshape(-1)


def noisy() -> Path:
    return made("noisy.h5", hdf5(noisy_values, chunks=FLAT_CHUNK, **blosc2_filter("lz4")))


def gzip_shape() -> tuple[int, ...]:
    return (scaled(100, 2), 1000, 1000)


def gzip_values(count: int | None = None) -> np.ndarray:
    """Returns `count` fields like temperatures, rounded as in packed data."""
    random = np.random.default_rng(2)
    y, x = np.mgrid[0:1000, 0:1000] / 150.0
    out = np.empty((gzip_shape()[0] if count is None else count, 1000, 1000), "f4")
    for t, field in enumerate(out):
        smooth = 280 + 15 * np.sin(y + t / 9) * np.cos(x - t / 7)
        field[...] = np.round((smooth + random.normal(0, 0.2, x.shape)) * 32) / 32
    return out


def gzip() -> Path:
    return made("gzip.h5", hdf5(gzip_values, chunks=GZIP_CHUNK, compression="gzip", compression_opts=4, shuffle=True))


def netcdf() -> Path:
    """Returns a netCDF-4 file with the values of `gzip` as a variable of three dimensions."""

    def make(path: Path) -> None:
        import xarray

        values = gzip_values()
        encoding = {"t2m": {"zlib": True, "complevel": 4, "shuffle": True, "chunksizes": GZIP_CHUNK}}
        coords = {name: np.arange(length) for name, length in zip(("time", "y", "x"), values.shape, strict=True)}
        dataset = xarray.Dataset({"t2m": (("time", "y", "x"), values)}, coords)
        dataset.to_netcdf(path, engine="netcdf4", encoding=encoding)

    return made("gzip.nc", make)


def attributes_count() -> int:
    return scaled(10_000, 100)


def attributes() -> Path:
    """Returns a file with many small datasets in one group, with five attributes each."""

    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            group = file.create_group("g")
            for number in range(attributes_count()):
                dataset = group.create_dataset(f"d{number:06d}", data=np.arange(4.0))
                dataset.attrs["number"] = number
                dataset.attrs["scale"] = 0.5
                dataset.attrs["units"] = "K"
                dataset.attrs["range"] = np.array([0.0, 1.0])
                dataset.attrs["long_name"] = f"variable number {number}"

    return made("attributes.h5", make)


def strings_count() -> int:
    return scaled(1_000_000, 2_000)


def strings_values(kind: str, count: int | None = None) -> np.ndarray:
    """Returns strings as objects: "short" ones of 5 to 15 letters, or "mixed" ones, some not ASCII."""
    random = np.random.default_rng(1)
    count = strings_count() if count is None else count
    letters = random.integers(ord("a"), ord("z") + 1, count + 128, dtype="u1").tobytes().decode()
    lengths = random.integers(5, 16, count) if kind == "short" else random.integers(0, 13, count)
    texts = [letters[at : at + length] for at, length in enumerate(lengths.tolist())]
    if kind == "mixed":
        for at in range(0, count, 5):
            texts[at] = f"Zürich {at}"
        for at in range(1, count, 10):
            texts[at] = letters[at : at + 16 + at % 100]
    return np.array(texts, dtype=object)


def strings(kind: str) -> Path:
    """Returns a file with strings of variable length, contiguous and in chunks of 10,000."""

    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            values, dtype = strings_values(kind), h5py.string_dtype()
            file.create_dataset("contiguous", data=values, dtype=dtype)
            file.create_dataset("chunks", data=values, dtype=dtype, chunks=(min(len(values), 10_000),))

    return made(f"strings_{kind}.h5", make)


def repack_count() -> int:
    return scaled(250, 2)


def repack_source() -> Path:
    options = {"chunks": GZIP_CHUNK, "compression": "gzip", "compression_opts": 4, "shuffle": True}
    return made("repack.h5", hdf5(lambda: gzip_values(repack_count()), **options))


def boxes_shape() -> tuple[int, ...]:
    return (max(128, round(512 * SCALE ** (1 / 3) / 64) * 64),) * 3


def convert_count() -> int:
    return scaled(50, 2) * FLAT_CHUNK[0]


def convert_values() -> np.ndarray:
    return np.arange(convert_count(), dtype="i4")


def convert_stored(dtype: str) -> Path:
    """Returns a file with integers in Blosc2 chunks, in the byte order of `dtype`."""
    options = {"chunks": FLAT_CHUNK, **blosc2_filter("lz4")}
    return made(
        f"convert{'_big' if dtype[0] == '>' else ''}.h5", hdf5(lambda: convert_values().astype(dtype), **options)
    )


def convert_contiguous() -> Path:
    return made("convert_contiguous.h5", hdf5(lambda: convert_values().astype(">i4")))


RECORD = np.dtype([("a", "i8"), ("b", "f4"), ("c", "i4"), ("d", "f8"), ("e", "i4"), ("f", "i4")])


def record_count() -> int:
    return convert_count() * 4 // RECORD.itemsize


def record_values() -> np.ndarray:
    """Returns rows of 32 bytes: numbers, counters and measurements."""
    random = np.random.default_rng(4)
    rows, number = np.empty(record_count(), RECORD), np.arange(record_count())
    rows["a"], rows["c"], rows["e"], rows["f"] = number, number % 1000, number // 7, random.integers(0, 50, number.size)
    rows["b"] = np.round(random.normal(20, 3, number.size), 1)
    rows["d"] = np.sin(number / 5000)
    return rows


def records() -> Path:
    return made("records.h5", hdf5(record_values, chunks=(FLAT_CHUNK[0] // 8,), **blosc2_filter("lz4")))


def planes_shape() -> tuple[int, ...]:
    side = SCALE ** (1 / 3)
    return tuple(max(130, round(n * side)) for n in (500, 400, 1000))


def cube(shape: tuple[int, ...]) -> np.ndarray:
    """Returns a smooth cube with noise of a few bits."""
    random = np.random.default_rng(3)
    x, y, z = (np.arange(n, dtype="f4") / 40 for n in shape)
    out = np.empty(shape, "f4")
    for i, plane in enumerate(out):
        plane[...] = np.sin(x[i]) * np.cos(y)[:, None] * np.sin(2 * z)
        plane += random.normal(0, 0.01, plane.shape)
    np.round(out * 4096, out=out)
    out /= 4096
    return out


def boxes_values() -> np.ndarray:
    return cube(boxes_shape())


def planes_values() -> np.ndarray:
    return cube(planes_shape())


def boxes() -> Path:
    return made("boxes.h5", hdf5(boxes_values, chunks=CUBE_CHUNK, **blosc2_filter("lz4")))


def boxes_b2nd() -> Path:
    return made("boxes.b2nd", b2nd(boxes_values, CUBE_CHUNK, "LZ4"))


def boxes_zarr() -> Path:
    return made("boxes.zarr", zarr3(boxes_values, CUBE_CHUNK, "lz4"))


def planes_raw() -> Path:
    return made("planes_raw.h5", hdf5(planes_values, chunks=CUBE_CHUNK))


def planes_gzip() -> Path:
    return made(
        "planes_gzip.h5", hdf5(planes_values, chunks=CUBE_CHUNK, compression="gzip", compression_opts=4, shuffle=True)
    )


def planes_of_edge(edge: int) -> Path:
    """Returns a file with the cube in unfiltered chunks, with the chunk index of `hyperslab segy ingest`."""
    return made(f"planes_raw_{edge}.h5", hdf5(planes_values, "latest", chunks=(edge,) * 3))


def planes_zstd(edge: int) -> Path:
    return made(f"planes_zstd_{edge}.h5", hdf5(planes_values, "latest", chunks=(edge,) * 3, **blosc2_filter("zstd")))


def planes_segy() -> Path:
    """Returns the cube as SEG-Y, sorted by inlines, in IBM floats that represent its values exactly."""

    def make(path: Path) -> None:
        import segyio

        inlines, crosslines, samples = planes_shape()
        spec = segyio.spec()
        spec.sorting, spec.format = segyio.TraceSortingFormat.INLINE_SORTING, segyio.SegySampleFormat.IBM_FLOAT_4_BYTE
        spec.ilines, spec.xlines = np.arange(1, inlines + 1), np.arange(1, crosslines + 1)
        spec.samples = np.arange(samples) * 4.0
        keys = segyio.TraceField
        with segyio.create(path, spec) as file:
            for i, plane in enumerate(planes_values()):
                file.iline[i + 1] = plane
                for j in range(crosslines):
                    file.header[i * crosslines + j] = {
                        keys.INLINE_3D: i + 1,
                        keys.CROSSLINE_3D: j + 1,
                        keys.SourceGroupScalar: 1,
                    }

    return made("planes_scalar.sgy", make)


def planes_raw_zarr() -> Path:
    return made("planes_raw.zarr", zarr3(planes_values, CUBE_CHUNK, None))


def planes_lz4() -> Path:
    return made("planes_lz4.h5", hdf5(planes_values, chunks=CUBE_CHUNK, **blosc2_filter("lz4")))


def planes_b2nd() -> Path:
    return made("planes.b2nd", b2nd(planes_values, CUBE_CHUNK, "LZ4"))


def raw_shape() -> tuple[int, ...]:
    return (scaled(200, 4), *nd_shape()[1:])


def raw_values() -> np.ndarray:
    return np.arange(np.prod(raw_shape()), dtype="i4").reshape(raw_shape())


def raw_contiguous() -> Path:
    return made("raw_contiguous.h5", hdf5(raw_values))


def raw_chunked() -> Path:
    return made("raw_chunked.h5", hdf5(raw_values, chunks=ND_CHUNK))


def cold_shape(chunk_kib: int) -> tuple[int, int]:
    """Returns the number of chunks of a file of 1 GB, and the number of elements of a chunk."""
    return scaled((1 << 20) // chunk_kib, 64), chunk_kib << 8


def cold(chunk_kib: int) -> Path:
    """Returns a file of chunks of this size without a filter: row i has the values i, i + 1, ..."""

    def make(path: Path) -> None:
        import h5py

        rows, length = cold_shape(chunk_kib)
        with h5py.File(path, "w", libver="latest") as file:
            dataset = file.create_dataset("d", (rows, length), "f4", chunks=(1, length))
            step = max(1, (64 << 20) // (length * 4))
            for begin in range(0, rows, step):
                end = min(rows, begin + step)
                dataset[begin:end] = np.arange(begin, end, dtype="f4")[:, None] + np.arange(length, dtype="f4")

    return made(f"cold_{chunk_kib}.h5", make)


def remote() -> Path:
    """Returns a file of 200 groups and a cube of 256 MB whose values compress to about two thirds."""

    def make(path: Path) -> None:
        import h5py

        shape = (scaled(256, 32), 512, 512)
        with h5py.File(path, "w") as file:
            for number in range(200):
                file.create_group(f"runs/{number:03}").attrs["number"] = number
            options = {"chunks": (32, 64, 64), "compression": "gzip", "compression_opts": 1, "shuffle": True}
            cube = file.create_dataset("cube", shape, "f4", **options)
            for begin in range(0, shape[0], 32):
                noise = np.random.default_rng(begin).normal(300, 20, (32, *shape[1:]))
                cube[begin : begin + 32] = noise.astype("f4")

    return made("remote.h5", make)


def scalar() -> Path:
    def make(path: Path) -> None:
        import h5py

        values = np.arange(10**6, dtype="f8").reshape(1000, 1000)
        with h5py.File(path, "w") as file:
            file.create_dataset("chunked", data=values, chunks=(100, 100), compression="gzip", shuffle=True)
            file.create_dataset("contiguous", data=values)

    return made("scalar.h5", make)


def million_side() -> int:
    """Returns the square root of the number of chunks in a `million` file."""
    return max(100, round(1000 * SCALE**0.5))


def million(kind: str) -> Path:
    """Returns a file with chunks of 64 bytes in an index of the given kind. Element k has the value k."""
    side, width = million_side(), TINY_CHUNK_ELEMENTS
    flat = (side * side * width,)
    shape, chunks, most = {
        "btree1": (flat, (width,), None),
        "fixed_array": (flat, (width,), None),
        "extensible_array": (flat, (width,), (None,)),
        "btree2": ((side, side * width), (1, width), (None, None)),
    }[kind]

    def make(path: Path) -> None:
        import h5py

        values = np.arange(flat[0], dtype="i4").reshape(shape)
        with h5py.File(path, "w", libver="earliest" if kind == "btree1" else "latest") as file:
            dataset = file.create_dataset("d", shape, "i4", chunks=chunks, maxshape=most)
            step = max(1, shape[0] // 10)
            for start in range(0, shape[0], step):
                dataset[start : start + step] = values[start : start + step]

    return made(f"million_{kind}.h5", make)


def virtual(count: int) -> Path:
    """A folder of `count` files of 32x64 numbers, and `all.h5`, in which a virtual dataset shows them all."""

    def make(folder: Path) -> None:
        import h5py

        folder.mkdir()
        layout = h5py.VirtualLayout((count, 32, 64), "f4")
        for number in range(count):
            with h5py.File(folder / f"{number}.h5", "w") as file:
                file["d"] = np.arange(32 * 64, dtype="f4").reshape(32, 64) + number
            layout[number] = h5py.VirtualSource(f"{number}.h5", "d", (32, 64))
        with h5py.File(folder / "all.h5", "w", libver="latest") as file:
            file.create_virtual_dataset("d", layout)

    return made(f"virtual-{count}", make)


def detector() -> Path:
    """Frames of a detector: few counts, some bright spots, and a broken column."""

    def values() -> np.ndarray:
        random = np.random.default_rng(4)
        frames = np.empty((scaled(100, 4), 2000, 2000), "u2")
        for frame in frames:
            frame[...] = random.poisson(2.0, frame.shape)
            rows, columns = random.integers(0, 2000, (2, 500))
            frame[rows, columns] = random.integers(100, 60000, 500)
            frame[:, 1000] = 65535
        return frames

    def make(path: Path) -> None:
        import hdf5plugin

        hdf5(values, chunks=(1, 2000, 2000), compression=hdf5plugin.Bitshuffle(cname="lz4"))(path)

    return made("detector.h5", make)


NUMBERS_CHUNK = (1, 500, 500)


def number_values(dtype: str) -> np.ndarray:
    """Returns walks with steps of a few units, as images and fields have them, in 12 bits."""
    random = np.random.default_rng(5)
    walk = np.cumsum(random.normal(scale=3, size=(scaled(200, 4), 500, 500)), axis=-1)
    return np.clip(walk + 2000, 0, 4095).astype(dtype)


def twelve_bits() -> Path:
    """A file with an empty dataset of numbers of 12 bits under the filter N-bit."""

    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w", libver="latest") as file:
            datatype = h5py.h5t.STD_U16LE.copy()
            datatype.set_precision(12)
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk(NUMBERS_CHUNK)
            plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)
            space = h5py.h5s.create_simple((scaled(200, 4), 500, 500))
            h5py.h5d.create(file.id, b"d", datatype, space, dcpl=plist)

    return made("twelve_bits.h5", make)
