"""Split files that are written: hyperslab and h5py change each other's files, and find all in its member."""

import os
import shutil
import subprocess
import sys

import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab._native import run_cli
from needs import need
from support import IS_H5PY
from test_members import assert_flushed_is_left, assert_same, fill

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py is the oracle")

VERSIONS = ["earliest", "v108", "v110", "latest"]


def lengths(path):
    return [os.path.getsize(f"{path}-{member}.h5") for member in "mr"]


def stated(path):
    """Returns the End of File Address and the ends of both members, as the file states them."""
    content = open(f"{path}-m.h5", "rb").read()
    at = content.index(b"\x89HDF\r\n\x1a\n")
    field = at + (40 if content[at + 8] < 2 else 28)

    def number(at):
        return int.from_bytes(content[at : at + 8], "little")

    body = content.index(b"NCSAmult") + 8 + (0 if content[at + 8] < 2 else 2)
    assert content[body : body + 8] == bytes([1, 1, 3, 3, 1, 1, 0, 0])
    assert (number(body + 8), number(body + 24)) == (0, 2**63 - 1)
    assert content[body + 40 : body + 56] == b"%s-m.h5\0%s-r.h5\0"
    return number(field), number(body + 16), number(body + 32)


def assert_stated(path):
    """The stated ends are those of the members, as in files of libhdf5."""
    metadata, elements = lengths(path)
    assert stated(path) == (metadata, metadata, elements)


@pytest.mark.parametrize("libver", VERSIONS)
@pytest.mark.parametrize("userblock", [0, 2048])
def test_a_split_file_is_written_as_by_h5py(tmp_path, libver, userblock):
    path = tmp_path / "run"
    with hs.File(path, "x", driver="split", libver=libver, userblock_size=userblock) as f:
        fill(f)
        assert (f.driver, f.filename, f.userblock_size) == ("split", str(path), userblock)
    assert_stated(path)
    with h5py.File(path, "r", driver="split") as theirs, hs.File(path, "r", driver="split") as ours:
        assert_same(ours, theirs)
        assert theirs.userblock_size == userblock
        assert theirs["whole"].id.get_offset() >= 2**63 - 1
        assert ours["whole"].id.get_offset() == theirs["whole"].id.get_offset()
        assert theirs["gzip"].id.get_chunk_info(0).byte_offset >= 2**63 - 1
    # The same objects written by h5py need as many bytes in the member for raw data.
    other = tmp_path / "other"
    with h5py.File(other, "w", driver="split", libver=libver, userblock_size=userblock) as f:
        fill(f)
    assert_stated(other)
    # h5py changes it, and then we do, and so on; each reads what the other one wrote.
    for turn in range(3):
        for lib, name in ((h5py, "theirs"), (hs, "ours")):
            with lib.File(path, "r+", driver="split") as f:
                for old in [f"theirs{turn - 1}", f"ours{turn - 1}"]:
                    if old in f and turn == 2:
                        del f[old]
                f.create_dataset(f"{name}{turn}", data=np.arange(3000 * (turn + 1)), chunks=(700,), shuffle=True)
                f.create_dataset(f"{name}{turn} words", data=[f"word {n}" for n in range(100)])
                f.attrs[f"{name}{turn}"] = turn
            assert_stated(path)
            with h5py.File(path, "r", driver="split") as theirs, hs.File(path, "r", driver="split") as ours:
                assert_same(ours, theirs)
            assert run_cli(["hyperslab", "check", "--data", str(path)]) == 0


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_every_kind_of_data_is_in_the_member_that_libhdf5_takes(tmp_path, libver):
    def grown(f, path, change):
        f.flush()
        before = lengths(path)
        change(f)
        f.flush()
        return [after > before for before, after in zip(before, lengths(path), strict=True)]

    changes = {
        "contiguous": lambda f: f.create_dataset("contiguous", data=np.arange(1000)),
        "chunks": lambda f: f.create_dataset("chunks", data=np.arange(4000), chunks=(1000,)),
        "strings": lambda f: f.create_dataset("strings", data=["text" * 100] * 300),
        "strings of attributes": lambda f: f.attrs.__setitem__("texts", np.array(["text" * 999] * 2, dtype=object)),
        "groups": lambda f: [f.create_group(f"group {n}") for n in range(100)],
        "attributes": lambda f: [f["group 1"].attrs.__setitem__(f"a{n}", np.zeros(200)) for n in range(30)],
    }
    if libver == "latest":
        changes["huge attribute"] = lambda f: f["group 1"].attrs.__setitem__("huge", np.zeros(20_000))
    members = {}
    for lib in (h5py, hs):
        path = tmp_path / lib.__name__
        with lib.File(path, "w", driver="split", libver=libver) as f:
            for name, change in changes.items():
                raw = grown(f, path, change)[1]
                members.setdefault(name, []).append(raw)
    for name, (theirs, ours) in members.items():
        assert ours == theirs, name
    assert [name for name, (raw, _) in members.items() if not raw] == ["groups", "attributes"]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_split_file_of_h5py_is_changed(tmp_path, libver):
    path = tmp_path / "run"
    with h5py.File(path, "w", driver="split", libver=libver) as f:
        fill(f)
    with hs.File(path, "a", driver="split") as f:
        f["whole"][5] = -1
        f["chunks"].resize(400, axis=0)
        f["chunks"][300:] = 7
        del f["gzip"]
        f["strings"][7] = "another name, and a longer one"
        with pytest.raises(OSError, match="SWMR"):
            f.swmr_mode = True
    assert_stated(path)
    with h5py.File(path, "r", driver="split") as theirs, hs.File(path, "r", driver="split") as ours:
        assert_same(ours, theirs)
        assert (theirs["whole"][5] == -1).all() and (theirs["chunks"][300:] == 7).all() and "gzip" not in theirs
        assert theirs["strings"][7] == b"another name, and a longer one"
    # h5py goes on, and its own free space comes from the ends that we state.
    with h5py.File(path, "r+", driver="split") as theirs:
        theirs["more"] = np.arange(5000)
    with hs.File(path, "r", driver="split") as ours:
        assert np.array_equal(ours["more"][:], np.arange(5000)) and (ours["whole"][5] == -1).all()


