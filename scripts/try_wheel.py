"""Uses an installed wheel as its first user would: `python -I scripts/try_wheel.py`, in its environment.

The environment has NumPy beside the wheel, and nothing else. The tour of README.md runs in an empty folder.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"^(<!-- not run: [^\n]*\n)?```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
AFTER_THE_TOUR = "\n## Where to go on"
LICENCES = {"LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"}


def check_what_is_installed() -> None:
    names = {found.name for found in importlib.metadata.distributions()}
    assert names - {"pip", "setuptools"} == {"hyperslab", "numpy"}, names
    files = importlib.metadata.files("hyperslab")
    inside = {path.name for path in files if path.parent.name == "licenses"}
    assert inside >= LICENCES, inside
    assert any(path.name == "_native.pyi" for path in files)
    import hyperslab

    assert Path(hyperslab.__file__).is_relative_to(sysconfig.get_path("purelib")), hyperslab.__file__


def on_path() -> dict[str, str]:
    """Returns the environment in which the commands of this one are found by name."""
    return os.environ | {"PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])}


def run_the_tour() -> int:
    """Runs the blocks in Python and those of the shell, and returns their number."""
    tour, found, _ = README.read_text("utf-8").partition(AFTER_THE_TOUR)
    assert found, f"{README} has no heading {AFTER_THE_TOUR!r}"
    names = {"__name__": "__main__"}
    # On Windows the system has a program of this name that is no shell of its files.
    bash = shutil.which("bash")
    count = 0
    for block in BLOCK.finditer(tour):
        if block[1]:
            continue
        count += 1
        if block[2] == "python":
            exec(compile(block[3], str(README), "exec"), names)
        else:
            subprocess.run([bash, "-euxc", block[3]], env=on_path(), check=True)
    return count


def try_the_rest() -> None:
    """Calls each part of the package that needs only NumPy, and finds that the others say what they need."""
    import hyperslab as hs
    import numpy as np

    rows = np.array([(1, 2.5), (2, 3.5)], [("id", "i8"), ("temp", "f4")])
    with hs.File("smoke.h5", "w") as file:
        file["words"] = ["a", "Ünï"]
        table = file.create_table("t", rows.dtype)
        table.append(rows)
        table.create_index("temp")
        assert table.read_where("temp > 3")["id"].tolist() == [2]
        for index, filter in enumerate(["gzip", "lzf", "szip", hs.Blosc2("lz4"), hs.Zstd(3), hs.Bitshuffle()]):
            made = file.create_dataset(f"filters/{index}", data=np.arange(1000), chunks=(100,), compression=filter)
            assert (made[::3] == np.arange(1000)[::3]).all()
    with hs.File("smoke.h5") as file:
        assert file["words"].asstr()[:].tolist() == ["a", "Ünï"]
    wrong = [found for found in hs.check("smoke.h5", data=True) if found.severity != "warning"]
    assert not wrong, wrong
    for name in ("pandas", "dask", "xarray"):
        try:
            __import__(f"hyperslab.{name}")
        except ImportError as error:
            assert name in str(error), error
    if sys.platform == "linux":
        found = subprocess.run(
            ["hyperslab", "vol", "--path"], env=on_path(), capture_output=True, text=True, check=True
        )
        assert list(Path(found.stdout.strip()).glob("libhyperslab_vol.so")), found
    whole = subprocess.run([sys.executable, "-m", "hyperslab", "--version"], capture_output=True, text=True, check=True)
    assert whole.stdout.split() == ["hyperslab", hs.__version__], whole


def main() -> int:
    check_what_is_installed()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        count = run_the_tour()
        try_the_rest()
        os.chdir("/")
    print(f"the wheel serves its first user: {count} blocks of README.md ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
