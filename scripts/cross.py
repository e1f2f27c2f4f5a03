"""Checks all crates, and the Python extension, for other systems: `make cross`.

    python scripts/cross.py [--test] [TARGET...]

The C libraries are compiled by MinGW for Windows, and elsewhere by zig, which has the headers of all systems.
Nothing is linked, so no library of the other system is needed. `--test` also builds the tests of the engine
and runs them: those of Windows under Wine, and those of aarch64 under QEMU. A missing tool is named with the
command that installs it; the script installs nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKED = ("hyperslab-python", "hyperslab-cli")
"""The crates that use all others."""

TESTED = ("hyperslab-format", "hyperslab-filters", "hyperslab-io", "hyperslab-select", "hyperslab-convert")
TESTED += ("hyperslab-store", "hyperslab")

WINDOWS = "x86_64-pc-windows-gnu"

RUNNERS = {
    WINDOWS: (("wine64", "/usr/lib/wine/wine64"), "x86_64-w64-mingw32-gcc", "wine64"),
    "aarch64-unknown-linux-gnu": (("qemu-aarch64",), "aarch64-linux-gnu-gcc", "qemu-user"),
}
"""The programs that run the tests, the C compiler and linker, and the Debian package with the program."""

COMPILERS = {
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu g++-aarch64-linux-gnu",
}
"""The Debian packages with the compilers."""

TARGETS = (*RUNNERS, "aarch64-apple-darwin", "x86_64-apple-darwin")


def main() -> None:
    parser = argparse.ArgumentParser(description="Check the crates for other systems")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"by default {', '.join(TARGETS)}")
    parser.add_argument("--test", action="store_true", help="run the tests of the engine, too")
    arguments = parser.parse_args()
    targets = arguments.targets or [target for target in TARGETS if target in RUNNERS or not arguments.test]
    runners = {target: runner(target) for target in targets} if arguments.test else {}
    need_libraries(targets)
    for target in targets if arguments.test else {WINDOWS}.intersection(targets):
        need_compiler(RUNNERS[target][1])
    # The extension is checked for the limited API, without an interpreter of that system.
    environment = {**os.environ, "PYO3_NO_PYTHON": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    for target in targets:
        print(f"checking {target}", flush=True)
        cargo = "cargo" if target == WINDOWS else "cargo-zigbuild"
        run([cargo, "check", "--target", target, *packages(CHECKED)], environment)
    for target, (program, linker) in runners.items():
        print(f"testing {target}", flush=True)
        name = target.upper().replace("-", "_")
        paths = {f"CARGO_TARGET_{name}_RUNNER": program, f"CARGO_TARGET_{name}_LINKER": linker}
        run(["cargo", "test", "--target", target, *packages(TESTED)], {**environment, **paths})


def packages(names: tuple[str, ...]) -> list[str]:
    return ["--locked", "--quiet", *(word for name in names for word in ("-p", name))]


def need_libraries(targets: list[str]) -> None:
    """Ends the program if Rust's standard library is missing for a target."""
    listed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True, check=True)
    missing = [target for target in targets if target not in listed.stdout.split()]
    if missing:
        sys.exit(f"the standard library is missing: rustup target add {' '.join(missing)}")


def need_compiler(compiler: str) -> None:
    """Ends the program if a C compiler is missing."""
    if shutil.which(compiler) is None:
        sys.exit(f"{compiler} is missing: apt-get install {COMPILERS[compiler]}")


def runner(target: str) -> tuple[str, str]:
    """Returns what runs the tests of a target, with its arguments, and the linker."""
    if target not in RUNNERS:
        sys.exit(f"tests of {target} cannot be run here: only those of {', '.join(RUNNERS)}")
    names, linker, package = RUNNERS[target]
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        sys.exit(f"{names[0]} is missing: apt-get install {package}")
    libraries = " -L /usr/aarch64-linux-gnu" if "qemu" in program else ""
    return program + libraries, linker


def run(command: list[str], environment: dict[str, str]) -> None:
    if code := subprocess.run(command, env=environment, check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
