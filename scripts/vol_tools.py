"""Fetches the programs that use libhdf5 1.14 into `target/vol-tools`, for the tests of the VOL connector.

    python scripts/vol_tools.py

The programs are Debian trixie's packages: libhdf5 before 1.12 has no connectors, and older releases of Debian
have 1.10. The mirror is the one that this machine's apt names. apt runs with lists and states of its own, so
the system's packages stay as they are. `target/vol-tools/bin` has one wrapper for each program, which starts
it with trixie's loader and libraries. `target/vol-tools/root` has libhdf5's headers too: `bin/h5cc1.14`
compiles a C program against them. `target/vol-tools/source` has libhdf5's tests, with those of the HDF Group
for connectors, and `target/vol-tools/netcdf` has netCDF-C's. A second run does nothing.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "target" / "vol-tools"
SUITE = "trixie"
PACKAGES = ("hdf5-tools", "netcdf-bin", "nco")
"""The packages to unpack with all that they depend on."""

ALONE = ("libhdf5-dev", "libnetcdf-dev")
"""The packages to unpack without what they depend on: headers."""

SOURCES = {
    "hdf5": ("source", r"test/.*|src/[^/]+\.h"),
    "netcdf": ("netcdf", r"(nc_test4|h5_test)/[^/]+|include/[^/]+\.h|ncdump/[^/]+\.nc"),
}
"""The source packages, their folders, and the paths that are unpacked: tests, and headers for them."""

PROGRAMS = (
    *("h5copy", "h5diff", "h5dump", "h5ls", "h5repack", "h5stat"),
    *("nccopy", "ncdump", "ncgen", "ncks"),
)

WRAPPER = """#!/bin/sh
exec {loader} --library-path {libraries} {program} "$@"
"""

COMPILER = """#!/bin/sh
# Compiles a C program that runs with {suite}'s loader and libraries: h5cc1.14 -o PROGRAM SOURCE...
exec {compiler} -I{headers} "$@" -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags \\
    -Wl,--dynamic-linker={loader} -Wl,-rpath,{libraries} {hdf5} -lm
"""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def stanzas(path: Path) -> list[dict[str, str]]:
    """Returns the sources that a file of apt's names, as fields of deb822."""
    text = path.read_text()
    if path.suffix == ".sources":
        blocks = re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text))
        return [dict(re.findall(r"(?m)^([\w-]+):\s*(.*)$", block)) for block in blocks if block.strip()]
    line = re.compile(r"(?m)^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<parts>.*)$")
    found = []
    for match in line.finditer(text):
        signed = re.search(r"signed-by=(\S+)", match["options"] or "")
        fields = {"URIs": match["uri"], "Suites": match["suite"], "Components": match["parts"]}
        found.append(fields | ({"Signed-By": signed[1]} if signed else {}))
    return found


def mirror() -> tuple[str, str]:
    """Returns the mirror of Debian that this machine uses, and the file of its keys."""
    release = Path("/etc/os-release").read_text()
    codename = re.search(r"(?m)^VERSION_CODENAME=(\S+)", release)
    lists = [*Path("/etc/apt").glob("sources.list.d/*.sources"), *Path("/etc/apt").glob("sources.list.d/*.list")]
    lists += [path for path in [Path("/etc/apt/sources.list")] if path.exists()]
    for fields in (fields for path in sorted(lists) for fields in stanzas(path)):
        if codename and codename[1] in fields.get("Suites", "").split() and "main" in fields.get("Components", ""):
            keys = fields.get("Signed-By", "/usr/share/keyrings/debian-archive-keyring.gpg")
            return fields["URIs"].split()[0], keys
    raise SystemExit("this machine's apt names no mirror of Debian: run this on Debian")


def fetch(folder: Path) -> tuple[list[Path], dict[str, Path]]:
    """Downloads the packages and the archives of sources into a folder, and returns their paths."""
    for part in ("state/lists/partial", "cache/archives/partial", "alone"):
        (folder / part).mkdir(parents=True)
    (folder / "state" / "status").touch()
    uri, keys = mirror()
    lines = [f"{kind} [signed-by={keys}] {uri} {SUITE} main\n" for kind in ("deb", "deb-src")]
    (folder / "sources.list").write_text("".join(lines))
    options = [f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null"]
    options += [f"Dir::State={folder}/state", f"Dir::State::status={folder}/state/status"]
    options += [f"Dir::Cache={folder}/cache", "APT::Sandbox::User=root", "Acquire::Languages=none"]
    options += [f"Acquire::IndexTargets::deb::{name}::DefaultEnabled=false" for name in ("DEP-11", "Contents-deb")]
    apt = ["apt-get", "--quiet=2", *(f"--option={option}" for option in options)]
    subprocess.run([*apt, "update"], check=True, stdout=sys.stderr)
    install = [*apt, "install", "--yes", "--download-only", "--no-install-recommends", *PACKAGES]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*apt, "download", *ALONE], check=True, cwd=folder / "alone", stdout=sys.stderr)
    source = [*apt, "source", "--download-only", "--tar-only", *SOURCES]
    subprocess.run(source, check=True, cwd=folder, stdout=sys.stderr)
    archives = {name: next(folder.glob(f"{name}_*.orig.tar.*")) for name in SOURCES}
    return sorted([*folder.glob("cache/archives/*.deb"), *folder.glob("alone/*.deb")]), archives


def unpack(archive: Path, wanted: str, into: Path) -> None:
    """Unpacks the wanted paths of an archive of sources, without their first folder."""
    with tarfile.open(archive) as tar:
        for member in tar:
            member.name = member.name.partition("/")[2]
            if re.fullmatch(wanted, member.name):
                tar.extract(member, into, filter="data")


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def wrap(root: Path, programs: Path) -> None:
    """Writes the wrapper of every program, and the compiler's."""
    loader = next(path for path in sorted(root.glob("usr/lib*/ld-linux*.so.*")) if path.exists())
    folders = [*sorted(root.glob("usr/lib/*-linux-gnu")), root / "usr" / "lib" / "nco"]
    libraries = ":".join(str(path) for path in folders)
    for name in PROGRAMS:
        program = root / "usr" / "bin" / name
        script(programs / name, WRAPPER.format(loader=loader, libraries=libraries, program=program))
    (hdf5,) = folders[0].glob("libhdf5_serial.so.*.*.*")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("there is no C compiler: install gcc")
    headers = root / "usr" / "include" / "hdf5" / "serial"
    fields = {"compiler": compiler, "headers": headers, "loader": loader, "libraries": libraries, "hdf5": hdf5}
    script(programs / "h5cc1.14", COMPILER.format(suite=SUITE, **fields))


def main() -> None:
    """Fills `target/vol-tools`, unless this version of the script has filled it."""
    stamp = OUT / "made-by"
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == version + str(OUT):
        return
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    packages, archives = fetch(OUT / "apt")
    for package in packages:
        subprocess.run(["dpkg", "-x", package, OUT / "root"], check=True)
    for name, (place, wanted) in SOURCES.items():
        unpack(archives[name], wanted, OUT / place)
    shutil.rmtree(OUT / "apt")
    (OUT / "bin").mkdir()
    wrap(OUT / "root", OUT / "bin")
    stamp.write_text(version + str(OUT))
    say(f"{len(packages)} packages of {SUITE} are in {OUT}")


if __name__ == "__main__":
    main()
