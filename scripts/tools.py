"""Says which programs a target of the Makefile needs and does not find: `python3 scripts/tools.py test`.

Exits with 1 if the target cannot run. Programs that only some tests need are named, and those tests are
skipped.
`python3 scripts/tools.py --install all` installs everything on Debian and Ubuntu, as `.ci/run` does.
"""

import argparse
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

RUST = (1, 89)
PYTHON = (3, 11)

ALWAYS = ("demo", "quick", "test", "lint", "test-vol", "test-view", "test-java", "test-mpi", "wheel", "docs")
TOOLS = [
    # how it is found, its Debian package, the targets that cannot run without it, what else needs it
    ("cc", "gcc", ALWAYS, ""),
    ("g++", "g++", (), "the guide for C and C++"),
    ("pkg-config", "pkg-config", (), "tests of the C interface"),
    ("strip", "binutils", ("test", "test-vol"), ""),
    ("git", "git", ("test", "lint"), ""),
    ("h5clear", "hdf5-tools", (), "tests against libhdf5's own programs"),
    ("groff", "groff-base", (), "tests of the man pages"),
    ("valgrind", "valgrind", (), "tests of the C interface"),
    ("npm", "npm", ("test-view",), "the page of `hyperslab view`, and its tests"),
    ("chromium", "chromium", ("test-view",), ""),
    ("javac", "openjdk-17-jdk-headless", ("test-java",), "tests with jHDF"),
    ("mvn", "maven", ("test-java",), "tests with jHDF"),
    ("mpirun", "openmpi-bin", ("test-mpi",), ""),
    ("/usr/lib/*/openmpi/include/mpi.h", "libopenmpi-dev", ("test-mpi",), ""),
    ("/usr/lib/llvm-*/lib/libclang.so", "libclang-dev", ("test-mpi",), ""),
]
"""Programs, and files where there is no program to look for."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a target of the Makefile, or `all`")
    parser.add_argument("--install", action="store_true", help="install what is missing, with apt-get")
    arguments = parser.parse_args()
    if arguments.install:
        return install(missing(arguments.target, optional=False))
    must = [f"  {line}" for line in toolchain()] if arguments.target in (*ALWAYS, "all") else []
    packages = missing(arguments.target, optional=False)
    if packages:
        must.append(f"  {apt(packages)}")
    if must:
        print(f"`make {arguments.target}` needs more than is installed. Run:", *must, sep="\n", file=sys.stderr)
        return 1
    if arguments.target in ("test", "all"):
        for package in missing("test", optional=True):
            uses = sorted({use for _, name, _, use in TOOLS if name == package})
            print(f"skipped without {package}: {', '.join(uses)} ({apt([package])})", file=sys.stderr)
    return 0


def toolchain() -> "list[str]":
    """The commands that bring missing parts of the two languages."""
    lines = []
    if sys.version_info < PYTHON:
        lines.append(
            f"apt-get install python3 python3-venv  # Python {PYTHON[0]}.{PYTHON[1]} or later; set PYTHON= if it is not python3"
        )
    elif not os.path.isdir(".venv") and importlib.util.find_spec("ensurepip") is None:
        lines.append("apt-get install python3-venv")  # Debian leaves it out of python3
    found = [(name, version(name)) for name in ("rustc", "cargo")]
    for name, have in found:
        if have is None or have < RUST:
            what = "is not installed" if have is None else f"is version {have[0]}.{have[1]}"
            wanted = f"{RUST[0]}.{RUST[1]}"
            lines.append(f"rustup toolchain install stable  # {name} {what}, and {wanted} or later is needed")
            break
    return lines


def version(program: str) -> "tuple[int, int] | None":
    """The first two numbers of a program's version, or None if it is not there."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    numbers = re.search(r"(\d+)\.(\d+)", said)
    return numbers and (int(numbers[1]), int(numbers[2]))


def missing(target: str, optional: bool) -> "list[str]":
    """The Debian packages of missing programs: those that the target needs, or also those of some tests."""
    packages = []
    for name, package, targets, use in TOOLS:
        wanted = target == "all" or target in targets or (optional and target == "test" and use)
        if wanted and not (glob.glob(name) if name.startswith("/") else shutil.which(name)) and package not in packages:
            packages.append(package)
    return packages


def apt(packages: "list[str]") -> str:
    return f"apt-get install {' '.join(packages)}"


def install(packages: "list[str]") -> int:
    if not packages:
        return 0
    subprocess.run(["apt-get", "update", "-q"], check=True)
    return subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]).returncode


if __name__ == "__main__":
    sys.exit(main())
