"""h5py reads files of every kind that the package writes, and finds the same as in its own files."""

import io

import h5py
import numpy as np
import pytest
from compare import compare_files
from support import hs
from written import FEATURES, GRID, LIBVERS, write_file


@pytest.fixture(scope="module", params=LIBVERS)
def pair(request, tmp_path_factory):
    """Writes two files with every feature for one version of libhdf5, with hyperslab and with h5py."""
    directory = tmp_path_factory.mktemp(request.param)
    ours, theirs = directory / "ours.h5", directory / "theirs.h5"
    write_file(ours, hs, libver=request.param)
    write_file(theirs, h5py, libver=request.param)
    return ours, theirs


@pytest.mark.parametrize("feature", FEATURES)
def test_h5py_reads_a_hyperslab_file_like_its_own(pair, feature):
    with h5py.File(pair[0]) as ours, h5py.File(pair[1]) as theirs:
        compare_files(ours[feature], theirs[feature])


@pytest.mark.parametrize("feature", FEATURES)
def test_hyperslab_and_h5py_read_the_same_from_a_hyperslab_file(pair, feature):
    with hs.File(pair[0]) as ours, h5py.File(pair[0]) as theirs:
        compare_files(ours[feature], theirs[feature])


def change(file, h5):
    """Changes some objects of every kind; works with h5py and with hyperslab."""
    del file["reused"]
    for index in range(1, 200, 3):
        del file[f"groups/many/g{index:04d}"]
    file["groups/many/new"] = 3
    file["groups/many_ordered"].move("n00", "renamed")
    file["storage/extensible"].resize(70, axis=0)
    file["storage/extensible"][60:] = 7
    file["storage/many_chunks"].resize(9000, axis=0)
    file["storage/many_chunks"][5000:] = 1
    file["storage/shrunk"].resize((40, 30))
    file["storage/two_ways"].resize((9, 11))
    file["storage/contiguous"][3] = -1
    file["storage/compact"][3] = -1
    for dataset in (*file["filters"].values(), *file["plugins"].values()):
        dataset[5:30, 3] = GRID[5:30, 3] * 2
        if dataset.maxshape[0] is None:
            dataset.resize(55, axis=0)
            dataset[54] = 5
    for index in range(1, 40, 4):
        del file["attributes/many"].attrs[f"a{index:02d}"]
    file["attributes"].attrs["text"] = "another"
    file["attributes"].attrs["number"] = np.arange(3)
    for index in range(30):
        file["attributes/ordered"].attrs[f"c{index:02d}"] = index
    file["kinds/texts"][1] = "a longer string than before"
    file["kinds/sequences"][1] = [9]
    file["kinds/mixed"][0] = ("new", 7.5)
    records = file["kinds/records"]
    records[1:3] = records[:2]
    file["kinds/references"][2] = file["storage"].ref
    file["scales/field"].dims[1].detach_scale(file["scales/x"])
    file.create_dataset("more", data=GRID, chunks=(5, 5), compression="gzip", shuffle=True)


@pytest.mark.soak
@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("libver", LIBVERS)
def test_h5py_and_hyperslab_change_files_that_the_other_wrote(tmp_path, libver, first):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    writer, changer = (hs, h5py) if first == "ours" else (h5py, hs)
    write_file(ours, writer, libver=libver)
    write_file(theirs, h5py, libver=libver)
    # The second module changes the file, and then the first changes it once more.
    for module, step in ((changer, change), (writer, again)):
        with module.File(ours, "r+") as file:
            step(file, module)
        with h5py.File(theirs, "r+") as file:
            step(file, h5py)
        for reader in (h5py, hs):
            with reader.File(ours) as file, h5py.File(theirs) as expected:
                compare_files(file, expected)


def again(file, h5):
    """Deletes most groups and writes them again, in the freed space."""
    for name in ("kinds", "storage", "filters", "groups"):
        del file[name]
        FEATURES[name](file.create_group(name), h5)


@pytest.mark.parametrize("module", [hs, h5py], ids=["ours", "theirs"])
def test_an_old_style_root_group_accepts_an_external_link(tmp_path, module):
    """The root becomes a new-style group. The superblock still has the B-tree of the old group."""
    path = tmp_path / "old.h5"
    with module.File(path, "w", libver="earliest") as f:
        f["numbers"] = np.arange(5)
        f["soft"] = module.SoftLink("/numbers")
    with hs.File(path, "r+") as f:
        f["outside"] = hs.ExternalLink("other.h5", "/there")
        f["more"] = np.arange(100.0)
    for last, changer in enumerate((h5py, hs, h5py)):
        with changer.File(path, "r+") as f:
            assert set(f) == {"numbers", "soft", "outside", "more", *map(str, range(last))}
            link = f.get("outside", getlink=True)
            assert (link.filename, link.path) == ("other.h5", "/there")
            assert np.array_equal(f["soft"][()], np.arange(5)) and np.array_equal(f["more"][()], np.arange(100.0))
            f.create_group(str(last))


@pytest.mark.parametrize("size", [512, 1024, 1 << 20])
def test_h5py_reads_a_file_with_a_user_block(tmp_path, size):
    path = tmp_path / "user.h5"
    write_file(path, hs, ("numbers", "storage"), userblock_size=size)
    with open(path, "r+b") as file:
        file.write(b"mine")
    write_file(tmp_path / "theirs.h5", h5py, ("numbers", "storage"))
    with h5py.File(path) as ours, h5py.File(tmp_path / "theirs.h5") as theirs:
        assert ours.userblock_size == size
        compare_files(ours, theirs)
    assert path.read_bytes()[:5] == b"mine\0"


def test_h5py_reads_files_written_in_memory_and_to_file_objects(tmp_path):
    image = io.BytesIO()
    write_file(image, hs, ("numbers", "storage"))
    path = tmp_path / "core.h5"
    write_file(path, hs, ("numbers", "storage"), driver="core")
    write_file(tmp_path / "none.h5", hs, ("numbers",), driver="core", backing_store=False)
    assert not (tmp_path / "none.h5").exists()
    write_file(tmp_path / "theirs.h5", h5py, ("numbers", "storage"))
    with h5py.File(tmp_path / "theirs.h5") as theirs:
        for name in (image, path):
            with h5py.File(name, "r") as ours:
                compare_files(ours, theirs)


@pytest.mark.parametrize(
    ("mode", "there", "outcome"),
    [
        ("w", True, "empty"),
        ("w", False, "empty"),
        ("a", True, "kept"),
        ("a", False, "empty"),
        ("r+", True, "kept"),
        ("r+", False, FileNotFoundError),
        ("x", True, FileExistsError),
        ("w-", True, FileExistsError),
        ("x", False, "empty"),
    ],
)
@pytest.mark.parametrize("module", [hs, h5py])
def test_modes_create_keep_or_replace_a_file(tmp_path, module, mode, there, outcome):
    path = tmp_path / "file.h5"
    if there:
        with module.File(path, "w") as file:
            file["kept"] = 1
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            module.File(path, mode)
        return
    with module.File(path, mode) as file:
        assert list(file) == (["kept"] if outcome == "kept" else [])
        file["new"] = 2
    with h5py.File(path) as file:
        assert "new" in file
