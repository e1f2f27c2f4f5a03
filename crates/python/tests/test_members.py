"""Files whose bytes are in several files: the drivers family, split and multi.

h5py writes and reads them. Files that libhdf5's tests bring are read too, where `make corpus` was run.
"""

import os
import pickle
import subprocess
import sys
import tarfile

import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab._native import run_cli
from hyperslab.low import h5f, h5p
from needs import need, skip_without
from support import IS_H5PY, REPOSITORY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py is the oracle")

ARCHIVES = REPOSITORY / "target" / "corpus" / "archives"
CASES = [
    pytest.param(driver, options, libver, id=f"{driver}-{'-'.join(map(str, options.values()))}-{libver}")
    for driver, options in [
        ("family", {"memb_size": 1024}),
        ("family", {"memb_size": 5000}),
        ("family", {"memb_size": 1 << 20}),
        ("split", {}),
        ("split", {"meta_ext": b".meta", "raw_ext": b"%s.raw"}),
    ]
    for libver in ("earliest", "latest")
]


def path_of(folder, driver):
    return folder / ("part-%03d.h5" if driver == "family" else "parts")


def fill(f):
    numbers = np.arange(24_000, dtype="i4").reshape(120, 200)
    f["whole"] = numbers
    f.create_dataset("gzip", data=numbers[::-1], chunks=(13, 50), compression="gzip", shuffle=True)
    f.create_dataset("chunks", data=numbers * 2.5, chunks=(50, 31), maxshape=(None, 200))
    f.create_dataset("few", (1000, 1000), "u2", chunks=(100, 100), fillvalue=7)[5:8, 990:] = 1
    f.create_dataset("strings", data=[f"name {n}" for n in range(300)])
    if isinstance(f, h5py.File):
        f.create_dataset("compact", data=np.arange(3.0), dcpl=compact())
    f.create_dataset("empty", (0, 4), "f4", maxshape=(None, 4))
    for n in range(30):
        f.create_group(f"groups/g{n}").attrs["n"] = np.arange(n)
    f["soft"] = (h5py if isinstance(f, h5py.File) else hs).SoftLink("/groups/g3")
    f.attrs["title"] = "in parts"


def compact():
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    return plist


def assert_same(ours, theirs, seed=0):
    """Compares two files: members, attributes, and datasets with random selections."""
    random = np.random.default_rng(seed)
    names = []
    theirs.visit(names.append)
    found = []
    ours.visit(found.append)
    assert found == names
    for name in names:
        mine, other = ours[name], theirs[name]
        assert sorted(mine.attrs) == sorted(other.attrs)
        for key in other.attrs:
            assert np.array_equal(mine.attrs[key], other.attrs[key])
        if isinstance(other, h5py.Dataset):
            assert np.array_equal(mine[()], other[()])
            for _ in range(10):
                what = tuple(selection(random, length) for length in other.shape)
                assert np.array_equal(mine[what], other[what]), (name, what)


def selection(random, length):
    start, stop = sorted(random.integers(0, length + 1, 2))
    return slice(int(start), int(stop), int(random.integers(1, 9)))


@pytest.mark.parametrize("driver, options, libver", CASES)
def test_files_of_h5py_are_read_with_every_selection(tmp_path, driver, options, libver):
    path = path_of(tmp_path, driver)
    with h5py.File(path, "w", driver=driver, libver=libver, **options) as f:
        fill(f)
    with h5py.File(path, "r", driver=driver, **options) as theirs:
        with hs.File(path, driver=driver, **options) as ours:
            assert (ours.driver, ours.filename, ours.mode) == (driver, str(path), "r")
            assert_same(ours, theirs)
        with hs.File(path, driver=driver, **{k: v for k, v in options.items() if k != "memb_size"}) as ours:
            assert_same(ours, theirs, seed=1)
            assert pickle.loads(pickle.dumps(ours["gzip"]))[0, 0] == theirs["gzip"][0, 0]


def members():
    """Returns {name: bytes} of the members in the tests of libhdf5."""
    found = {}
    for archive in ARCHIVES.glob("hdf5_*.orig.tar.*"):
        with tarfile.open(archive) as tar:
            for member in tar:
                name = os.path.basename(member.name)
                if name.endswith(".h5") and any(word in name for word in ("family", "multi", "split")):
                    found[name] = tar.extractfile(member).read()
    skip_without(found, "the corpus is not there: `make corpus` fetches it")
    return found