def test_the_names_of_members_are_those_of_h5py(tmp_path):
    for meta, raw, names in [
        (b"-m.h5", b"-r.h5", ["run-m.h5", "run-r.h5"]),
        (b".meta", b"%s.raw", ["run.meta", "run.raw"]),
        ("_m", "_r", ["run_m", "run_r"]),
    ]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        options = {"driver": "split", "meta_ext": meta, "raw_ext": raw}
        with hs.File(folder / "run", "w", **options) as f:
            f["x"] = np.arange(100)
        assert sorted(os.listdir(folder)) == names
        if isinstance(meta, bytes):
            with h5py.File(folder / "run", "r", **options) as f:
                assert f["x"][99] == 99
        # The file states the names, for the driver multi.
        stated = (folder / names[0]).read_bytes()
        assert b"%s" + names[0][3:].encode() in stated and b"%s" + names[1][3:].encode() in stated


@pytest.mark.parametrize("there", ["", "m", "r", "mr"])
@pytest.mark.parametrize("mode", ["r+", "a", "x", "w"])
def test_modes_keep_and_replace_what_h5py_does(tmp_path, there, mode):
    with h5py.File(tmp_path / "run", "w", driver="split") as f:
        f["x"] = np.arange(100)
    outcomes = []
    for lib in (h5py, hs):
        path = tmp_path / lib.__name__
        for member in there:
            shutil.copy(tmp_path / f"run-{member}.h5", f"{path}-{member}.h5")
        before = {member: os.path.getsize(f"{path}-{member}.h5") for member in there}
        try:
            with lib.File(path, mode, driver="split") as f:
                outcomes.append(list(f))
        except OSError:
            outcomes.append("refused")
            for member in there:
                assert os.path.getsize(f"{path}-{member}.h5") == before[member]
            if lib is hs:
                assert [member for member in "mr" if os.path.exists(f"{path}-{member}.h5")] == list(there)
    assert outcomes[0] == outcomes[1]


def test_options_that_libhdf5_refuses_are_refused(tmp_path):
    for lib in (h5py, hs):
        for options in ({"fs_strategy": "page"}, {"fs_strategy": "fsm", "fs_persist": True}):
            with pytest.raises(OSError):
                lib.File(tmp_path / lib.__name__, "w", driver="split", **options)
    assert not list(tmp_path.glob("hyperslab*"))
    with hs.File(tmp_path / "run", "w", driver="split", fs_strategy="none") as f:
        f["x"] = np.arange(100)
        with pytest.raises(OSError, match="several files"):
            f.to_bytes()
    with h5py.File(tmp_path / "run", "r", driver="split") as f:
        assert f["x"][99] == 99
    with pytest.raises(OSError, match="several files"):
        hs.File(tmp_path / "run", driver="split").to_bytes()


