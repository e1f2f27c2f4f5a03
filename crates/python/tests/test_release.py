"""A release sets the version everywhere, dates the changelog, and is all or nothing."""

import json
import re
import subprocess
import sys

import pytest
from support import IS_H5PY, REPOSITORY

if IS_H5PY:
    pytest.skip("about hyperslab's own repository", allow_module_level=True)

pytestmark = pytest.mark.process

PRESENT = re.search(r'^version = "(.*)"$', (REPOSITORY / "Cargo.toml").read_text(), re.MULTILINE)[1]
LATER = "999.1.0"


def git(folder, *words):
    command = ["git", "-c", "user.name=Tests", "-c", "user.email=tests@example.org", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path):
    """A repository with the files that a release changes and reads."""
    patterns = ("*Cargo.toml", "*Cargo.lock", "*.rs", "CHANGELOG.md", "java/pom.xml", "scripts", "changes")
    names = git(REPOSITORY, "ls-files", *patterns).splitlines()
    for name in names:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((REPOSITORY / name).read_bytes())
    for change in (tmp_path / "changes").glob("*.md"):
        change.unlink()
    (tmp_path / "changes").mkdir(exist_ok=True)
    (tmp_path / "changes" / "a.md").write_text("- Added: a thing.\n- Fixed: a fault.\n")
    (tmp_path / "changes" / "b.md").write_text("- Added: two\n  lines.\n")
    git(tmp_path, "init", "--quiet")
    for key, value in (("user.name", "Tests"), ("user.email", "tests@example.org")):
        git(tmp_path, "config", key, value)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "All files")
    return tmp_path


def release(clone, *words):
    command = [sys.executable, clone / "scripts" / "release.py", *words]
    return subprocess.run(command, cwd="/", capture_output=True, text=True)


def test_a_release_sets_every_version_and_dates_the_changelog(clone):
    done = release(clone, LATER, "--no-packages")
    assert done.returncode == 0, done.stderr
    for manifest in ("Cargo.toml", "crates/mpio/Cargo.toml"):
        command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline", "--manifest-path", manifest]
        found = json.loads(subprocess.run(command, cwd=clone, check=True, capture_output=True).stdout)
        ours = {one["name"]: one["version"] for one in found["packages"] if one["name"].startswith("hyperslab")}
        assert len(ours) > 2
        assert set(ours.values()) == {LATER}, ours
        needs = [
            need["req"]
            for one in found["packages"]
            for need in one["dependencies"]
            if need["name"].startswith("hyperslab") and need["req"] != "*"
        ]
        assert set(needs) == {f"={LATER}"}
    versions = re.findall(r"<version>(.*)</version>", (clone / "java" / "pom.xml").read_text())
    assert versions[0] == LATER and versions.count(LATER) == 1
    changelog = (clone / "CHANGELOG.md").read_text()
    dated = rf"^## {LATER} \(\d{{4}}-\d\d-\d\d\)\n\n### Added\n\n- A thing\.\n- Two\n  lines\.\n\n### Fixed\n\n- A fault\.\n\n## "
    assert re.search(dated, changelog, re.MULTILINE)
    assert not list((clone / "changes").glob("*.md"))
    assert git(clone, "tag").split() == [f"v{LATER}"]
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("version", "change", "why"),
    [
        ("1.2", None, "three numbers"),
        ("0.0.1", None, f"is before {PRESENT}"),
        (LATER, ("CHANGELOG.md", "an uncommitted line"), "commit or stash"),
        (LATER, ("changes/b.md", "- Mended: no kind\n"), "'Mended' must be one of Added"),
        (LATER, ("changes/b.md", None), "write what is new"),
    ],
)
def test_a_release_that_cannot_be_says_why_and_changes_nothing(clone, version, change, why):
    if change is not None and change[1] is None:
        git(clone, "rm", "--quiet", "-r", "changes")
        git(clone, "commit", "--quiet", "--all", "--message", "No news")
    elif change is not None:
        (clone / change[0]).write_text(change[1])
        if "changes" in change[0]:
            git(clone, "commit", "--quiet", "--all", "--message", "Another change")
    before = git(clone, "status", "--porcelain"), git(clone, "log", "--oneline")
    done = release(clone, version, "--no-packages")
    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr
    assert (git(clone, "status", "--porcelain"), git(clone, "log", "--oneline")) == before


@pytest.mark.soak
def test_a_release_whose_packages_fail_leaves_the_files_as_they_were(clone):
    done = release(clone, LATER)  # there is no Makefile
    assert done.returncode == 1
    assert "`make test-wheel sdist package PACKAGE=--allow-dirty` failed" in done.stderr
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "tag") == ""
