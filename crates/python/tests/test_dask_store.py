"""`hs.dask.store` and `consolidate` against NumPy and h5py, with every scheduler of Dask."""

import contextlib
import os
import subprocess
import sys
import zlib
from pathlib import Path

import dask
import dask.array as da
import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.test_what_libhdf5_does import guarded
from listed import environment_of_suite
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no Dask arrays", allow_module_level=True)

from hyperslab.dask import _tasks

RECORD = np.dtype([("a", "<f4"), ("b", "S3"), ("c", "<i2", (2,))])


def values(*shape, dtype="<i4"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def parts(target):
    """Returns the names of the datasets of each part."""
    found = {}
    for path in sorted(Path(f"{target}.parts").glob("*/*")):
        with h5py.File(path, "r") as file:
            found[f"{path.parent.name}/{path.name}"] = sorted(file)
    return found


def check_stored(target, name, expected):
    """Checks a stored array: its elements in both libraries, and that each block is kept and shown once."""
    with hs.File(target) as ours, h5py.File(target) as theirs:
        for file in (ours, theirs):
            assert file[name].shape == expected.shape and file[name].dtype == expected.dtype
            assert np.array_equal(file[name][...], expected)
        shown = [(one.file_name, one.dset_name) for one in theirs[name].virtual_sources()]
    assert len(set(shown)) == len(shown)
    run = shown[0][0].split("/")[-2]
    kept = [(f"{Path(target).name}.parts/{part}", one) for part, names in parts(target).items() for one in names]
    assert sorted(shown) == sorted(pair for pair in kept if f"/{run}/" in pair[0])
    return len(shown)


def lengths_of(side):
    """Returns lengths of blocks along an axis: equal ones, or any that add up to the side."""
    ends = st.lists(st.integers(0, side), max_size=4).map(lambda cuts: np.diff(sorted({0, side, *cuts})).tolist())
    return st.one_of(st.integers(1, 16), ends.map(lambda found: tuple(found or [0])))


@pytest.mark.soak
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_arrays_are_stored_and_consolidated(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("random")
    shape = tuple(data.draw(st.lists(st.integers(0, 15), min_size=0, max_size=3)))
    blocks = tuple(data.draw(lengths_of(side)) for side in shape)
    chunks = tuple(data.draw(st.integers(1, max(1, side))) for side in shape)
    filters = data.draw(
        st.sampled_from([{}, {"compression": "gzip", "shuffle": True}, {"compression": hs.Blosc2("lz4")}])
    )
    if not shape:
        chunks, filters = None, {}
    expected = values(*shape, dtype=data.draw(st.sampled_from(["<i4", ">f8", "<u2"])))
    array = da.from_array(expected, chunks=blocks)
    hs.dask.store(array, folder / "a.h5", "g/d", chunks=data.draw(st.sampled_from([None, chunks])), **filters)
    target = folder / "a.h5"
    if expected.size and shape:
        check_stored(target, "g/d", expected)
        hs.dask.consolidate(target, remove_parts=True)
    assert sorted(os.listdir(folder)) == ["a.h5"]
    for module in (hs, h5py):
        with module.File(target) as file:
            assert np.array_equal(file["g/d"][...], expected) and file["g/d"].dtype == expected.dtype


@pytest.mark.soak
@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_an_array_is_stored_by_every_scheduler(scheduler, tmp_path):
    expected = values(60, 50)
    array = da.from_array(expected, chunks=(20, 10))
    options = {"chunks": (5, 10), "compression": hs.Blosc2("lz4")}
    done = {"scheduler": scheduler, "num_workers": 2}
    assert hs.dask.store(array, tmp_path / "a.h5", "first", **options, compute_kwargs=done) is None
    assert check_stored(tmp_path / "a.h5", "first", expected) == 15
    hs.dask.store(array.T + 1, str(tmp_path / "a.h5"), "deep/second", compute_kwargs=done)
    check_stored(tmp_path / "a.h5", "deep/second", expected.T + 1)
    check_stored(tmp_path / "a.h5", "first", expected)
    # A file that moves with its folder.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("a.h5", "a.h5.parts"):
        os.rename(tmp_path / name, moved / name)
    check_stored(moved / "a.h5", "first", expected)


def test_no_two_blocks_share_a_chunk(tmp_path):
    """Blocks of the virtual dataset begin and end at chunks, whatever the blocks of the array are."""
    for blocks in ((7, 9), ((3, 20, 17), (50,)), ((6, 6, 28), (10, 40)), (40, 50), (1, 1)):
        array = da.from_array(values(40, 50), chunks=blocks)
        hs.dask.store(array, tmp_path / "a.h5", "d", mode="w", chunks=(6, 10))
        with hs.File(tmp_path / "a.h5") as file:
            for source in file["d"].virtual_sources():
                assert all(start % side == 0 for (start, *_), side in zip(source.vspace.data, (6, 10)))
        assert all(
            h5py.File(path)[name].chunks == (6, 10)
            for path in (tmp_path / "a.h5.parts").glob("*/*")
            for name in ["0.0"]
        )
        check_stored(tmp_path / "a.h5", "d", values(40, 50))


def test_chunks_by_default_divide_regular_blocks(tmp_path):
    array = da.zeros((3000, 4000), chunks=(300, 1000), dtype="f4")
    hs.dask.store(array, tmp_path / "a.h5", "d")
    assert check_stored(tmp_path / "a.h5", "d", np.zeros((3000, 4000), "f4")) == 40
    hs.dask.consolidate(tmp_path / "a.h5")
    with hs.File(tmp_path / "a.h5") as file:
        rows, columns = file["d"].chunks
        assert 300 % rows == 0 and 1000 % columns == 0 and 4096 < rows * columns * 4 <= 1 << 20


def test_a_block_that_is_written_twice_is_kept_and_shown_once(tmp_path, monkeypatch):
    once = _tasks.Writer._write
    monkeypatch.setattr(_tasks.Writer, "_write", lambda *given: [once(*given), once(*given)][1])
    stored = hs.dask.store(da.from_array(values(40), chunks=10), tmp_path / "a.h5", "d", compute=False)
    assert not (tmp_path / "a.h5").exists()
    stored.compute()
    assert check_stored(tmp_path / "a.h5", "d", values(40)) == 4
    # The last task runs again, with other places.
    stored.compute()
    assert check_stored(tmp_path / "a.h5", "d", values(40)) == 4 and len(parts(tmp_path / "a.h5")) == 1


def test_a_computation_that_runs_again_stores_the_new_values(tmp_path):
    added = [0]
    array = da.from_array(values(40), chunks=10).map_blocks(lambda block: block + added[0], dtype="<i4")
    stored = hs.dask.store(array, tmp_path / "a.h5", "d", compute=False)
    for added[0] in (0, 5):
        stored.compute(scheduler="sync")
        check_stored(tmp_path / "a.h5", "d", values(40) + added[0])


def test_parts_of_processes_that_died_in_a_commit_are_made_whole(tmp_path, monkeypatch):
    join = _tasks.Joiner.__call__

    def after_a_kill(self, places):
        for path in (tmp_path / "a.h5.parts").glob("*/*"):
            # As the file is from the guard to the end of a commit: other programs refuse it.
            path.write_bytes(guarded(path.read_bytes()))
            with pytest.raises(OSError):
                h5py.File(path)
        join(self, places)

    monkeypatch.setattr(_tasks.Joiner, "__call__", after_a_kill)
    hs.dask.store(da.from_array(values(40), chunks=10), tmp_path / "a.h5", "d")
    check_stored(tmp_path / "a.h5", "d", values(40))


BUSY = """
import sys, time
import hyperslab as hs
with hs.File("a.h5", "w") as file:
    file["e"] = 1
    print("open", flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.process
def test_a_target_that_another_process_changes_is_waited_for(tmp_path, monkeypatch):
    array = da.from_array(values(20), chunks=5)
    for seconds in (0.5, 60):
        with subprocess.Popen(
            [sys.executable, "-c", BUSY, str(seconds)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            env=environment_of_suite(Path(hs.__file__).parents[1]),
        ) as busy:
            assert busy.stdout.readline() == b"open\n"
            if seconds < 1:
                hs.dask.store(array, tmp_path / "a.h5", "d")
            else:
                monkeypatch.setattr("hyperslab.dask._store._SHORT_WAIT", 0.1)
                with pytest.raises(BlockingIOError):
                    hs.dask.store(array, tmp_path / "a.h5", "d")
                busy.kill()
    assert len(parts(tmp_path / "a.h5")) == 1


def test_the_last_task_runs_again_after_every_step(tmp_path, monkeypatch):
    for mode in ("a", "w", "x"):
        for shape in ((40,), (), (0, 3)):
            target = tmp_path / f"{mode}{len(shape)}.h5"
            stored = hs.dask.store(da.from_array(values(*shape)), target, "d", mode=mode, compute=False)
            with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
                patched.setattr(_tasks.Joiner, "_clean", lambda *given: 1 / 0)
                try:
                    stored.compute()
                except ZeroDivisionError:
                    raise RuntimeError("killed") from None
            stored.compute()
            with hs.File(target) as file:
                assert np.array_equal(file["d"][...], values(*shape))


def test_modes_add_replace_and_refuse(tmp_path):
    target = tmp_path / "a.h5"
    array = da.from_array(values(20), chunks=5)
    hs.dask.store(array, target, "d")
    for again in ({}, {"compute": False}):
        with pytest.raises(hs.NameExistsError, match="exists"):
            hs.dask.store(array, target, "d", **again)
    with pytest.raises(ValueError, match="not a group"):
        hs.dask.store(array, target, "d/e")
    with pytest.raises(FileExistsError):
        hs.dask.store(array, target, "e", mode="x")
    before = set(parts(target))
    with hs.File(target) as file:
        # The old file is the source of the new one.
        doubled = hs.dask.from_dataset(file["d"]) * 2
    hs.dask.store(doubled, target, "e", mode="w")
    check_stored(target, "e", values(20) * 2)
    with hs.File(target) as file:
        assert list(file) == ["e"]
    assert before.isdisjoint(parts(target)) and sorted(os.listdir(tmp_path)) == ["a.h5", "a.h5.parts"]
    target.write_bytes(b"not HDF5")
    hs.dask.store(array, target, "d", mode="w")
    hs.dask.store(array, tmp_path / "50%b%%.h5", "d", mode="x")
    with h5py.File(tmp_path / "50%b%%.h5") as file:
        assert np.array_equal(file["d"][:], values(20))
    hs.dask.consolidate(tmp_path / "50%b%%.h5", remove_parts=True)
    assert not (tmp_path / "50%b%%.h5.parts").exists()


def test_arrays_of_one_file_are_computed_together(tmp_path):
    arrays = {f"d{n}": da.from_array(values(30) + n, chunks=7) for n in range(6)}
    target = tmp_path / "a.h5"
    dask.compute([hs.dask.store(array, target, name, compute=False) for name, array in arrays.items()])
    for n, name in enumerate(arrays):
        check_stored(target, name, values(30) + n)


def test_texts_and_records_are_stored(tmp_path):
    texts = np.array([f"text {n}" for n in range(20)], object)
    records = np.zeros(20, RECORD)
    records["a"] = np.arange(20)
    for name, data, dtype in (
        ("texts", texts, hs.string_dtype()),
        ("fixed", texts.astype("S"), None),
        ("strings", texts.astype(np.dtypes.StringDType()), None),
        ("records", records, None),
    ):
        hs.dask.store(da.from_array(data, chunks=6), tmp_path / "a.h5", name, dtype=dtype, chunks=(3,))
    for step in range(2):
        with h5py.File(tmp_path / "a.h5") as file:
            assert [one.decode() for one in file["texts"][:]] == texts.tolist() == file["strings"].asstr()[:].tolist()
            assert np.array_equal(file["fixed"][:], texts.astype("S")) and np.array_equal(file["records"][:], records)
        if step == 0:
            hs.dask.consolidate(tmp_path / "a.h5", remove_parts=True)


def test_wrong_arrays_and_options_are_errors_before_anything_is_computed(tmp_path):
    good = da.from_array(values(20), chunks=5)
    masked = da.ma.masked_equal(good, 3)
    for array, error, text in (
        (values(20), TypeError, "from_array"),
        (good[good > 3], ValueError, "compute_chunk_sizes"),
        (masked, TypeError, "filled"),
        (good.astype(object), TypeError, "HDF5"),
        (good.astype("U3"), TypeError, "U3"),
    ):
        with pytest.raises(error, match=text):
            hs.dask.store(array, tmp_path / "a.h5", "d")
    for options in (
        {"chunks": (5, 5)},
        {"chunks": (21,)},
        {"chunks": (0,)},
        {"chunks": False},
        {"compression": "zip"},
        {"compression_opts": 4},
        {"mode": "r"},
        {"fillvalue": "x"},
        {"compresion": "gzip"},
        {"dtype": object},
    ):
        with pytest.raises((ValueError, TypeError)):
            hs.dask.store(good, tmp_path / "a.h5", "d", **options)
    with hs.File(tmp_path / "open.h5", "w") as file:
        with pytest.raises(TypeError, match="path of a file"):
            hs.dask.store(good, file, "d")
    with hs.File(tmp_path / "open.h5"), pytest.raises(OSError):
        hs.dask.store(good, tmp_path / "open.h5", "d")
    with pytest.raises(FileNotFoundError, match="folder"):
        hs.dask.store(good, tmp_path / "none" / "a.h5", "d")
    assert sorted(os.listdir(tmp_path)) == ["open.h5"]


@pytest.mark.soak
def test_an_error_names_the_block_and_leaves_nothing(tmp_path):
    def odd(block, block_info):
        return block[:-1] if block_info[0]["chunk-location"] == (1, 0) else block

    array = da.from_array(values(6, 4), chunks=(2, 4)).map_blocks(odd, dtype="<i4", meta=np.empty((0, 0), "<i4"))
    for wrong, error in (
        (array, ValueError),
        (da.from_array(values(6, 4), chunks=(2, 4)).map_blocks(lambda one: one + 0.5, meta=values(0, 0)), TypeError),
        (da.from_array(values(6, 4), chunks=(2, 4)).map_blocks(np.ma.masked_less, 20, meta=values(0, 0)), TypeError),
    ):
        with pytest.raises(error) as caught:
            hs.dask.store(
                wrong,
                tmp_path / "a.h5",
                "d",
                chunks=(1, 4),
                compute_kwargs={"scheduler": "processes", "num_workers": 2},
            )
        assert any("while writing block (" in note and "of 'd'" in note for note in caught.value.__notes__)
        if wrong is array:
            assert "block (1, 0), elements [2:4, 0:4]" in caught.value.__notes__[0]
    assert os.listdir(tmp_path) == []


FULL = """
import resource, signal, sys
import dask.array as da, numpy as np, hyperslab as hs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    hs.dask.store(da.ones((8, 20_000), chunks=(1, 20_000)), "a.h5", "d", chunks=(1, 20_000))
except OSError as error:
    print(error.__notes__[0])
"""


def run_program(text, tmp_path, *paths):
    """Runs a program with the hyperslab of this process. Returns what it prints."""
    program = tmp_path / "program.py"
    program.write_text(text)
    path = os.pathsep.join(map(str, [Path(hs.__file__).parents[1], *paths]))
    done = subprocess.run(
        [sys.executable, program],
        env=environment_of_suite(path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    program.unlink()
    return done.stdout


@pytest.mark.soak
def test_a_part_that_cannot_grow_is_an_error_and_leaves_nothing(tmp_path):
    assert "while writing block (" in run_program(FULL, tmp_path)
    assert os.listdir(tmp_path) == []


def test_consolidating_moves_stored_chunks_and_keeps_everything_else(tmp_path):
    target = tmp_path / "a.h5"
    expected = values(50, 33)
    array = da.from_array(expected, chunks=(20, 11))
    hs.dask.store(array, target, "g/d", chunks=(5, 11), compression="gzip", fillvalue=-1)
    hs.dask.store(array, target, "skewed", chunks=(7, 9), compression="gzip", shuffle=True, fletcher32=True)
    with hs.File(target, "r+") as file:
        file["g/d"].attrs["units"], file["g/d"].attrs["names"] = "K", ["a", "b"]
        file["alias"], file["plain"] = file["g/d"], values(5)
        file["soft"] = hs.SoftLink("/g/d")
    with hs.File(target) as file:
        first = file["g/d"].virtual_sources()[4]
    with hs.File(tmp_path / first.file_name, "r+") as part:
        # What no filter of the dataset would store.
        stored = zlib.compress(part[first.dset_name][5:10].tobytes(), 0)
        part[first.dset_name].id.write_direct_chunk((5, 0), stored)
    told = []
    hs.dask.consolidate(target, tmp_path / "one.h5", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (2 * expected.nbytes,) * 2 and told == sorted(told)
    check_stored(target, "g/d", expected)
    hs.dask.consolidate(target, remove_parts=True)
    assert sorted(os.listdir(tmp_path)) == ["a.h5", "one.h5"]
    for path in (target, tmp_path / "one.h5"):
        for module in (hs, h5py):
            with module.File(path) as file:
                for name, chunks in (("g/d", (5, 11)), ("skewed", (7, 9)), ("alias", (5, 11)), ("soft", (5, 11))):
                    assert np.array_equal(file[name][...], expected) and file[name].chunks == chunks
                    assert not file[name].is_virtual
                assert file["alias"] == file["g/d"] and file["g/d"].fillvalue == -1
                assert file["g/d"].attrs["units"] == "K" and file["g/d"].attrs["names"].tolist() == ["a", "b"]
                assert (file["skewed"].compression, file["skewed"].shuffle, file["skewed"].fletcher32) == (
                    "gzip",
                    True,
                    True,
                )
                assert np.array_equal(file["plain"][:], values(5))
        with hs.File(path) as file:
            assert file["g/d"].id.read_direct_chunk([first.vspace.data[0][0] + 5, 11]) == (0, stored)


def test_other_virtual_datasets_are_consolidated(tmp_path):
    with hs.File(tmp_path / "v.h5", "w") as file:
        whole = hs.VirtualLayout((40, 30), "<i4")
        for row in range(0, 40, 10):
            with hs.File(tmp_path / f"{row}.h5", "w") as source:
                source["s"] = values(40, 30)[row : row + 10]
            whole[row : row + 10] = hs.VirtualSource(tmp_path / f"{row}.h5", "s", shape=(10, 30))
        file.create_virtual_dataset("d", whole)
        strided = hs.VirtualLayout((20, 30), "<i4")
        strided[::2] = hs.VirtualSource(tmp_path / "0.h5", "s", shape=(10, 30))
        file.create_virtual_dataset("gaps", strided, fillvalue=-5)
    gaps = np.full((20, 30), -5)
    gaps[::2] = values(10, 30)
    os.mkdir(tmp_path / "out")
    hs.dask.consolidate(tmp_path / "v.h5", tmp_path / "out" / "v.h5")
    with h5py.File(tmp_path / "out" / "v.h5") as file:
        assert np.array_equal(file["d"][...], values(40, 30)) and np.array_equal(file["gaps"][...], gaps)
        assert not file["d"].is_virtual and file["gaps"].fillvalue == -5


def test_parts_are_removed_only_when_the_new_file_is_on_the_disk(tmp_path, monkeypatch):
    target = tmp_path / "a.h5"
    hs.dask.store(da.from_array(values(20), chunks=5), target, "d")

    def fail(descriptor):
        raise OSError("fsync")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="fsync"):
        hs.dask.consolidate(target, remove_parts=True)
    assert len(parts(target)) == 1


def test_sources_between_chunks_and_with_other_filters_are_consolidated(tmp_path, monkeypatch):
    # In their order, so that a chunk which two sources share would keep the elements of the second only.
    monkeypatch.setattr("hyperslab.dask._consolidate.get_threads", lambda: 1)
    os.makedirs(tmp_path / "a.h5.parts" / "run")
    layout = hs.VirtualLayout((30, 8), "<i4")
    with hs.File(tmp_path / "a.h5.parts" / "run" / "p.h5", "w") as part:
        for start, stop, options in (
            (0, 8, {"compression": "gzip"}),
            (8, 12, {"compression": "gzip", "shuffle": True}),
            (12, 16, {"compression": "gzip", "dtype": "<i8"}),
            (23, 30, {"compression": "gzip"}),
            (16, 23, {"compression": "gzip"}),
        ):
            data = values(30, 8)[start:stop]
            part.create_dataset(f"{start}", data=data, chunks=(4, 8), **options)
            layout[start:stop] = hs.VirtualSource("a.h5.parts/run/p.h5", f"{start}", shape=data.shape)
    with hs.File(tmp_path / "a.h5", "w") as file:
        file.create_virtual_dataset("d", layout)
    hs.dask.consolidate(tmp_path / "a.h5", remove_parts=True)
    for module in (hs, h5py):
        with module.File(tmp_path / "a.h5") as file:
            assert np.array_equal(file["d"][...], values(30, 8)) and file["d"].chunks == (4, 8)
    assert os.listdir(tmp_path) == ["a.h5"]


def test_a_file_that_cannot_be_consolidated_stays_as_it_is(tmp_path):
    target = tmp_path / "a.h5"
    hs.dask.store(da.from_array(values(20), chunks=5), target, "d")
    before = target.read_bytes()
    with hs.File(target, "r+"), pytest.raises(ValueError, match="open for writing"):
        hs.dask.consolidate(target)
    with pytest.raises(ValueError, match="still needs its parts"):
        hs.dask.consolidate(target, tmp_path / "b.h5", remove_parts=True)
    with pytest.raises(FileExistsError):
        hs.dask.consolidate(target, target)

    def stop(done, total):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        hs.dask.consolidate(target, remove_parts=True, progress=stop)
    check_stored(target, "d", values(20))
    (part,) = (tmp_path / "a.h5.parts").glob("*/*")
    part.rename(tmp_path / "away.h5")
    with pytest.raises(FileNotFoundError, match="4 sources of '/d' are missing"):
        hs.dask.consolidate(target, remove_parts=True)
    (tmp_path / "away.h5").rename(part)
    assert target.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["a.h5", "a.h5.parts"]
    hs.dask.consolidate(target)
    assert part.exists()
    with pytest.raises(ValueError, match="one file already"):
        hs.dask.consolidate(target)
    with pytest.raises(FileNotFoundError):
        hs.dask.consolidate(tmp_path / "none.h5")


DISTRIBUTED = """
import os, signal, sys
import dask, dask.array as da, numpy as np
import hyperslab as hs
from distributed import Client
from hyperslab.dask import _tasks

def once(name):
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def die_while_computing(block, block_info=None):
    # Only a process that has written blocks before.
    if block_info[0]["chunk-location"][0] >= 6 and _tasks.Writer.blocks >= 2 and once("killed-computing"):
        os.kill(os.getpid(), signal.SIGKILL)
    return block * 2

def die_after_writing():
    write = _tasks.Writer._write
    _tasks.Writer.blocks = 0
    def patched(self, *given):
        place = write(self, *given)
        _tasks.Writer.blocks += 1
        if given[1][0] == 4 and once("killed-writing"):
            os.kill(os.getpid(), signal.SIGKILL)
        return place
    _tasks.Writer._write = patched

if __name__ == "__main__":
    expected = np.random.default_rng(1).integers(0, 1000, (1000, 300))
    with hs.File("source.h5", "w") as file:
        file.create_dataset("x", data=expected, chunks=(25, 300), compression=hs.Blosc2("lz4"))
    dask.config.set({"distributed.scheduler.allowed-failures": 10})
    with Client(n_workers=3, threads_per_worker=2, dashboard_address=None, processes=True) as client:
        # Processes that take the place of killed ones have it, too.
        client.register_worker_callbacks(die_after_writing)
        with hs.File("source.h5") as file:
            x = hs.dask.from_dataset(file["x"], chunks=(50, 100))
        assert x.sum().compute() == expected.sum()
        array = x.map_blocks(die_while_computing, dtype=x.dtype, meta=x._meta)
        hs.dask.store(array, "a.h5", "d", chunks=(25, 100), compression="gzip", compute_kwargs={"retries": 2})
        assert os.path.exists("killed-computing") and os.path.exists("killed-writing")
        os.unlink("killed-computing"), os.unlink("killed-writing")
        together = [hs.dask.store(x + n, "b.h5", f"d{n}", compute=False) for n in range(3)]
        client.gather(client.compute(together))
        assert os.path.exists("killed-writing")
        os.unlink("killed-writing")
        in_memory = hs.File.in_memory()
        in_memory["d"] = expected
        try:
            hs.dask.from_dataset(in_memory["d"]).sum().compute()
        except Exception as error:
            print(type(error.__cause__).__name__, error.__cause__)
        open("killed-writing", "w").close()
        try:
            hs.dask.store(x.map_blocks(lambda block: block[:-1], meta=x._meta), "c.h5", "d")
        except ValueError as error:
            print(error.__notes__[0])
    os.unlink("killed-writing")
    print("done")
"""


@pytest.mark.process
def test_workers_that_are_killed_lose_nothing_and_leave_nothing_twice(tmp_path):
    said = run_program(DISTRIBUTED, tmp_path, Path(sys.prefix) / "stacks")
    assert "while writing block (" in said and "scheduler='threads'" in said and said.endswith("done\n")
    expected = np.random.default_rng(1).integers(0, 1000, (1000, 300))
    assert check_stored(tmp_path / "a.h5", "d", expected * 2) == 60
    for n in range(3):
        assert check_stored(tmp_path / "b.h5", f"d{n}", expected + n) == 60
    for name in ("a.h5", "b.h5"):
        hs.dask.consolidate(tmp_path / name, remove_parts=True)
    with contextlib.suppress(FileNotFoundError):
        (tmp_path / "c.h5.parts").rmdir()
    assert sorted(one for one in os.listdir(tmp_path) if one != "dask-scratch-space") == ["a.h5", "b.h5", "source.h5"]
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["d"][...], expected * 2) and file["d"].chunks == (25, 100)