@pytest.mark.extras
def test_files_of_old_libraries_are_read(tmp_path):
    found = members()
    for name, content in found.items():
        (tmp_path / name).write_bytes(content)
    old = [
        ("family_file%05d.h5", "family", {"memb_size": 0}),
        ("family_v16_%05d.h5", "family", {"memb_size": 0}),
        ("tfamily%05d.h5", "family", {"memb_size": 0}),
        ("tsplit_file", "split", {}),
        # h5py has no driver of its own for these, and finds the other members by their names.
        ("tmulti", "multi", {"meta_ext": b"-s.h5"}),
        ("multi_file_v16", "multi", {"meta_ext": b"-s.h5"}),
    ]
    for name, driver, options in old if found else []:
        with h5py.File(tmp_path / name, "r", driver="split" if driver == "multi" else driver, **options) as theirs:
            with hs.File(tmp_path / name, driver=driver) as ours:
                assert_same(ours, theirs)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_member_alone_says_how_to_open_the_file(tmp_path, libver):
    with h5py.File(tmp_path / "part%d.h5", "w", driver="family", libver=libver, memb_size=1 << 12) as f:
        fill(f)
    with h5py.File(tmp_path / "parts", "w", driver="split", libver=libver) as f:
        fill(f)
    for lib in (h5py, hs):
        with pytest.raises(OSError, match="family driver should be used|truncated file"):
            lib.File(tmp_path / "part0.h5")
        with pytest.raises(OSError, match="multi driver should be used"):
            lib.File(tmp_path / "parts-m.h5")
        with pytest.raises(OSError):
            lib.File(tmp_path / "part1.h5")
    with pytest.raises(OSError, match=r'part%d.h5" with driver="family"'):
        hs.File(tmp_path / "part0.h5")
    with pytest.raises(OSError, match=r'parts" with driver="split"'):
        hs.File(tmp_path / "parts-m.h5")


def test_options_are_those_of_h5py(tmp_path):
    with h5py.File(tmp_path / "part%d.h5", "w", driver="family", memb_size=1 << 12) as f:
        fill(f)
    with h5py.File(tmp_path / "parts", "w", driver="split") as f:
        fill(f)
    wrong = [
        ("part%d.h5", {"driver": "family", "memb_size": 5}, OSError, "should be 4096.  But the size .* is 5"),
        ("part%d.h5", {"driver": "family", "memb_size": -1}, OverflowError, "negative"),
        ("part%d.h5", {"driver": "family", "memb_size": "x"}, TypeError, ""),
        ("part%d.h5", {"driver": "family", "meta_ext": b"-m"}, TypeError, "unexpected keyword|invalid keyword"),
        ("part0.h5", {"driver": "family"}, OSError, "differing member numbers"),
        ("none%d.h5", {"driver": "family"}, FileNotFoundError, ""),
        ("parts", {"driver": "split", "memb_size": 5}, TypeError, "unexpected keyword|invalid keyword"),
        ("parts", {"driver": "split", "meta_ext": 5}, TypeError, ""),
        ("parts", {"driver": "split", "meta_ext": b"-none"}, OSError, ""),
        ("parts", {}, FileNotFoundError, ""),
        ("parts", {"memb_size": 1}, TypeError, "invalid keyword"),
    ]
    for name, options, error, text in wrong:
        for lib in (h5py, hs):
            with pytest.raises(error, match=text):
                lib.File(tmp_path / name, "r", **options)
    (tmp_path / "parts-r.h5").rename(tmp_path / "parts-moved")
    for lib in (h5py, hs):
        # The name that is given counts more than the one in the file.
        with lib.File(tmp_path / "parts", "r", driver="split", raw_ext=b"-moved") as f:
            assert f["whole"][119, 199] == 23_999
        with lib.File(tmp_path / "parts", "r", driver="split") as f:
            assert f["groups/g3"].attrs["n"].tolist() == [0, 1, 2]
            with pytest.raises(OSError):
                f["whole"][()]


@pytest.mark.parametrize("mode", ["r+", "a", "w", "x"])
def test_writing_multi_files_is_refused(tmp_path, mode):
    with pytest.raises(NotImplementedError, match="writing multi files"):
        hs.File(tmp_path / "parts", mode, driver="multi")
    assert not any(tmp_path.iterdir())


def lengths(folder):
    return [found.stat().st_size for found in sorted(folder.iterdir(), key=lambda found: (len(found.name), found.name))]


