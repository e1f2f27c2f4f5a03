"""Copies between files, and `require_group` and `require_dataset` on a file that is open for reading only."""

import h5py
import numpy as np
import pytest
from compare import compare_files
from support import IS_H5PY, hs


def fill(path, module):
    """Writes a file with links of all kinds, references, strings and attributes."""
    with module.File(path.with_name("far.h5"), "w") as f:
        f["far"] = [7, 8]
    with module.File(path, "w") as f:
        group = f.create_group("g")
        group["d"] = np.arange(6.0).reshape(2, 3)
        group["d"].attrs["unit"] = "K"
        group["below/d"] = [1, 2]
        group["text"] = ["a", "bc"]
        group["soft"] = module.SoftLink("/other")
        group["far"] = module.ExternalLink("far.h5", "/far")
        group["ref"] = np.array([f["g/d"].ref], dtype=module.ref_dtype)
        f.create_dataset("other", data=[5], chunks=(1,), compression="gzip")
    return path


COPIES = [
    lambda f, to: f.copy("g", to),
    lambda f, to: f.copy(f["g"], to),
    lambda f, to: f.copy("g/d", to, name="renamed"),
    lambda f, to: f["g"].copy("d", to),
    lambda f, to: f["g"].copy("/other", to),
    lambda f, to: f["g"].copy(f["other"], to.create_group("in"), name="deep/er"),
    lambda f, to: to.copy(f["g/below"], "here"),
    lambda f, to: to.copy(f["g/d"], to, name="here"),
    lambda f, to: f.copy("/", to, name="all"),
    lambda f, to: f.copy("g", to, shallow=True, without_attrs=True),
    lambda f, to: f.copy("g", to, expand_soft=True, expand_external=True),
]


@pytest.mark.parametrize("number", range(len(COPIES)))
def test_objects_are_copied_from_a_file_open_for_reading(tmp_path, number):
    results = []
    for folder, module in ((tmp_path / "ours", hs), (tmp_path / "theirs", h5py)):
        folder.mkdir()
        source = fill(folder / "source.h5", module)
        with module.File(source, "r") as f, module.File(folder / "to.h5", "w") as to:
            COPIES[number](f, to)
        results.append(folder / "to.h5")
    with hs.File(results[0], "r") as ours, h5py.File(results[1], "r") as theirs:
        compare_files(ours, theirs)


def test_expand_refs_copies_targets_from_a_file_open_for_reading(tmp_path):
    source = fill(tmp_path / "source.h5", hs)
    with hs.File(source, "r") as f, hs.File(tmp_path / "to.h5", "w") as to:
        f.copy("g/ref", to)
        assert not to["ref"][0]
        f.copy("g/ref", to, name="with", expand_refs=True)
        assert np.array_equal(to[to["with"][0]], f["g/d"])


@pytest.mark.skipif(IS_H5PY, reason="libhdf5 copies into its cache, and fails when it closes the file")
def test_copying_into_a_file_open_for_reading_is_an_error(tmp_path):
    source = fill(tmp_path / "source.h5", hs)
    with hs.File(source, "r") as f:
        for copy in (lambda: f.copy("g", "h"), lambda: f.copy("g", f["g"], name="h")):
            with pytest.raises((ValueError, RuntimeError)):
                copy()
        with hs.File(tmp_path / "to.h5", "w") as to:
            with pytest.raises((ValueError, RuntimeError)):
                to.copy(f["g"], f)
            with pytest.raises(KeyError):
                f.copy("missing", to)
            with pytest.raises(TypeError):
                f.copy("g", to.create_dataset("d", data=1))
    with hs.File(tmp_path / "to.h5", "r+") as to, pytest.raises((ValueError, KeyError, RuntimeError, TypeError)):
        f.copy("g", to)


def test_require_finds_existing_objects_in_a_file_open_for_reading(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("g/d", data=np.zeros((2, 3), "i2"), maxshape=(None, 3), chunks=True)
    with hs.File(tmp_path / "f.h5", "r") as f:
        assert f.require_group("g") == f["g"] and f["g"].require_group("/g") == f["g"]
        assert f.require_dataset("g/d", (2, 3), "i2") == f["g/d"]
        assert f["g"].require_dataset("d", shape=(2, 3), dtype="i1", compression="gzip") == f["g/d"]
        assert f.require_dataset("g/d", (2, 3), "i2", exact=True) == f["g/d"]
        assert f.require_dataset("g/d", (5, 3), "i2", maxshape=(None, 3)) == f["g/d"]
        for wrong in (
            lambda: f.require_dataset("g/d", (3, 3), "i2"),
            lambda: f.require_dataset("g/d", (2, 3), "f8"),
            lambda: f.require_dataset("g/d", (2, 3), "i1", exact=True),
            lambda: f.require_dataset("g", (2, 3), "i2"),
            lambda: f.require_group("g/d"),
        ):
            with pytest.raises(TypeError):
                wrong()
        if not IS_H5PY:
            with pytest.raises(TypeError, match="compresion"):
                f.require_dataset("g/d", (2, 3), "i2", compresion="gzip")
        for missing in (lambda: f.require_dataset("new", (1,), "i2"), lambda: f.require_group("new")):
            with pytest.raises(ValueError):
                missing()
