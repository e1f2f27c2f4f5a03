"""`hyperslab.check`: findings as data, of files wherever they are."""

import io

import numpy as np
import pytest
from soundness import CHECKS
from support import GOLDEN, IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py does not check files")


@pytest.fixture
def path(tmp_path):
    """A file with a filtered dataset, and a stray byte in one of its chunks; where that is."""
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        group = f.create_group("group")
        group.create_dataset("values", data=np.arange(1000), chunks=(100,), compression="gzip", fletcher32=True)
        at = group["values"].id.get_chunk_info(3).byte_offset
    with open(path, "r+b") as file:
        file.seek(at + 20)
        byte = file.read(1)[0]
        file.seek(at + 20)
        file.write(bytes([byte ^ 8]))
    return path


@pytest.mark.damages
def test_findings_say_what_is_wrong_and_where(path):
    assert not [finding for finding in hs.check(path) if finding.severity == "error"], "the data were not looked at"
    (finding,) = [finding for finding in hs.check(path, data=True) if finding.severity == "error"]
    assert finding.path == "/group/values" and "chunk at [3]" in finding.message
    assert finding.address is not None and finding.structure and finding.spec
    with pytest.raises(AssertionError, match="/group/values"):
        CHECKS.image(path.read_bytes())


@pytest.mark.damages
def test_a_file_may_be_a_name_bytes_or_a_file_object(path):
    expected = hs.check(path, data=True)
    assert expected
    assert hs.check(str(path), data=True) == expected
    assert hs.check(bytes(path), data=True) == expected
    assert hs.check(io.BytesIO(path.read_bytes()), data=True) == expected


def test_what_does_no_harm_is_a_warning():
    (finding,) = hs.check(GOLDEN / "files" / "btree1.h5", data=True)
    assert finding.severity == "warning" and finding.message.startswith("1149 bytes")
    assert finding.address is None and finding.path is None


def test_what_is_no_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        hs.check(tmp_path / "missing.h5")
    with pytest.raises(OSError, match="not an HDF5 file"):
        hs.check(io.BytesIO(b"\0" * 5000))
