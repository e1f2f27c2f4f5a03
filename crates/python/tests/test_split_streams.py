"""Rows of tables that are stored as one stream for each byte, and the notes of chunks, as other programs read
them."""

import blosc2
import h5py
import numpy as np
import pytest
import tables
from support import hs

CODECS = ["lz4", "blosclz", "zstd"]


def rows(dtype, count, seed=1):
    """Returns records that a codec can shorten, with values of every kind."""
    random = np.random.default_rng(seed)
    result = np.zeros(count, dtype)
    for name in dtype.names:
        part = np.cumsum(random.integers(-3, 4, count)) if random.random() < 0.7 else random.integers(0, 99, count)
        if dtype[name].kind == "S":
            result[name] = part.astype(str).astype("S")
        else:
            result[name] = part.astype(dtype[name])
        if dtype[name].kind == "f":
            result[name][:: 1 + random.integers(5, 900)] = [np.nan, -0.0, np.inf][random.integers(3)]
    return result


def written(path, data, chunk, codec):
    with hs.File(path, "w") as f:
        f.create_dataset("t", data=data, chunks=(chunk,), compression=hs.Blosc2(codec))


@pytest.mark.parametrize("codec", CODECS)
def test_rows_of_every_size_are_read_by_other_programs(tmp_path, codec):
    """h5py with hdf5plugin, PyTables and python-blosc2 decode rows of 1 to 255 bytes, split and not."""
    path, read = tmp_path / "rows.h5", 0
    sizes = range(1, 256) if codec == "lz4" else [1, 16, 17, 31, 32, 33, 64, 128, 254, 255]
    data = {}
    with hs.File(path, "w") as f:
        for size in sizes:
            # Whole chunks whose blocks are split, and a rest.
            count = 300 + 7 * size
            words = np.cumsum(np.random.default_rng(size).integers(0, 3, (count, size)), axis=0, dtype="u1")
            data[size] = np.ascontiguousarray(words).view(f"V{size}").reshape(-1)
            f.create_dataset(f"v{size}", data=data[size], chunks=(257,), compression=hs.Blosc2(codec))
    with h5py.File(path) as f, hs.File(path) as ours:
        for size, expected in data.items():
            assert f[f"v{size}"][:].tobytes() == expected.tobytes(), size
            assert ours[f"v{size}"][:].tobytes() == expected.tobytes(), size
            _, stored = f[f"v{size}"].id.read_direct_chunk((0,))
            chunk = blosc2.schunk_from_cframe(bytes(stored), copy=True)
            assert chunk[:] == expected[:257].tobytes(), size
            read += 1
    assert read == len(sizes)


DTYPES = [
    [("time", "<i8"), ("lat", "<f4"), ("lon", "<f4"), ("temp", "<f4"), ("id", "S12")],
    [("a", ">f8"), ("b", "<u2"), ("c", "i1"), ("d", ">i4"), ("e", "<u8"), ("f", "?")],
    [(f"x{k}", "<f4") for k in range(60)],
]


@pytest.mark.parametrize("fields", DTYPES)
def test_tables_with_notes_are_read_and_changed_by_other_programs(tmp_path, fields):
    dtype = np.dtype(fields)
    data, path = rows(dtype, 50_000), tmp_path / "t.h5"
    written(path, data, 8192, "lz4")
    with h5py.File(path) as f:
        assert f["t"][:].tobytes() == data.tobytes()
        _, stored = f["t"].id.read_direct_chunk((8192,))
        chunk = blosc2.schunk_from_cframe(bytes(stored), copy=True)
        assert chunk[:] == data[8192:16384].tobytes()
        assert "hyperslab" in chunk.meta
    with tables.open_file(path) as f:
        # PyTables returns numbers in the byte order of the machine.
        assert f.root.t[:].astype(dtype).tobytes() == data.tobytes()
        assert f.root.t[9000:9100].astype(dtype).tobytes() == data[9000:9100].tobytes()
    # Another program writes two chunks anew, and we read what it wrote.
    other = rows(dtype, 10_000, seed=2)
    with h5py.File(path, "r+") as f:
        f["t"][5000:15_000] = other
    data[5000:15_000] = other
    with hs.File(path, "r+") as f:
        assert f["t"][:].tobytes() == data.tobytes()
        f["t"][20_000:30_000] = other
    data[20_000:30_000] = other
    with h5py.File(path) as f:
        assert f["t"][:].tobytes() == data.tobytes()


def test_a_chunk_changed_by_python_blosc2_is_read_as_it_is_now(tmp_path):
    """python-blosc2 keeps the note of a chunk that it changes, although the note is wrong then."""
    dtype = np.dtype(DTYPES[0])
    data, path = rows(dtype, 16_384), tmp_path / "t.h5"
    written(path, data, 8192, "lz4")
    with h5py.File(path, "r+") as f:
        _, stored = f["t"].id.read_direct_chunk((0,))
        chunk = blosc2.schunk_from_cframe(bytes(stored), copy=True)
        data["temp"][100] = 1e9
        chunk.update_data(0, data[:8192].copy(), copy=True)
        assert "hyperslab" in chunk.meta
        f["t"].id.write_direct_chunk((0,), chunk.to_cframe())
    with hs.File(path) as f:
        assert f["t"][:].tobytes() == data.tobytes()


def test_equal_rows_are_read_as_equal_rows(tmp_path):
    dtype = np.dtype(DTYPES[0])
    row, path = rows(dtype, 100)[7:8], tmp_path / "t.h5"
    data = np.repeat(row, 100_000)
    written(path, data, 50_000, "lz4")
    assert path.stat().st_size < 20_000
    with h5py.File(path) as f:
        assert f["t"][:].tobytes() == data.tobytes()
    with hs.File(path) as f:
        assert f["t"][:].tobytes() == data.tobytes()
        assert np.array_equal(f["t"][10:99_000:7]["id"], data[10:99_000:7]["id"])
