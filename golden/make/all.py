"""Runs every golden script; with `--commit` it also renews `golden/files` and `golden/MANIFEST.toml`.

python golden/make/all.py OUT_DIR [--commit]
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
TOPICS = (
    "superblocks",
    "groups",
    "attributes",
    "datatypes",
    "layouts",
    "filters",
    "pytables_files",
    "netcdf",
    "damaged",
)
LARGEST = 64 << 10  # bytes of a committed file
BUDGET = 2_000_000  # bytes of all committed files


def run(topic, out):
    """Runs a script in its own process, because h5py, PyTables and netCDF4 each have their own libhdf5."""
    subprocess.run([sys.executable, HERE / f"{topic}.py", out], check=True)


def toml(value):
    """Returns a value as TOML, for the few kinds of value in a manifest."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def manifest(files):
    """Returns the text of MANIFEST.toml: the tools, then every file with its datasets."""
    import h5py

    lines = [
        "# Made by golden/make/all.py --commit. README.md says what the entries mean.",
        "",
        "[tools]",
        f"python = {toml(platform.python_version())}",
        f"hdf5 = {toml(h5py.version.hdf5_version)}",
    ]
    lines += [
        f"{name} = {toml(version(name))}" for name in ("h5py", "hdf5plugin", "blosc2", "tables", "netCDF4", "numpy")
    ]
    for entry in files:
        lines += ["", "[[file]]"]
        lines += [f"{key} = {toml(value)}" for key, value in entry.items() if key != "dataset"]
        if entry["dataset"]:
            rows = (
                "{ " + ", ".join(f"{key} = {toml(value)}" for key, value in d.items()) + " }" for d in entry["dataset"]
            )
            lines += ["dataset = ["] + [f"  {row}," for row in rows] + ["]"]
    return "\n".join(lines) + "\n"


def choose(files, out):
    """Marks the files to commit: small files, smallest first, until the budget is used up."""
    left = BUDGET
    for entry in sorted(files, key=lambda e: e["bytes"]):
        entry["committed"] = entry["bytes"] <= LARGEST and entry["bytes"] <= left and not entry.get("damaged")
        if entry["committed"]:
            left -= entry["bytes"]
        else:
            entry.pop("sha256")


def commit(files, out):
    target = HERE.parent / "files"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    choose(files, out)
    for entry in files:
        if entry["committed"]:
            shutil.copy(out / entry["name"], target / entry["name"])
    for raw in out.glob("*.raw"):
        shutil.copy(raw, target / raw.name)
    (HERE.parent / "MANIFEST.toml").write_text(manifest(files))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--commit", action="store_true")
    arguments = parser.parse_args()
    files = []
    for topic in TOPICS:
        run(topic, arguments.out)
        files += json.loads((arguments.out / f"{topic}.json").read_text())
    if arguments.commit:
        commit(files, arguments.out)


if __name__ == "__main__":
    main()
