"""Other programs and libraries find the same in files written by hyperslab as in files written by h5py.

The programs of HDF5 (Debian's, of 1.10) and Java are not Python packages: `.ci/run` installs them and
requires these tests.
"""

import re
import shutil
import subprocess
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pyfive
import pytest
import tables
from compare import compare_files, walk
from needs import need, skip_without
from support import REPOSITORY, hs, outcome
from written import FEATURES, LIBVERS, write_file

pytestmark = pytest.mark.extras

# All features except filters that need a plugin.
PLAIN = tuple(name for name in FEATURES if name != "plugins")
# HDF5 1.10 reads files that h5py writes with these bounds. It reads files of hyperslab with later bounds as
# well.
READ_BY_110 = ("earliest", "v108", "v110")
JHDF = Path(__file__).parent / "jhdf"
JARS = REPOSITORY / "target" / "jhdf"


def run(program, *arguments):
    """Runs a program of HDF5 and returns its output. The program must succeed and print no errors."""
    need(program)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert done.returncode == 0 and not done.stderr, f"{program}: {done.stderr or done.stdout}"[:2000]
    return done.stdout


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Writes the same contents with hyperslab and with h5py: `ours, theirs = pairs(libver, features)`."""
    made = {}

    def pair(libver, features=PLAIN):
        if (libver, features) not in made:
            directory = tmp_path_factory.mktemp(libver)
            made[libver, features] = directory / "ours.h5", directory / "theirs.h5"
            for path, module in zip(made[libver, features], (hs, h5py), strict=True):
                write_file(path, module, features, libver=libver)
        return made[libver, features]

    return pair


def dumped(path):
    """Returns the output of h5dump without addresses and without sizes that depend on an encoder."""
    text = run("h5dump", "-p", path)
    text = re.sub(r"(DATASET|GROUP|DATATYPE|OFFSET) \d+", r"\1", text.replace(str(path), ""))
    return re.sub(r"SIZE \d+ \(\S+ COMPRESSION\)", "SIZE", text).splitlines()


@pytest.mark.parametrize("libver", READ_BY_110)
def test_h5dump_prints_the_same_for_files_of_hyperslab_and_of_h5py(pairs, libver):
    ours, theirs = map(dumped, pairs(libver))
    at = next(index for index, line in enumerate(ours) if '"compact"' in line)
    place = slice(at, next(index for index, line in enumerate(ours) if '"contiguous"' in line and index > at))
    end = place.stop + len(theirs) - len(ours)
    # Only this dataset differs, because the high-level API of h5py cannot create compact datasets.
    assert any("COMPACT" in line for line in ours[place])
    assert ours[:at] == theirs[:at]
    assert ours[place.stop :] == theirs[end:]


@pytest.mark.parametrize("libver", LIBVERS)
def test_the_programs_of_hdf5_1_10_read_files_of_hyperslab(pairs, libver, tmp_path):
    ours, _ = pairs(libver)
    assert "/groups/many_ordered/n00" in run("h5ls", "-r", ours)
    assert "Total space" in run("h5stat", ours)
    copy = tmp_path / "cleared.h5"
    shutil.copy(ours, copy)
    run("h5clear", "-s", copy)
    run("h5clear", "--increment=0", copy)
    with h5py.File(copy) as cleared, h5py.File(ours) as expected:
        compare_files(cleared, expected)


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize(
    "options",
    [(), ("-l", "storage/contiguous:CHUNK=10x10", "-f", "storage/contiguous:GZIP=4")],
    ids=["as it is", "chunked"],
)
def test_h5repack_copies_a_file_of_hyperslab_with_the_same_contents(pairs, libver, options, tmp_path):
    ours, theirs = pairs(libver, ("numbers", "storage", "filters", "groups", "attributes"))
    packed = tmp_path / "packed.h5"
    run("h5repack", *options, ours, packed)
    with h5py.File(packed) as file, h5py.File(theirs) as expected:
        found, wanted = dict(walk(file)), dict(walk(expected))
        assert list(found) == list(wanted)
        for path, dataset in wanted.items():
            if isinstance(dataset, h5py.Dataset) and dataset.shape is not None:
                np.testing.assert_array_equal(found[path][()], dataset[()], err_msg=path)


def everything(path, read):
    """Returns what a reader gives for each dataset: its elements as text, or the class of the exception."""
    found = {}
    with h5py.File(path) as file:
        for name, item in walk(file):
            if isinstance(item, h5py.Dataset) and item.shape is not None:
                kind, value = outcome(read, name)
                found[name] = as_text(value) if kind == "value" else type(value).__name__
    return found


def as_text(value):
    """Returns elements as text without references, whose addresses differ between files."""
    with np.printoptions(threshold=10**9):
        return re.sub(r"<[^>]*[Rr]eference[^>]*>|0x[0-9a-f]+", "reference", repr(value))


def with_tables(path):
    """Returns all datasets of a file, read by PyTables."""
    with tables.open_file(path) as file:
        return everything(path, lambda name: file.get_node(name).read())


def with_pyfive(path):
    """Returns all datasets of a file, read by pyfive."""
    with pyfive.File(path) as file:
        return everything(path, lambda name: file[name][()])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("libver", ["earliest", "v108", "v110"])
@pytest.mark.parametrize("reader", [with_tables, with_pyfive])
def test_other_libraries_read_the_same_from_files_of_hyperslab_and_of_h5py(pairs, libver, reader):
    ours, theirs = map(reader, pairs(libver))
    assert ours == theirs
    # The library reads a good part of the datasets.
    read = [name for name, text in ours.items() if not re.fullmatch(r"\w+Error", text)]
    assert len(read) > len(ours) * 2 // 5, set(ours) - set(read)


@pytest.mark.parametrize("libver", LIBVERS)
def test_netcdf_finds_the_dimensions_and_values_of_a_file_of_hyperslab(tmp_path, libver):
    for name, module in (("ours.h5", hs), ("theirs.h5", h5py)):
        write_file(tmp_path / name, module, ("scales",), libver=libver)
    with netCDF4.Dataset(tmp_path / "ours.h5") as ours, netCDF4.Dataset(tmp_path / "theirs.h5") as theirs:
        ours, theirs = ours["scales"], theirs["scales"]
        assert list(ours.variables) == list(theirs.variables)
        assert {name: len(axis) for name, axis in ours.dimensions.items()} == {
            name: len(axis) for name, axis in theirs.dimensions.items()
        }
        assert ours["field"].dimensions == theirs["field"].dimensions
        for name in theirs.variables:
            np.testing.assert_array_equal(ours[name][:], theirs[name][:])


@pytest.mark.parametrize("libver", ["earliest", "v108", "v110"])
def test_jhdf_reads_the_same_from_files_of_hyperslab_and_of_h5py(pairs, libver):
    # jHDF refuses a whole group if it does not know one of the datatypes in the group.
    features = tuple(name for name in FEATURES if name != "kinds")
    ours, theirs = map(with_jhdf, pairs(libver, features))
    assert ours == theirs
    refused = [line for line in ours if "\t! " in line]
    assert len(refused) * 20 < len(ours), refused


def with_jhdf(path):
    """Returns all datasets of a file, read by jHDF."""
    need("java")
    skip_without(JARS.is_dir(), "jHDF is not there: `make jhdf` fetches it")
    command = ["java", "-cp", f"{JARS}/*", JHDF / "Walk.java", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # References are addresses, which differ.
    return sorted(re.sub(r"\d+", "", line) if re.search("reference|_LIST", line) else line for line in lines)


def with_tables_in_part(path):
    """Returns some elements of a dataset, read by PyTables. libhdf5 keeps 6 KB for each chunk of a read."""
    with tables.open_file(path) as file:
        return [file.root.d[part].tolist() for part in (slice(5), slice(990, 1110), slice(-5, None))]


@pytest.mark.soak
@pytest.mark.parametrize(
    "reader",
    [with_tables_in_part, with_jhdf, lambda path: run("h5dump", "-d", "d", "-s", "1090", "-c", "20", path)],
)
def test_other_programs_read_a_fixed_shape_whose_chunks_are_in_a_b_tree(tmp_path, reader):
    ours, theirs = tmp_path / "f.h5", tmp_path / "theirs" / "f.h5"
    theirs.parent.mkdir()
    for path, module, libver in ((ours, hs, "v110"), (theirs, h5py, "earliest")):
        with module.File(path, "w", libver=libver) as file:
            # More chunks than hyperslab puts into a Fixed Array.
            dataset = file.create_dataset("d", (2**20 + 3,), "i1", chunks=(1,), fillvalue=3)
            dataset[1000:1100], dataset[2**20 + 1 :] = np.arange(100), 5
    assert str(reader(ours)).replace(str(tmp_path), "") == str(reader(theirs)).replace(str(theirs.parent), "")
