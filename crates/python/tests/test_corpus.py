"""Reads files of other projects, and compares the canonical texts of `hyperslab dump --canon` and of h5py.

The files come from the packages that the tests install, and from `target/corpus` (`make corpus`).
`corpus/differs.toml` lists by reason the files whose texts differ. This test fails if an unlisted text
differs, or if a listed text is equal.
"""

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from listed import account
from needs import skip_without
from support import IS_H5PY, REPOSITORY

HERE = Path(__file__).parent / "corpus"
CORPUS = REPOSITORY / "target" / "corpus"
INSTALLED = Path(sysconfig.get_path("purelib"))
DIFFERS = tomllib.loads((HERE / "differs.toml").read_text())
SUFFIXES = {".h5", ".hdf5", ".hdf", ".nc", ".nc4", ".mat", ".h5ad"}
SIGNATURE = b"\x89HDF\r\n\x1a\n"
LONGEST = 60
"""The seconds that one program may take for all files that are left."""


def corpus():
    """Returns {name: path} of all files. The names are the same on every machine."""
    collected = [path for path in CORPUS.rglob("*") if path.is_file() and "archives" not in path.parts]
    files = {str(path.relative_to(CORPUS)): path for path in collected}
    for path in INSTALLED.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file():
            with path.open("rb") as file:
                if file.read(8) == SIGNATURE:
                    files[f"installed/{path.relative_to(INSTALLED)}"] = path
    return dict(sorted(files.items()))


def texts(program, paths, folder):
    """Returns the text of each file as lines, or `None` if the program ended or took too long."""
    folder.mkdir()
    listed = folder / "list"
    listed.write_text("\n".join(map(str, paths)))
    while True:
        command = [sys.executable, HERE / "dump.py", program, listed, folder]
        try:
            if subprocess.run(command, capture_output=True, timeout=LONGEST).returncode == 0:
                break
        except subprocess.TimeoutExpired:
            continue
    found = [(folder / f"{number}.txt").read_bytes().splitlines() for number in range(len(paths))]
    return [lines[:-1] if lines[-1:] == [b"complete"] else None for lines in found]


def first_difference(ours, theirs):
    """Returns the first lines that differ, or `None`. What h5py cannot read, hyperslab may."""
    at = 0
    for line in theirs:
        head = line.removesuffix(b"unreadable")
        if head != line and ours[at : at + 1] != [line]:
            is_object = line.startswith(b"object")
            while at < len(ours) and ours[at].startswith(head if not is_object else (head, b" ")):
                at += 1
            continue
        if ours[at : at + 1] != [line]:
            return b"".join(ours[at : at + 1])[:200], line[:200]
        at += 1
    return (ours[at][:200], b"the end") if at < len(ours) else None


@pytest.mark.extras
@pytest.mark.suite
@pytest.mark.skipif(IS_H5PY, reason="h5py is the oracle")
def test_every_file_of_the_corpus_has_the_canonical_text_of_h5py(tmp_path):
    files = corpus()
    skip_without(CORPUS.exists(), "the corpus is not there: `make corpus` fetches it")
    ours, theirs = (texts(program, files.values(), tmp_path / program) for program in ("ours", "theirs"))
    cannot = {reason: [name for name in names if name in files] for reason, names in DIFFERS.items()}
    differences = {}
    for name, our_text, their_text in zip(files, ours, theirs, strict=True):
        assert our_text is not None, f"{name}: hyperslab ended, or took longer than {LONGEST} s"
        if their_text is not None:
            difference = first_difference(our_text, their_text)
            if difference:
                differences[name] = f"{difference[0]} is {difference[1]} in h5py"
    read = sum(text is not None for text in theirs)
    counts = f"corpus: {len(files)} files, {read} of them read by h5py, {read - len(differences)} equal"
    account(counts, differences, cannot, where="differs.toml")
