"""`make lint` finds names that stand for too many types, and circles of imports."""

import sys

import pytest
from support import IS_H5PY, REPOSITORY

if IS_H5PY:
    pytest.skip("about hyperslab's own repository", allow_module_level=True)


@pytest.fixture
def findings(monkeypatch, tmp_path):
    """Returns the findings for a workspace with these files, named by their paths in `crates`."""
    monkeypatch.syspath_prepend(REPOSITORY / "scripts")
    import rust_structure

    monkeypatch.setattr(rust_structure, "ROOT", tmp_path)

    def found(files):
        for name, text in files.items():
            path = tmp_path / "crates" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return rust_structure.findings(rust_structure.sources())

    yield found
    sys.modules.pop("rust_structure", None)


def circle(crate, names):
    """The files of a circle: each imports from the next one."""
    following = zip(names, names[1:] + names[:1], strict=True)
    return {f"{crate}/src/{name}.rs": f"use crate::{other}::{{self, Thing{other}}};\n" for name, other in following}


def test_a_fourth_type_of_one_name_is_found(findings):
    kinds = ["struct Place;", "pub enum Place {}", "pub(crate) trait Place {}"]
    three = {f"a/src/file{number}.rs": kind + "\n" for number, kind in enumerate(kinds)}
    assert findings(three) == []
    assert findings({"a/src/tests.rs": "struct Place;\n"}) == []
    associated = "impl Iterator for X {\n    type Place = u8;\n}\n"
    assert findings({"a/src/file3.rs": associated}) == []
    (only,) = findings({"b/src/sub/mod.rs": "\n    type Other = u8;\npub type Place = u8;\n"})
    assert "4 types are called Place (at most 3)" in only
    assert "crates/b/src/sub/mod.rs:3" in only


def test_a_circle_of_four_files_is_found(findings):
    assert findings(circle("a", ["one", "two", "three"])) == []
    (only,) = findings(circle("b", ["one", "two", "three", "four"]))
    assert "4 files import each other (at most 3)" in only
    # A module and its children are one room.
    family = {"c/src/lib.rs": "mod m;\n", "c/src/m/mod.rs": "use self::n::A;\n", "c/src/m/n.rs": "use super::B;\n"}
    assert len(findings(family)) == 1
