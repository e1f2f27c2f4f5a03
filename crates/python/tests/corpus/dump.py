"""Writes the canonical text of each file that a list names: `python dump.py ours|theirs LIST FOLDER`.

The text of the file in line k goes to `FOLDER/k.txt`; its last line is `complete`. Texts that exist already
are kept, so the program can be started again after a file that ended it.
"""

import os
import sys
from pathlib import Path

MOST = 1_000_000
"""Elements of larger datasets are not read: some files have datasets of terabytes that were never written."""


def ours(path: Path, text: Path) -> None:
    from hyperslab._native import run_cli

    descriptor = os.open(text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.close(descriptor)
    run_cli(["hyperslab", "dump", str(path), "--canon", "--limit", str(MOST)])


def theirs(path: Path, text: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[4] / "scripts"))
    import canon

    with text.open("wb") as out:
        for line in canon.lines(path, MOST):
            out.write(line.encode("utf-8", "surrogateescape") + b"\n")


def main() -> None:
    """Takes up the list where an earlier run ended."""
    write, folder = {"ours": ours, "theirs": theirs}[sys.argv[1]], Path(sys.argv[3])
    sys.setrecursionlimit(10_000)
    for number, path in enumerate(Path(sys.argv[2]).read_text().splitlines()):
        text = folder / f"{number}.txt"
        if not text.exists():
            text.touch()
            try:
                write(Path(path), text)
            except Exception as error:
                print(f"{path}: {error}", file=sys.stderr)
                continue
            with text.open("ab") as out:
                out.write(b"complete\n")


if __name__ == "__main__":
    main()
