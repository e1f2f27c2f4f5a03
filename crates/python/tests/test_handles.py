"""Subclasses, pickles, the bytes of files, and keywords that have no effect."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings

import dask.base
import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab import _warn

VALUES = np.arange(12).reshape(3, 4)


@pytest.fixture
def path(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        f["g/x"] = VALUES
        f["g/x"].attrs["unit"] = "m"
        f["g/t"] = np.dtype("f4")
    return tmp_path / "f.h5"


class Experiment(hs.File):
    """A file whose constructor takes other arguments."""

    def __init__(self, run, directory):
        super().__init__(directory / f"{run}.h5", "r")
        self.run = run


class Signal(hs.Dataset):
    def __init__(self, dataset, gain=1):
        super().__init__(dataset.id)
        self.gain = gain

    def scaled(self):
        return self[...] * self.gain


class Folder(hs.Group):
    def sizes(self):
        return [item.size for item in self.values() if isinstance(item, hs.Dataset)]


class Kind(hs.Datatype):
    pass


class Counted(hs.File):
    def __init__(self, name, mode="r", count=1):
        super().__init__(name, mode)
        self.count = count


class Slim(hs.Dataset):
    __slots__ = ("unit",)


def test_a_subclass_of_a_file_takes_its_own_arguments(path):
    with Experiment("f", path.parent) as f:
        assert (f.run, f.mode, list(f)) == ("f", "r", ["g"])
        assert type(f["g"]) is hs.Group and f["g"].file == f
    assert not f


def test_subclasses_of_objects_wrap_an_identifier(path):
    with hs.File(path) as f:
        signal = Signal(f["g/x"], gain=3)
        assert signal == f["g/x"] and signal.attrs["unit"] == "m"
        np.testing.assert_array_equal(signal.scaled(), VALUES * 3)
        assert Folder(f["g"].id).sizes() == [12]
        assert Kind(f["g/t"].id).dtype == "f4"
        for cls, other in ((Signal, f["g"]), (Folder, f["g/x"]), (Kind, f["g"]), (hs.Group, f["g/x"])):
            with pytest.raises(ValueError, match="is not a"):
                cls(other) if cls is Signal else cls(other.id)
        with pytest.raises(ValueError, match="give the `id`"):
            hs.Dataset("x")


def test_class_methods_call_the_subclass_with_an_identifier(path):
    image = path.read_bytes()
    with Counted.from_bytes(image) as f, Counted.in_memory(image) as copy, Counted.in_memory() as empty:
        assert type(f) is type(copy) is type(empty) is Counted and (f.count, empty.count) == (1, 1)
        assert "g/x" in f and list(empty) == []
        copy["new"] = 1
        assert (f.mode, copy.mode, list(copy)) == ("r", "r+", ["g", "new"])
    with pytest.raises(TypeError, match="directory"):
        Experiment.in_memory()


def test_an_object_whose_subclass_forgets_super_is_like_a_closed_one(path):
    class Forgetful(hs.Dataset):
        def __init__(self):
            pass

    made = Forgetful()
    assert not made and repr(made) == "<Closed HDF5 dataset>" and made.name is None
    with pytest.raises(hs.ClosedError, match=r"super\(\).__init__"):
        made[...]
    assert made.shape is None and made == made and made != Forgetful()
    for call in (made.flush, lambda: made.resize((3,)), lambda: hs.File.__new__(hs.File).attrs):
        with pytest.raises(hs.ClosedError, match="not open"):
            call()


def test_a_second_init_is_refused_before_it_changes_another_file(path):
    other = path.parent / "other.h5"
    with hs.File(other, "w") as f:
        f["precious"] = 1
    with hs.File(path) as f, pytest.raises(RuntimeError, match="twice"):
        f.__init__(other, "w")
    with hs.File(other) as f:
        assert list(f) == ["precious"]


@pytest.mark.parametrize("driver", [None, "core"])
def test_handles_of_a_file_open_for_reading_pickle_and_open_it_again(path, monkeypatch, driver):
    monkeypatch.chdir(path.parent)
    with hs.File("f.h5", driver=driver, rdcc_nbytes=1 << 20) as f:
        said = pickle.dumps([f, f["g"], f["g/x"], f["g/t"], Signal(f["g/x"], gain=2), Folder(f["g"].id)])
        monkeypatch.chdir("/")
        file, group, dataset, kind, signal, folder = pickle.loads(said)
        assert [type(item) for item in (file, group, dataset, kind)] == [hs.File, hs.Group, hs.Dataset, hs.Datatype]
        assert file.mode == "r" and file.filename == str(path)
    # Each opened the file for itself.
    np.testing.assert_array_equal(dataset[...], VALUES)
    np.testing.assert_array_equal(signal.scaled(), VALUES * 2)
    assert type(signal) is Signal and folder.sizes() == [12] and kind.dtype == "f4" and list(group) == ["t", "x"]
    file.close()
    assert dataset[0, 0] == 0


def test_a_pickled_subclass_of_a_file_keeps_its_attributes(path):
    with Experiment("f", path.parent) as f:
        f.note = "good"
        again = pickle.loads(pickle.dumps(f))
    with again:
        assert type(again) is Experiment and (again.run, again.note) == ("f", "good") and "g/x" in again


def test_another_process_reads_through_a_pickled_handle(path):
    with hs.File(path) as f, multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(np.sum, (f["g/x"],)) == VALUES.sum()


def test_a_handle_behind_an_external_link_pickles(path):
    with hs.File(path.parent / "linking.h5", "w") as f:
        f["there"] = hs.ExternalLink("f.h5", "/g/x")
    with hs.File(path.parent / "linking.h5", locking=False) as f:
        again = pickle.loads(pickle.dumps(f["there"]))
    np.testing.assert_array_equal(again[...], VALUES)
    assert again.file.filename == str(path)


def test_the_slots_of_a_subclass_are_pickled(path):
    with hs.File(path) as f:
        slim = Slim(f["g/x"].id)
        slim.unit = "m"
        again = pickle.loads(pickle.dumps(slim))
    assert type(again) is Slim and again.unit == "m" and again.shape == (3, 4)


@pytest.mark.parametrize("value", [hs.SoftLink("/x"), hs.ExternalLink("f.h5", "/x"), hs.HardLink(), hs.Empty("f4")])
def test_links_and_empty_values_are_pickled(value):
    assert repr(pickle.loads(pickle.dumps(value))).split(" at ")[0] == repr(value).split(" at ")[0]


def test_other_handles_do_not_pickle(path):
    with hs.File(path, "r+") as f, pytest.raises(TypeError, match="open it with mode 'r'"):
        pickle.dumps(f["g/x"])
    with hs.File.from_bytes(path.read_bytes()) as f, pytest.raises(TypeError, match="open for reading, by path"):
        pickle.dumps(f)
    with open(path, "rb") as raw, hs.File(raw) as f, pytest.raises(TypeError, match="by path"):
        pickle.dumps(f["g"])
    with pytest.raises(hs.ClosedError):
        pickle.dumps(f)
    with hs.File(path) as f:
        gone = pickle.dumps(f["g/x"])
    with hs.File(path, "r+") as f:
        del f["g/x"]
        f.create_group("g/x")
    with pytest.raises(TypeError, match="is a Group now"):
        pickle.loads(gone)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(gone)


def test_bytes_name_a_file_and_are_never_its_content(path):
    image = path.read_bytes()
    with hs.File(bytes(path)) as f:
        assert "g/x" in f
    for content in (image, bytearray(image), memoryview(image)):
        with hs.File.from_bytes(content) as f:
            np.testing.assert_array_equal(f["g/x"][...], VALUES)
            assert (f.mode, f.driver) == ("r", "core")
        for call in (hs.File, hs.check):
            with pytest.raises((ValueError, TypeError), match="File.from_bytes"):
                call(content)
    with pytest.raises(FileNotFoundError):
        hs.File(b"\x89HDF")
    with pytest.raises(TypeError):
        hs.File.from_bytes("name")
    with pytest.raises(hs.FormatError):
        hs.File.from_bytes(b"no file")


def test_a_keyword_without_effect_warns_once_by_name(path, monkeypatch):
    monkeypatch.setattr(_warn, "_told", set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            with hs.File(path, "r", rdcc_nslots=100, rdcc_w0=0.5, alignment_threshold=1):
                pass
            with hs.File.in_memory() as f:
                f.create_dataset("x", data=[1], rdcc_nslots=100)
    assert [str(one.message).split(":")[:2] for one in told] == [
        ["File", " rdcc_nslots= has no effect"],
        ["File", " rdcc_w0= has no effect"],
        ["create_dataset", " rdcc_nslots= has no effect"],
    ]
    assert {one.filename for one in told} == {__file__}


def test_a_warning_that_a_filter_turns_into_an_exception_is_raised_again(path, monkeypatch):
    monkeypatch.setattr(_warn, "_told", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="rdcc_w0"):
                hs.File(path, rdcc_w0=0.5)


def test_a_file_is_not_closed_in_a_transaction(path):
    with hs.File(path, "r+") as f:
        with f.transaction():
            f["kept"] = 1
            with pytest.raises(ValueError, match="transaction"):
                f.close()
        assert "kept" in f
    with hs.File(path) as f:
        assert "kept" in f


def test_names_in_bytes_are_utf_8(path):
    calls = (
        lambda f, name: f[name],
        lambda f, name: f.create_group(name),
        lambda f, name: f.create_dataset(name, data=1),
        lambda f, name: f.__setitem__(name, hs.SoftLink("/g")),
        lambda f, name: f.__setitem__(name, np.dtype("f4")),
        lambda f, name: f.copy("g", name),
        lambda f, name: f.attrs.__setitem__(name, 1),
        lambda f, name: f.attrs.create(name, "text"),
    )
    with hs.File(path, "r+") as f:
        for number, call in enumerate(calls):
            if number:
                call(f, f"é{number}".encode())
        assert list(f) == ["g", *(f"é{number}" for number in range(1, 6))] and list(f.attrs) == ["é6", "é7"]


def test_the_name_of_a_file_may_be_any_bytes(tmp_path):
    path = bytes(tmp_path) + b"/\xff.h5"
    try:
        open(path, "wb").close()
    except OSError:
        # Some systems have no such names.
        with pytest.raises(OSError):
            hs.File(path, "w")
        return
    with hs.File(path, "w") as f:
        name = f.filename
    with hs.File(name) as f:
        assert f.filename == name and repr(f).startswith("<HDF5 file")
    with pytest.raises(ValueError, match="not UTF-8"):
        hs.ExternalLink(name, "/x")


def command(directory, *arguments):
    """Runs the command of the wheel."""
    code = "import sys; from hyperslab._native import run_cli; sys.exit(run_cli(['hyperslab', *sys.argv[1:]]))"
    call = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(call, cwd=directory, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("zstd", hs.Zstd()),
        ("lz4", hs.LZ4()),
        ("bitshuffle", hs.Bitshuffle()),
        ("blosc", hs.Blosc()),
        ("blosc2", hs.Blosc2()),
        ("gzip", "gzip"),
    ],
)
def test_filters_have_the_same_defaults_in_python_and_on_the_command_line(path, name, ours):
    with hs.File(path, "r+") as f:
        f.create_dataset("y", data=VALUES, chunks=(2, 2), compression=ours)
    done = command(path.parent, "repack", path, path.parent / "out.h5", "--filter", name)
    assert done.returncode == 0, done.stderr
    stored = []
    for each in (path, path.parent / "out.h5"):
        with h5py.File(each) as f:
            plist = f["y"].id.get_create_plist()
            stored.append([plist.get_filter(i)[2] for i in range(plist.get_nfilters())])
    assert stored[0] == stored[1]


def test_the_command_of_the_wheel_says_where_pictures_are_drawn(tmp_path):
    from segy_files import CROSSLINE, INLINE, grid, segy

    lines = grid(range(3), range(4))
    image = segy(np.zeros((12, 5), "f4"), {INLINE: lines[:, 0] + 1, CROSSLINE: lines[:, 1] + 1})
    (tmp_path / "volume.sgy").write_bytes(image)
    hs.segy.ingest(tmp_path / "volume.sgy", tmp_path / "cube.h5")
    slices = ["segy", "slice", "cube.h5", "--inline", "1", "--out"]
    for out, code in (("line.npy", 0), ("line.png", 2)):
        done = command(tmp_path, *slices, out)
        assert done.returncode == code, done.stderr
    # Nothing is published that could be installed by its name.
    assert "in a clone of the repository, with `cargo install --path crates/cli" in done.stderr
    assert "`survey.plot` in Python" in done.stderr
    assert not (tmp_path / "line.png").exists()


@pytest.mark.parametrize("words", [["segy", "slice"], ["tune"], ["pio"]])
def test_the_help_of_the_command_of_the_wheel_offers_no_figures(tmp_path, words):
    help = command(tmp_path, *words, "--help").stdout
    assert "not in this build" in help
    examples = [line for line in help.splitlines() if line.startswith("  hyperslab ")]
    assert examples and not any(end in line for line in examples for end in (".png", ".svg"))


def test_members_are_removed_until_nothing_is_left():
    with hs.File.in_memory() as f:
        for mapping in (f, f.attrs):
            mapping["a"], mapping["b"] = 1, 2
            assert [mapping.popitem()[0], mapping.popitem()[0]] == ["a", "b"]
            with pytest.raises(KeyError, match="nothing is left"):
                mapping.popitem()


def token(path, open_file=hs.File, mode="r", name="g/x"):
    with open_file(path, mode) as file:
        return dask.base.tokenize(file[name])


def test_dask_names_a_dataset_anew_when_its_file_was_changed(path):
    first = token(path)
    assert token(path) == first and token(path, name="g/t") != first
    # Two changes may be closer to each other than the clock of the file system is exact.
    before = path.stat()
    with h5py.File(path, "r+") as file:
        file["g/x"][0, 0] = 100
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert token(path) != first


def test_dask_names_a_dataset_anew_that_can_change_while_it_is_open(path, tmp_path):
    assert token(path, mode="r+") != token(path, mode="r+")
    layout = hs.VirtualLayout((3, 4), VALUES.dtype)
    layout[...] = hs.VirtualSource(path, "g/x", (3, 4))
    with hs.File(tmp_path / "v.h5", "w") as file:
        file.create_virtual_dataset("x", layout)
    assert token(tmp_path / "v.h5", name="x") != token(tmp_path / "v.h5", name="x")
    with hs.File.from_bytes(path.read_bytes()) as file:
        assert dask.base.tokenize(file["g/x"]) != dask.base.tokenize(file["g/x"])