@pytest.mark.extras
@pytest.mark.parametrize("libver", ["earliest", "v108"])
def test_h5dump_reads_a_split_file(tmp_path, libver):
    need("h5dump")
    with hs.File(tmp_path / "run", "w", driver="split", libver=libver) as f:
        f["numbers"] = np.arange(2000)
        f.create_dataset("chunks", data=np.arange(2000), chunks=(100,))
    for name in ("numbers", "chunks"):
        shown = subprocess.run(
            ["h5dump", "--filedriver=split", "-d", f"/{name}", "-s", "1998", "-c", "2", "run"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=True,
        ).stdout
        assert "(1998): 1998, 1999" in shown


def test_a_file_is_locked_for_other_programs(tmp_path):
    path = tmp_path / "run"
    with hs.File(path, "w", driver="split") as f:
        f["x"] = 1
        with pytest.raises(OSError, match="lock"):
            h5py.File(path, "r", driver="split")
        assert hs.File(path, "r", driver="split")["x"][()] == 1
    with h5py.File(path, "r", driver="split"), pytest.raises(BlockingIOError):
        hs.File(path, "r+", driver="split")


@pytest.mark.process
def test_a_process_that_is_killed_leaves_a_split_file_that_is_read(tmp_path):
    assert_flushed_is_left(tmp_path, tmp_path / "run", {"driver": "split"})


def test_a_guarded_split_file_is_refused_by_h5py_and_recovered(tmp_path, capfd):
    """A commit that was interrupted after its guard was written, and before anything else was.

    The guard of other files is one bit. With elements in the other member, libhdf5 ignores that bit alone.
    """
    path = tmp_path / "run"
    with hs.File(path, "w", driver="split", libver="earliest") as f:
        f["numbers"] = np.arange(2000)
    first = tmp_path / "run-m.h5"
    plain = first.read_bytes()
    for bits, is_refused in ((0x40, False), (0xC0, True)):
        image = bytearray(plain)
        image[47] |= bits
        first.write_bytes(image)
        if is_refused:
            for mode in ("r", "r+"):
                with pytest.raises(OSError):
                    h5py.File(path, mode, driver="split")
        else:
            assert h5py.File(path, "r", driver="split")["numbers"][1999] == 1999
    assert first.read_bytes() == image
    with hs.File(path, "r", driver="split") as f:
        assert f["numbers"][1999] == 1999
    assert first.read_bytes() == image
    assert run_cli(["hyperslab", "recover", str(path)]) == 0
    assert "guarded superblock" in capfd.readouterr().out
    assert first.read_bytes() == plain
    with h5py.File(path, "r", driver="split") as f:
        assert f["numbers"][1999] == 1999


@pytest.mark.extras
def test_a_guarded_split_file_is_refused_by_h5dump(tmp_path):
    need("h5dump")
    with hs.File(tmp_path / "run", "w", driver="split", libver="earliest") as f:
        f["numbers"] = np.arange(2000)
    first = tmp_path / "run-m.h5"
    plain = first.read_bytes()
    dumps = []
    for bits in (0xC0, 0):
        image = bytearray(plain)
        image[47] |= bits
        first.write_bytes(image)
        dumps.append(subprocess.run(["h5dump", "--filedriver=split", "run"], capture_output=True, cwd=tmp_path))
    assert dumps[0].returncode != 0 and dumps[1].returncode == 0


def test_the_low_level_api_creates_split_files(tmp_path):
    from hyperslab.low import h5f, h5p

    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fapl_split(b"-m.h5", None, b"-r.h5", None)
    h5f.create(bytes(tmp_path / "run"), h5f.ACC_TRUNC, None, plist).close()
    with h5py.File(tmp_path / "run", "r", driver="split") as f:
        assert list(f) == []


def test_commands_change_and_read_split_files(tmp_path, capfd):
    path = tmp_path / "run"
    with hs.File(path, "w", driver="split") as f:
        fill(f)
    sizes = sum(lengths(path))

    def run(*arguments):
        assert run_cli(["hyperslab", *map(str, arguments)]) == 0
        return capfd.readouterr().out

    assert "bytes" in run("stat", "--json", path) and str(sizes) in run("stat", "--json", path)
    assert "error" not in run("check", "--data", path)
    run("repack", path, tmp_path / "one.h5")
    with h5py.File(tmp_path / "one.h5") as ours, h5py.File(path, "r", driver="split") as theirs:
        assert_same(ours, theirs)


def test_a_transaction_that_fails_changes_neither_member(tmp_path):
    path = tmp_path / "run"
    with hs.File(path, "w", driver="split") as f:
        f["x"] = np.arange(1000)
        f.flush()
        before = [open(f"{path}-{member}.h5", "rb").read() for member in "mr"]
        with pytest.raises(RuntimeError), f.transaction():
            f.create_dataset("y", data=np.arange(5000), chunks=(100,))
            f["words"] = ["a", "b"]
            raise RuntimeError
        assert list(f) == ["x"]
    with hs.File(path, "r+", driver="split") as f:
        f.attrs["n"] = 1
    assert [open(f"{path}-{member}.h5", "rb").read()[:96] for member in "m"] != before[:1]
    assert open(f"{path}-r.h5", "rb").read() == before[1]


CHANGES_FOLDER = """
import os, sys
import hyperslab as hs
os.chdir(sys.argv[1])
with hs.File("sub/run", "w", driver="split", durability="power") as file:
    os.chdir("/")
    file["d"] = [1, 2]
    file.flush()
"""


def test_a_program_may_change_its_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    subprocess.run([sys.executable, "-c", CHANGES_FOLDER, tmp_path], check=True)
    with h5py.File(tmp_path / "sub" / "run", "r", driver="split") as file:
        assert list(file["d"]) == [1, 2]
