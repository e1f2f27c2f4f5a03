"""`hs.dask.from_dataset` against NumPy."""

import pickle
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no Dask arrays", allow_module_level=True)


def values(*shape, dtype="<i4"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


RECORD = np.dtype([("a", "<f4"), ("b", "S3"), ("c", "<i2", (2,))])


def made(kind, file, folder):
    """Makes a dataset of a kind. Returns it and its values."""
    data = values(40, 30)
    if kind == "chunked":
        return file.create_dataset("d", data=data, chunks=(7, 11), compression=hs.Blosc2("lz4")), data
    if kind == "contiguous":
        return file.create_dataset("d", data=data), data
    if kind == "compact":
        return file.create_dataset("d", data=data, compact=True), data
    if kind == "external":
        made = file.create_dataset("d", data.shape, data.dtype, external=[(str(folder / "raw.bin"), 0, data.nbytes)])
        made[...] = data
        return made, data
    if kind == "virtual":
        layout = hs.VirtualLayout(data.shape, data.dtype)
        for row in range(0, 40, 10):
            with hs.File(folder / f"{row}.h5", "w") as source:
                source["s"] = data[row : row + 10]
            layout[row : row + 10] = hs.VirtualSource(folder / f"{row}.h5", "s", shape=(10, 30))
        return file.create_virtual_dataset("d", layout), data
    if kind == "scalar":
        return file.create_dataset("d", data=np.float32(2.5)), np.float32(2.5)
    if kind == "record":
        return file.create_dataset("d", data=np.array((1.5, b"abc", (1, 2)), RECORD)), np.array(
            (1.5, b"abc", (1, 2)), RECORD
        )
    if kind == "scalar text":
        return file.create_dataset("d", data="a"), np.array(b"a", object)
    if kind == "no elements":
        return file.create_dataset("d", (0, 5), "<f8", maxshape=(None, 5), chunks=(2, 2)), np.zeros((0, 5))
    if kind == "records":
        data = np.zeros(50, RECORD)
        data["a"], data["b"], data["c"] = np.arange(50), b"xyz", np.arange(100).reshape(50, 2)
        return file.create_dataset("d", data=data, chunks=(8,)), data
    if kind == "texts":
        data = np.array([f"{n}".encode() for n in range(50)], object)
        return file.create_dataset("d", data=data, dtype=hs.string_dtype(), chunks=(8,)), data
    if kind == "fixed texts":
        return file.create_dataset("d", data=values(50).astype("S4"), chunks=(8,)), values(50).astype("S4")
    if kind == "arrays":
        data = values(20, 3)
        made = file.create_dataset("d", (20,), np.dtype(("<i4", (3,))), chunks=(6,))
        made[...] = data
        return made, data
    assert kind == "booleans"
    return file.create_dataset("d", data=values(50) % 3 == 0, chunks=(8,)), values(50) % 3 == 0


KINDS = ["chunked", "contiguous", "compact", "external", "virtual", "scalar", "record", "scalar text"]
KINDS += ["no elements", "records", "texts", "fixed texts", "arrays", "booleans"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_of_every_kind_is_an_array(kind, tmp_path):
    with hs.File(tmp_path / "d.h5", "w") as file:
        _, expected = made(kind, file, tmp_path)
    with hs.File(tmp_path / "d.h5") as file, dask.config.set({"array.chunk-size": "40 B"}):
        array = hs.dask.from_dataset(file["d"])
        assert array.shape == expected.shape and array.dtype == expected.dtype and array._meta.dtype == expected.dtype
        for scheduler in ("sync", "threads"):
            found = array.compute(scheduler=scheduler)
            assert np.asarray(found).dtype == expected.dtype and np.array_equal(found, expected)
    # The file is closed: the tasks open it.
    assert np.array_equal(pickle.loads(pickle.dumps(array)).compute(scheduler="sync"), expected)
    assert np.array_equal(array.compute(scheduler="threads"), expected)
    assert array.size < 2 or array.npartitions > 1


def test_blocks_are_whole_chunks_up_to_the_size_of_the_setting(tmp_path):
    with hs.File(tmp_path / "d.h5", "w") as file:
        file.create_dataset("d", (1000, 1000), "<f8", chunks=(30, 70), compression="gzip")
        file.create_dataset("rows", (100, 20, 50), "<f8")
        for limit in (1, 100_000, 1_000_000, 10**9):
            with dask.config.set({"array.chunk-size": limit}):
                array = hs.dask.from_dataset(file["d"])
                assert all(length % side == 0 for axis, side in zip(array.chunks, (30, 70)) for length in axis[:-1])
                assert max(map(len, array.chunks)) == 1 or max(
                    np.prod([axis[0] for axis in array.chunks]) * 8, 30 * 70 * 8
                ) in range(min(limit // 4, 16800), max(limit, 16800) + 1)
                rows = hs.dask.from_dataset(file["rows"]).chunksize
                assert rows == {1: (1, 1, 1), 100_000: (12, 20, 50)}.get(limit, (100, 20, 50))
        for chunks, expected in (
            ((-1, "auto"), (1000, 980)),
            ({0: "auto"}, (960, 1000)),
            ({0: 60}, (60, 1000)),
            (("16 kB", 70), (30, 70)),
            ("70 kB", (60, 140)),
            (((400, 600), None), (600, 1000)),
        ):
            with dask.config.set({"array.chunk-size": "7.9 MB"}), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert hs.dask.from_dataset(file["d"], chunks).chunksize == expected, chunks
        with pytest.warns(da.PerformanceWarning, match="cut the chunks of 70"):
            hs.dask.from_dataset(file["d"], (30, 100))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hs.dask.from_dataset(file["d"], (60, 210))


def test_an_unchanged_file_gives_the_same_name_and_a_changed_one_another(tmp_path):
    path = tmp_path / "d.h5"
    with hs.File(path, "w") as file:
        file.create_dataset("d", data=values(50), chunks=(5,))
        writing = [hs.dask.from_dataset(file["d"]).name for _ in range(2)]
    assert writing[0] != writing[1]

    def name(chunks=None):
        with hs.File(path) as file:
            return hs.dask.from_dataset(file["d"], chunks).name

    first = name()
    assert name() == first != name(5)
    with hs.File(path, "r+") as file:
        file["d"][0] = 7
    assert name() != first


def test_what_other_processes_cannot_open_is_read_by_threads_only(tmp_path):
    in_memory = hs.File.in_memory()
    in_memory["d"] = values(10)
    with hs.File(tmp_path / "d.h5", "w") as writing, open(tmp_path / "e.h5", "wb+") as stream:
        writing["d"] = values(10)
        with hs.File(stream, "w") as of_object:
            of_object["d"] = values(10)
            for file in (in_memory, writing, of_object):
                array = hs.dask.from_dataset(file["d"], 5)
                assert np.array_equal(array.compute(scheduler="threads"), values(10))
                with pytest.raises(TypeError, match="scheduler='threads'"):
                    pickle.dumps(array)
    with pytest.raises(hs.ClosedError):
        array.compute(scheduler="sync")


def test_a_dataset_that_was_replaced_is_an_error(tmp_path):
    with hs.File(tmp_path / "d.h5", "w") as file:
        file["d"] = values(10)
    with hs.File(tmp_path / "d.h5") as file:
        array = hs.dask.from_dataset(file["d"])
    for other in (values(11), values(10, dtype="<i8"), np.float32(1)):
        with hs.File(tmp_path / "d.h5", "w") as file:
            file["d"] = other
        with pytest.raises(ValueError, match="call from_dataset again"):
            array.compute(scheduler="sync")


def test_what_is_no_dataset_and_wrong_chunks_are_errors(tmp_path):
    with hs.File(tmp_path / "d.h5", "w") as file:
        file["d"], file["e"] = values(4, 5), hs.Empty("f4")
        for wrong in (file, values(3), file["e"], "d"):
            with pytest.raises(TypeError):
                hs.dask.from_dataset(wrong)
        for chunks in ((2,), (2, 2, 2), {5: 1}, ("1 kB", "2 kB"), ((2, 3), 5), "much"):
            with pytest.raises(ValueError):
                hs.dask.from_dataset(file["d"], chunks)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_slices_of_random_blocks_are_those_of_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    chunk = tuple(data.draw(st.integers(1, side)) for side in shape)
    # Dask itself takes some negative bounds with negative steps for others.
    bound = [st.one_of(st.none(), st.integers(0, side)) for side in shape]
    step = st.sampled_from([None, 1, 2, 3, -1, -2])
    file = hs.File.in_memory()
    dataset = file.create_dataset("d", data=values(*shape), chunks=chunk)
    with dask.config.set({"array.chunk-size": data.draw(st.integers(1, 400))}):
        array, expected = hs.dask.from_dataset(dataset), values(*shape)
    for _ in range(2):
        key = tuple(slice(data.draw(one), data.draw(one), data.draw(step)) for one in bound)
        array, expected = array[key], expected[key]
        assert np.array_equal(array.compute(scheduler="sync"), expected)
    if expected.size:
        index = data.draw(st.lists(st.integers(-expected.shape[0], expected.shape[0] - 1), max_size=5))
        assert np.array_equal(array[index].compute(scheduler="sync"), expected[index])


def test_an_array_is_made_of_the_path_of_a_file(tmp_path):
    path = tmp_path / "path.h5"
    values = np.arange(24).reshape(6, 4)
    with hs.File(path, "w") as file:
        file.create_dataset("g/x", data=values, chunks=(2, 4))
    for place in (path, str(path)):
        made = hs.dask.from_dataset(place, "g/x", chunks=(3, 4))
        assert made.chunks == ((3, 3), (4,)) and (made.compute() == values).all()
    with pytest.raises(TypeError, match="name must be that of a dataset, and 'g' is a Group"):
        hs.dask.from_dataset(path, "g")
    with pytest.raises(TypeError, match="name must be the path of a dataset in the file, not None"):
        hs.dask.from_dataset(path)
    with pytest.raises(KeyError):
        hs.dask.from_dataset(path, "y")