@pytest.mark.soak
@pytest.mark.parametrize("size", [512, 5000, 1 << 20])
@pytest.mark.parametrize("libver", ["earliest", "v108", "v110", "latest"])
@pytest.mark.parametrize("userblock", [0, 2048])
def test_a_family_is_written_as_by_h5py(tmp_path, size, libver, userblock):
    """Every program opens it, and its members have the sizes that libhdf5 gives them."""
    options = {"driver": "family", "memb_size": size}
    path = tmp_path / "part-%03d.h5"
    with hs.File(path, "x", libver=libver, userblock_size=userblock, **options) as f:
        fill(f)
        assert f.driver == "family"
    found = lengths(tmp_path)
    assert set(found[:-1]) <= {size} and 0 < found[-1] <= size
    with h5py.File(path, "r", **options) as theirs, hs.File(path, "r", driver="family") as ours:
        assert_same(ours, theirs)
        assert theirs.userblock_size == userblock
        # The library takes the size from the file.
        assert h5py.File(path, "r", driver="family", memb_size=0)["whole"][119, 199] == 23_999
    # h5py changes it, and then we do, and so on; each reads what the other one wrote.
    for turn in range(3):
        for lib, name in ((h5py, "theirs"), (hs, "ours")):
            with lib.File(path, "r+", **options) as f:
                for old in [f"theirs{turn - 1}", f"ours{turn - 1}"]:
                    if old in f and turn == 2:
                        del f[old]
                f.create_dataset(f"{name}{turn}", data=np.arange(3000 * (turn + 1)), chunks=(700,), shuffle=True)
                f.attrs[f"{name}{turn}"] = turn
            found = lengths(tmp_path)
            short = next((number for number, length in enumerate(found) if length != size), len(found))
            assert not any(found[short + 1 :])
            with h5py.File(path, "r", **options) as theirs, hs.File(path, "r", **options) as ours:
                assert_same(ours, theirs)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_family_of_h5py_is_changed(tmp_path, libver):
    path, options = tmp_path / "part-%03d.h5", {"driver": "family", "memb_size": 3000}
    with h5py.File(path, "w", libver=libver, **options) as f:
        fill(f)
    with pytest.raises(OSError, match="should be 3000"):
        hs.File(path, "r+", driver="family", memb_size=4000)
    with hs.File(path, "a", driver="family") as f:
        f["whole"][5] = -1
        f["chunks"].resize(400, axis=0)
        f["chunks"][300:] = 7
        del f["gzip"]
        with pytest.raises(OSError, match="SWMR"):
            f.swmr_mode = True
    with h5py.File(path, "r", **options) as theirs, hs.File(path, "r", **options) as ours:
        assert_same(ours, theirs)
        assert (theirs["whole"][5] == -1).all() and (theirs["chunks"][300:] == 7).all() and "gzip" not in theirs


def test_a_new_family_replaces_an_old_one(tmp_path):
    path, options = tmp_path / "part-%03d.h5", {"driver": "family", "memb_size": 3000}
    with h5py.File(path, "w", **options) as f:
        fill(f)
    assert len(lengths(tmp_path)) > 10
    with pytest.raises(FileExistsError):
        hs.File(path, "x", **options)
    with h5py.File(path, "r", **options), pytest.raises(BlockingIOError):
        hs.File(path, "w", **options)
    with hs.File(path, "w", driver="family") as f:
        f["small"] = 1
        with pytest.raises(OSError, match="lock"):
            h5py.File(path, "r", driver="family")
    assert len(lengths(tmp_path)) == 1
    # The default size of members is that of h5py.
    with h5py.File(path, "r", driver="family") as f:
        assert f["small"][()] == 1


