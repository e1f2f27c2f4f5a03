"""`hyperslab.check`: findings as objects, for files given by name, as bytes or as file objects."""

import io
import re

import numpy as np
import pytest
from soundness import CHECKS
from support import GOLDEN, IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py does not check files")


@pytest.fixture
def path(tmp_path):
    """Returns the path of a file with a filtered dataset, one of whose chunks has a wrong byte."""
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
def test_a_finding_has_a_message_a_path_and_an_address(path):
    assert not [finding for finding in hs.check(path) if finding.severity == "error"], (
        "without `data=True` chunks are not decoded"
    )
    (finding,) = [finding for finding in hs.check(path, data=True) if finding.severity == "error"]
    assert finding.path == "/group/values" and "chunk at [3]" in finding.message
    assert finding.address is not None and finding.structure and finding.spec
    with pytest.raises(AssertionError, match="/group/values"):
        CHECKS.image(path.read_bytes())


@pytest.mark.damages
def test_check_takes_a_path_bytes_or_a_file_object(path):
    expected = hs.check(path, data=True)
    assert expected
    assert hs.check(str(path), data=True) == expected
    assert hs.check(bytes(path), data=True) == expected
    assert hs.check(io.BytesIO(path.read_bytes()), data=True) == expected


def test_lost_space_is_a_warning(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        f["lost"], f["kept"] = [1.0] * 625, 1
    with hs.File(path, "r+") as f:
        del f["lost"]
    (finding,) = hs.check(path, data=True)
    assert finding.severity == "warning"
    assert re.match(r"5\d{3} bytes in 1 piece are unreachable", finding.message)
    assert finding.address is None
    assert finding.path is None
    # Any file may have fewer, and they are no finding.
    assert hs.check(GOLDEN / "files" / "btree1.h5", data=True) == []


def test_checking_a_missing_file_or_other_bytes_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        hs.check(tmp_path / "missing.h5")
    with pytest.raises(OSError, match="not an HDF5 file"):
        hs.check(io.BytesIO(b"\0" * 5000))
