"""Blosc with the codec Snappy. The oracle is hdf5plugin, whose Blosc 1 has the codec. No program writes it in
Blosc 2, so the chunks in its frame are those of Blosc 1."""

import blosc2
import h5py
import hdf5plugin
import hyperslab as hs
import numpy as np
import pytest

DTYPES = ["u1", "<i2", ">i4", "<f8", "S20", [("a", "<i4"), ("b", "<f4"), ("c", "u1")]]


def values(dtype):
    """Numbers that compress, and bytes that do not, so that some streams are stored."""
    made = np.zeros(40_000, dtype)
    noise = np.random.default_rng(3).integers(0, 256, 10_000 * made.dtype.itemsize, "u1")
    made[:10_000] = noise.view(made.dtype)
    if made.dtype.names is None and made.dtype.kind != "S":
        made[20_000:] = np.arange(20_000) % 100
    return made


@pytest.mark.parametrize("shuffle", [0, 1, 2])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_chunks_of_hdf5plugin_are_read_and_ours_are_read_by_it(tmp_path, dtype, shuffle):
    data, path = values(dtype), tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for level in (1, 5, 9):
            given = hdf5plugin.Blosc("snappy", level, shuffle)
            file.create_dataset(f"theirs{level}", data=data, chunks=(15_000,), compression=given)
    name = ("none", "shuffle", "bitshuffle")[shuffle]
    with hs.File(path, "r+") as file:
        for level in (1, 5, 9):
            theirs = file[f"theirs{level}"]
            assert theirs[:].tobytes() == data.tobytes()
            assert theirs[14_990:15_010].tobytes() == data[14_990:15_010].tobytes()
            given = hs.Blosc("snappy", level, name)
            ours = file.create_dataset(f"ours{level}", data=data, chunks=(15_000,), compression=given)
            assert ours._filter_data == theirs._filter_data
            assert ours.id.get_storage_size() <= 1.05 * theirs.id.get_storage_size()
    with h5py.File(path) as file:
        for level in (1, 5, 9):
            assert file[f"ours{level}"][:].tobytes() == data.tobytes()


def test_a_frame_of_blosc_2_may_hold_a_chunk_with_snappy(tmp_path):
    data, path = np.arange(40_000, dtype="<i4") % 100, tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        chunks = file.create_dataset("a", data=data, chunks=(40_000,), compression=hdf5plugin.Blosc("snappy"))
        _, stored = chunks.id.read_direct_chunk((0,))
        frame = blosc2.SChunk(chunksize=data.nbytes, contiguous=True, cparams={"typesize": 4})
        frame.insert_chunk(0, stored)
        made = file.create_dataset("b", data.shape, data.dtype, chunks=(40_000,), compression=hdf5plugin.Blosc2())
        made.id.write_direct_chunk((0,), frame.to_cframe())
    with hs.File(path) as file:
        assert np.array_equal(file["b"][:], data)


def test_blosc_2_is_not_written_with_snappy(tmp_path):
    with pytest.raises(ValueError, match="cname must be one of blosclz, lz4, lz4hc, zlib, zstd, not 'snappy'"):
        hs.Blosc2("snappy")
    with hs.File(tmp_path / "a.h5", "w") as file, pytest.raises(ValueError, match="Snappy is for Blosc 1"):
        options = (0, 0, 0, 0, 5, 1, 3)
        file.create_dataset("a", (9,), "i4", chunks=(3,), compression=32026, compression_opts=options)


@pytest.mark.damages
def test_a_damaged_stream_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    with hs.File(path, "w") as file:
        made = file.create_dataset("a", data=np.arange(4000) % 9, chunks=(4000,), compression=hs.Blosc("snappy"))
        place, length = made.id.get_chunk_info(0).byte_offset, made.id.get_chunk_info(0).size
    stored = bytearray(path.read_bytes())
    stored[place + 40 : place + length] = b"\xff" * (length - 40)
    path.write_bytes(stored)
    with hs.File(path) as file, pytest.raises(OSError, match=r"Blosc: damaged chunk"):
        file["a"][:]
