"""Cases of files: opened, closed, changed meanwhile, and several at once (`shown.py`)."""

import os
import subprocess
import sys

import h5py
import numpy as np
from shown import OTHERS, VALUES, attempt, main, make, reread, show


def read_then_written(folder):
    """A file that is read, closed, changed and read again."""
    make(folder / "f.h5")
    for turn in range(3):
        with h5py.File(folder / "f.h5") as file:
            show(f"turn {turn}", file["d"])
        with h5py.File(folder / "f.h5", "r+") as file:
            file["d"][30 * turn : 30 * turn + 30] = -turn
    make(folder / "f.h5", dtype="<f8", chunks=(17, 23))
    reread(folder, "another file")


def renamed(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        (folder / "f.h5").rename(folder / "g.h5")
        with h5py.File(folder / "f.h5", "w") as other:
            other.create_dataset("d", data=OTHERS)
        show("renamed", file["d"])
    with h5py.File(folder / "g.h5") as file:
        (folder / "g.h5").unlink()
        show("removed", file["d"])


def make_linked(path, target):
    """Writes two files with the same addresses, and a link from one to the dataset of the other."""
    make(target, OTHERS)
    make(path)
    with h5py.File(path, "r+") as file:
        file["other"] = h5py.ExternalLink(target.name, "/d")
        file["group there"] = h5py.ExternalLink(target.name, "/")


def links_to_other_files(folder):
    """A dataset behind an external link, in a file with the same addresses."""
    make_linked(folder / "f.h5", folder / "g.h5")
    with h5py.File(folder / "f.h5") as file:
        show("here", file["d"])
        show("there", file["other"])
        show("here", file["d"])


def asked_for_the_file(folder):
    """A group behind an external link, which is asked for its file. Calls for the first file go on."""
    with h5py.File(folder / "g.h5", "w") as file:
        file.create_group("g")
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        file["other"] = h5py.ExternalLink("g.h5", "/g")
    make(folder / "held.h5")
    with h5py.File(folder / "held.h5", "r+") as held, h5py.File(folder / "f.h5") as file:
        print(file["other"].file.filename == file.filename)
        show("here", file["d"])
        held["d"][5:10] = OTHERS[5:10]
        attempt("exists", lambda: print(h5py.h5o.exists_by_name(file.id, b"d")))
        attempt("copied", lambda: held.copy(file["d"], "copy"))
        attempt("flushed", file.flush)
        attempt("closed", file.close)
    reread(folder, "held", "held.h5")


def two_files(folder):
    """Two files with the same addresses, open at once, and one of them closed."""
    make(folder / "f.h5")
    make(folder / "g.h5", OTHERS)
    first, second = h5py.File(folder / "f.h5"), h5py.File(folder / "g.h5")
    kept = first["d"]
    show("second", second["d"])
    show("first", kept)
    first.close()
    show("second", second["d"])
    third = h5py.File(folder / "f.h5")
    show("again", third["d"])


def written_through_links(folder):
    """A dataset is written through an external link, and in its own file, which is open too."""
    make_linked(folder / "f.h5", folder / "g.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        there = file["other"]
        there[0:30] = VALUES[0:30]
        there[35:40] = VALUES[35:40]
        show("there", there)
        file["d"][35:40] = OTHERS[35:40]
        with h5py.File(folder / "g.h5", "r+") as other:
            other["d"][50:55] = VALUES[50:55]
            show("through the link", there)
        show("here", file["d"])
    reread(folder, "closed")
    reread(folder, "closed, there", "g.h5")


def show_descriptors(what):
    """Prints the files of this folder of which the process has descriptors."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            folder, _, name = os.readlink(f"/proc/self/fd/{number}").rpartition("/")
        except FileNotFoundError:  # the descriptor by which the folder is listed
            continue
        if folder == os.getcwd():
            found.add(name)
    print(what, sorted(found))


def closed_files(folder):
    """No file stays open: not after reads, nor if one is behind a link."""
    make_linked(folder / "f.h5", folder / "g.h5")
    for turn in ("high", "low"):
        with h5py.File(folder / "f.h5") as file:
            show("here", file["d"])
            there = file["other"]
            if turn == "high":
                show("there", there)
            else:
                out = np.zeros((120, 100), "<i4")
                there.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
                show("there", out)
            print(h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE))
            del there
            print(h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE))
            show_descriptors("link closed")
            with h5py.File(folder / "g.h5", "r+") as other:
                other["d"][0:5] = VALUES[0:5]
        show_descriptors("closed")


def closed_first(folder):
    """A file is closed before its dataset is read or written, and its descriptor with the dataset."""
    make(folder / "f.h5")
    everything = h5py.h5s.ALL
    for mode in (h5py.h5f.ACC_RDONLY, h5py.h5f.ACC_RDWR):
        for early in (False, True):
            file = h5py.h5f.open(b"f.h5", mode)
            dataset = h5py.h5d.open(file, b"d")
            out = np.full((120, 100), -1, "<i4")
            if early:
                dataset.read(everything, everything, out)
            file.close()
            show_descriptors("file closed")
            if mode == h5py.h5f.ACC_RDWR:
                dataset.write(everything, everything, OTHERS)
            dataset.read(everything, everything, out)
            show("read", out)
            dataset.close()
            show_descriptors("dataset closed")
    reread(folder, "closed")


def closed_then_forked(folder):
    """A child of the process reads a dataset whose file the parent has closed."""
    make(folder / "f.h5")
    everything, out = h5py.h5s.ALL, np.full((120, 100), -1, "<i4")
    file = h5py.h5f.open(b"f.h5", h5py.h5f.ACC_RDONLY)
    dataset = h5py.h5d.open(file, b"d")
    file.close()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    dataset.read(everything, everything, out)
    show("parent" if child else "child", out)


def closed_before_the_link(folder):
    """A file is closed while an object behind a link of it stays open, and opened for writing."""
    make_linked(folder / "f.h5", folder / "g.h5")
    for name in ("other", "group there"):
        with h5py.File(folder / "f.h5") as file:
            there = file[name]
            show("here", file["d"])
        show_descriptors("closed")
        with h5py.File(folder / "f.h5", "r+") as file:
            file["d"][0:5] = VALUES[5:10]
        show("there", there if name == "other" else there["d"])
        del there
        show_descriptors("all closed")
    strong = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    strong.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    file = h5py.h5f.open(b"f.h5", h5py.h5f.ACC_RDONLY, strong)
    here, there = h5py.h5d.open(file, b"d"), h5py.h5d.open(file, b"other")
    show("here", h5py.Dataset(here))
    file.close()
    print(here.valid, there.valid)
    show_descriptors("closed with its objects")
    there.close()


def refreshed_through_a_link(folder):
    """Another program changes a file, whose dataset is refreshed through a link of another file."""
    make(folder / "g.h5", opening={"libver": "latest"}, maxshape=(None, 100))
    with h5py.File(folder / "f.h5", "w") as file:
        file["other"] = h5py.ExternalLink("g.h5", "/d")
    env = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    with h5py.File(folder / "g.h5", locking=False) as target, h5py.File(folder / "f.h5", locking=False) as file:
        direct, there = target["d"], file["other"]
        show("direct", direct)
        subprocess.run([sys.executable, "-c", REWRITER, folder / "g.h5"], env=env, check=True)
        there.refresh()
        for dataset in (there, direct, h5py.Dataset(h5py.h5d.open(target.id, b"d"))):
            out = np.full(dataset.id.get_space().shape, -1, "<i4")
            try:
                dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
            except OSError:
                print("beyond the end that the file had when it was opened")
            show("what was read", out)


def failing_opens(folder):
    """Files that are not there, or are no files of HDF5, in all modes."""
    (folder / "text").write_text("no file of HDF5" * 100)
    (folder / "empty").touch()
    make(folder / "there.h5")
    modes = {"absent.h5": ("r", "r+"), "there.h5": ("x", "w-")}
    for name in ("absent.h5", "text", "empty", "there.h5", "no/folder.h5"):
        for mode in modes.get(name, ("r", "r+", "a", "x", "w-")):
            attempt(f"{name} {mode}", lambda name=name, mode=mode: h5py.File(name, mode))
    print(h5py.is_hdf5("text"), h5py.is_hdf5("absent.h5"), h5py.is_hdf5("there.h5"), sorted(os.listdir()))


def new_files(folder):
    """Files that are made by the modes that open a file if there is one."""
    for mode in ("a", "x", "w-", "w", "a"):
        attempt(mode, lambda mode=mode: h5py.File(f"{mode}.h5", mode).close())
    attempt("again", lambda: h5py.File("a.h5", "x"))
    print(sorted(os.listdir()))


def read_only(folder):
    """A file that is open for reading refuses writes of parts and of all, and stays as it was."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        dataset = file["d"]
        attempt("part", lambda: dataset.__setitem__(slice(0, 1), VALUES[3:4]))
        attempt("chunk", lambda: dataset.__setitem__(slice(0, 30), VALUES[30:60]))
        attempt("whole", lambda: dataset.__setitem__(..., OTHERS))
        show("open", dataset)
        attempt("close", file.close)
    reread(folder, "closed")


REWRITER = """
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1], "r+", locking=False) as file:
    file["d"].resize((200, 100))
    file["d"][120:] = np.full((80, 100), 4, "<i4")
"""


def refreshed(folder):
    """Another program changes a file, one handle is refreshed, and another one is read."""
    make(folder / "f.h5", opening={"libver": "latest"}, maxshape=(None, 100))
    env = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    with h5py.File(folder / "f.h5", locking=False) as file:
        one, other = file["d"], h5py.Dataset(h5py.h5d.open(file.id, b"d"))
        show("one", one)
        show("other", other)
        subprocess.run([sys.executable, "-c", REWRITER, folder / "f.h5"], env=env, check=True)
        one.refresh()
        show("refreshed", one)
        out = np.full(other.shape, -1, "<i4")
        other.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
        show("other", out)
        show("new handle", h5py.Dataset(h5py.h5d.open(file.id, b"d")))


if __name__ == "__main__":
    main(globals())