@pytest.mark.extras
def test_h5dump_reads_a_family(tmp_path):
    need("h5dump")
    with hs.File(tmp_path / "part%d.h5", "w", driver="family", memb_size=2000, libver="v108") as f:
        f["numbers"] = np.arange(2000)
    shown = subprocess.run(
        ["h5dump", "--filedriver=family", "-d", "/numbers", "-s", "1998", "-c", "2", "part%d.h5"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    ).stdout
    assert "(1998): 1998, 1999" in shown


def assert_flushed_is_left(folder, path, options):
    """A writer is killed. It flushes and says so; whatever it does next, all that it flushed is there."""
    program = f"""
import itertools
import hyperslab as hs, numpy as np
f = hs.File({str(path)!r}, "w", **{options!r})
d = f.create_dataset("d", (0,), "i8", maxshape=(None,), chunks=(50,), compression="gzip")
for n in itertools.count(1):
    d.resize(n * 120, axis=0)
    d[(n - 1) * 120 :] = np.arange((n - 1) * 120, n * 120)
    f.create_group(f"g/{{n}}").attrs["n"] = str(n)
    f.flush()
    print(n, flush=True)
"""
    for turn in range(5):
        for old in folder.iterdir():
            old.unlink()
        writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        said = 0
        while said < 5 + 7 * turn:
            said = int(writer.stdout.readline())
        writer.kill()
        said = max([said, *map(int, writer.communicate()[0].split())])
        for mode in ("r", "r+"):
            with hs.File(path, mode, driver=options["driver"]) as f:
                flushed = len(f["g"])
                assert flushed in (said, said + 1)
                assert np.array_equal(f["d"][...], np.arange(flushed * 120))
        with h5py.File(path, "r", **options) as f:
            assert len(f["g"]) == flushed and np.array_equal(f["d"][...], np.arange(flushed * 120))


@pytest.mark.process
def test_a_process_that_is_killed_leaves_a_family_that_is_read(tmp_path):
    assert_flushed_is_left(tmp_path, tmp_path / "part-%04d.h5", {"driver": "family", "memb_size": 4096})


def test_a_guarded_family_is_refused_by_h5py_and_recovered(tmp_path, capfd):
    """A commit that was interrupted after its guard was written, and before anything else was."""
    path, options = tmp_path / "part-%03d.h5", {"driver": "family", "memb_size": 1000}
    with hs.File(path, "w", libver="earliest", **options) as f:
        f["numbers"] = np.arange(2000)
    first = tmp_path / "part-000.h5"
    image = bytearray(first.read_bytes())
    image[47] |= 0x40
    first.write_bytes(image)
    before = lengths(tmp_path)
    for mode in ("r", "r+"):
        with pytest.raises(OSError, match="truncated file"):
            h5py.File(path, mode, **options)
    assert lengths(tmp_path) == before
    with hs.File(path, "r", driver="family") as f:
        assert f["numbers"][1999] == 1999
    assert first.read_bytes() == image
    assert run_cli(["hyperslab", "recover", str(path)]) == 0
    assert "guarded superblock" in capfd.readouterr().out
    with h5py.File(path, "r", **options) as f:
        assert f["numbers"][1999] == 1999


def test_the_low_level_api_opens_members(tmp_path):
    with h5py.File(tmp_path / "part%d.h5", "w", driver="family", memb_size=1 << 12) as f:
        fill(f)
    with h5py.File(tmp_path / "parts", "w", driver="split") as f:
        fill(f)
    for module, file in ((h5py.h5p, h5py.h5f), (h5p, h5f)):
        plist = module.create(module.FILE_ACCESS)
        plist.set_fapl_family(1 << 12, module.create(module.FILE_ACCESS))
        assert plist.get_fapl_family()[0] == 1 << 12
        assert type(plist.get_fapl_family()[1]).__name__ == "PropFAID"
        opened = file.open(bytes(tmp_path / "part%d.h5"), file.ACC_RDONLY, plist)
        assert opened.get_access_plist().get_fapl_family()[0] == 1 << 12
        opened.close()
        plist.set_fapl_split(b"-m.h5", None, b"-r.h5", None)
        with pytest.raises(ValueError):
            plist.get_fapl_family()
        opened = file.open(bytes(tmp_path / "parts"), file.ACC_RDONLY, plist)
        opened.close()


def test_links_lead_from_members_to_files_and_to_members(tmp_path):
    for name, options in [("a%d.h5", {"driver": "family", "memb_size": 1 << 12}), ("plain.h5", {})]:
        with h5py.File(tmp_path / name, "w", **options) as f:
            f["x"] = np.arange(5000)
    with h5py.File(tmp_path / "from%d.h5", "w", driver="family", memb_size=1 << 12) as f:
        f["family"] = h5py.ExternalLink("a%d.h5", "x")
        f["plain"] = h5py.ExternalLink("plain.h5", "x")
    with hs.File(tmp_path / "from%d.h5", driver="family") as f:
        assert np.array_equal(f["family"][:], np.arange(5000))
        assert np.array_equal(f["plain"][:], np.arange(5000))


@pytest.mark.parametrize("driver", ["family", "split"])
def test_commands_find_members(tmp_path, driver, capfd):
    def run(*arguments):
        assert run_cli(["hyperslab", *map(str, arguments)]) == 0
        return capfd.readouterr().out

    path = path_of(tmp_path, driver)
    options = {"memb_size": 4096} if driver == "family" else {}
    with h5py.File(path, "w", driver=driver, **options) as f:
        fill(f)
    assert run("ls", path).count("\n") > 8
    assert "in parts" in run("dump", path)
    assert "999]" in run("dump", f"{path}:/whole")
    assert "error" not in run("check", "--data", path)
    run("repack", path, tmp_path / "one.h5")
    with h5py.File(tmp_path / "one.h5") as ours, h5py.File(path, "r", driver=driver, **options) as theirs:
        assert_same(ours, theirs)
