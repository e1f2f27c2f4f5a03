"""Writes the licences of everything that a wheel holds beside hyperslab: `python scripts/licences.py FILE`.

A wheel is linked with crates, and with sources in C that crates carry. Most licences ask that their text goes
with copies. A text that several crates share stands once.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
ROOTS = {"hyperslab-python", "hyperslab-vol"}
# The names of files with licences, and folders that hold no sources of what is linked.
LICENCE = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)([-_.].*)?$", re.IGNORECASE)
NO_TEXT = {".rs", ".py", ".go", ".h", ".c", ".json", ".sh", ".html", ".js"}
NOT_LINKED = {"tests", "test", "benches", "examples", "docs", "doc", "contrib", "programs"}
# The packages in the page of the viewer, if it was made.
PAGE = REPOSITORY / "crates" / "view" / "web" / "dist" / "licences.txt"
# The texts of crates that only name their licence.
OURS = {"MIT": "LICENSE-MIT", "Apache-2.0": "LICENSE-APACHE"}


def output(command: list[str]) -> str:
    return subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, encoding="utf-8").stdout


def linked() -> list[dict]:
    """The packages of others that the wheel is linked with, by name."""
    host = re.search(r"^host: (.*)$", output(["rustc", "-vV"]), re.MULTILINE)[1]
    metadata = json.loads(output(["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}"]))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo = [found for found, package in packages.items() if package["name"] in ROOTS]
    seen = set(todo)
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                todo.append(dependency["pkg"])
    others = (packages[found] for found in seen if packages[found]["source"] is not None)
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(package: dict) -> list[str]:
    """The texts of the licences in the sources of a package."""
    folder = Path(package["manifest_path"]).parent
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and LICENCE.fullmatch(path.name) and path.suffix not in NO_TEXT:
            if not NOT_LINKED.intersection(parts[:-1]):
                found.append(path.read_text("utf-8", "replace").strip())
    return found


def main() -> int:
    [out] = sys.argv[1:]
    holders, unnamed = defaultdict(list), []
    for package in linked():
        name = f"{package['name']} {package['version']} ({package['license'] or 'licence in the text below'})"
        found = texts(package)
        if not found:
            words = re.split(r"[\s/()]+", package["license"] or "")
            found = [(REPOSITORY / OURS[word]).read_text("utf-8").strip() for word in words if word in OURS][:1]
        if not found:
            unnamed.append(name)
        for text in dict.fromkeys(found):
            holders[text].append(name)
    if unnamed:
        print(f"no text of a licence was found for {', '.join(unnamed)}: add it to {__file__}", file=sys.stderr)
        return 1
    parts = ["hyperslab is linked with the following packages. Each text is the licence of the packages above it."]
    for text, names in sorted(holders.items(), key=lambda item: item[1]):
        parts.append("=" * 80 + "\n" + "\n".join(names) + "\n" + "-" * 80 + "\n" + text)
    if PAGE.exists():
        parts.append(
            "=" * 80 + "\nThe page of `hyperslab view` holds the following packages.\n\n" + PAGE.read_text("utf-8")
        )
    Path(out).write_text("\n\n".join(parts) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
