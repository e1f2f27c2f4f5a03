"""Makes a release: `python scripts/release.py 0.2.0`, which `make release VERSION=0.2.0` calls.

Sets the version in every manifest and lock file, dates the changelog, builds and tries the packages, commits
and tags. If a step fails, the files are as before. Nothing leaves the machine: docs/releasing.md says what
follows.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
# Workspaces, each with a lock file: of the crates, and of the ranks of MPI.
WORKSPACES = (".", "crates/mpio")
MANIFESTS = ("Cargo.toml", "crates/mpio/Cargo.toml", "crates/pio/Cargo.toml")
CHANGELOG = "CHANGELOG.md"
CHANGES = REPOSITORY / "changes"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
FIRST_VERSION = re.compile(r"^## \d", re.MULTILINE)
PACKAGES = ("test-wheel", "sdist", "package")


class CannotReleaseError(Exception):
    """Says why there is no release, and what to do."""


def run(*command: str, folder: str = ".") -> str:
    done = subprocess.run(command, cwd=REPOSITORY / folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CannotReleaseError(f"`{' '.join(command)}` failed: mend what it says, and begin again")
    return done.stdout


def numbers(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise CannotReleaseError(f"{version!r} is no version: give three numbers, such as 0.2.0")
    return tuple(int(part) for part in version.split("."))


def present() -> str:
    """The version in the manifest of the workspace."""
    return re.search(r'^version = "(.*)"$', (REPOSITORY / MANIFESTS[0]).read_text("utf-8"), re.MULTILINE)[1]


def check(version: str) -> None:
    if run("git", "status", "--porcelain"):
        raise CannotReleaseError("the working tree has changes: commit or stash them")
    if numbers(version) < numbers(present()):
        raise CannotReleaseError(f"{version} is before {present()}, the version in {MANIFESTS[0]}: give a later one")
    if run("git", "tag", "--list", f"v{version}"):
        raise CannotReleaseError(f"the tag v{version} exists: give a later version")
    if not news():
        raise CannotReleaseError("changes/ is empty: write what is new for users")


def news() -> dict[str, list[str]]:
    """The entries of `changes/*.md` by kind: each begins with `- Kind: `, and may go on in indented lines."""
    found: dict[str, list[str]] = {}
    for path in sorted(CHANGES.glob("*.md")):
        for entry in re.split(r"^- ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            kind, _, text = entry.strip().partition(": ")
            if kind not in KINDS:
                raise CannotReleaseError(f"changes/{path.name}: {kind!r} must be one of {', '.join(KINDS)}")
            found.setdefault(kind, []).append(f"- {text[0].upper()}{text[1:]}")
    return found


def set_version(version: str) -> None:
    old = re.escape(present())
    # The version of a package, or of a dependency of this repository.
    own = re.compile(rf'^(version = "|hyperslab[a-z-]* = \{{ path = "[^"]*", version = "=){old}"', re.MULTILINE)
    for name in MANIFESTS:
        path = REPOSITORY / name
        path.write_text(own.sub(rf'\g<1>{version}"', path.read_text("utf-8")), "utf-8")
    pom = REPOSITORY / "java" / "pom.xml"
    # The first version is that of the artifact.
    pom.write_text(re.sub(f"<version>{old}<", f"<version>{version}<", pom.read_text("utf-8"), count=1), "utf-8")
    for workspace in WORKSPACES:
        run("cargo", "update", "--workspace", "--offline", "--quiet", folder=workspace)


def date_changelog(version: str) -> None:
    path, entries = REPOSITORY / CHANGELOG, news()
    parts = [f"## {version} ({datetime.date.today()})"]
    parts += ["\n".join([f"### {kind}\n", *entries[kind]]) for kind in KINDS if kind in entries]
    text = path.read_text("utf-8")
    at = FIRST_VERSION.search(text).start()
    path.write_text(text[:at] + "\n\n".join(parts) + "\n\n" + text[at:], "utf-8")
    for change in CHANGES.glob("*.md"):
        change.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a release: versions, changelog, packages, a commit and a tag.")
    parser.add_argument("version", help="three numbers, such as 0.2.0")
    parser.add_argument("--no-packages", action="store_true", help="do not build and try the packages")
    options = parser.parse_args()
    try:
        check(options.version)
        before = run("git", "rev-parse", "HEAD").strip()
        try:
            set_version(options.version)
            date_changelog(options.version)
            if not options.no_packages:
                run("make", *PACKAGES, "PACKAGE=--allow-dirty")
            run("git", "commit", "--quiet", "--all", "--message", f"Version {options.version}")
            run("git", "tag", "--annotate", f"v{options.version}", "--message", f"hyperslab {options.version}")
        except BaseException:
            # The working tree had no changes.
            run("git", "reset", "--quiet", "--hard", before)
            raise
    except CannotReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print(f"v{options.version} is committed and tagged; docs/releasing.md says how it is published")
    return 0


if __name__ == "__main__":
    sys.exit(main())
