"""The API of `hyperslab view`: what h5grove answers is the oracle, on the golden files."""

import contextlib
import io
import json
import os
import subprocess
import time

import h5py
import hdf5plugin  # noqa: F401  (registers its filters with h5py)
import numpy as np
import pytest
import tifffile
from compare import WRONG_IN_H5PY
from h5grove.content import create_content, get_list_of_paths
from h5grove.encoders import orjson_encode
from h5grove.utils import LinkResolution
from support import REPOSITORY, WHOLE_FILES
from viewer import COMMAND, Viewer

pytestmark = pytest.mark.whole

# The fixture `golden` makes the files here.
MADE = REPOSITORY / "target/golden"
# HDF5's own complex numbers, which h5web does not know: see the test of such classes. And filters of plug-ins
# that hyperslab does not have.
OTHER = {"complex_class.h5", "refused_filters_earliest.h5", "refused_filters_latest.h5"}
NAMES = [name for name in WHOLE_FILES if name.endswith((".h5", ".nc")) and "/" not in name]


@pytest.fixture(scope="module")
def viewer(golden):
    with Viewer(*(golden / name for name in NAMES)) as viewer:
        yield viewer


def encoded(content):
    """Returns what h5grove sends, as Python has it."""
    return json.loads(orjson_encode(content))


def entities(name, kinds):
    """Yields the paths of the file that h5grove can describe, with their contents."""
    with h5py.File(MADE / name, "r") as f:
        paths = ["/"]
        f.visit_links(lambda path: paths.append("/" + path))
        for path in paths:
            try:
                content = create_content(f, path)
                content.metadata()
            except (TypeError, ValueError, KeyError, OSError, RuntimeError, NotImplementedError):
                continue  # h5py has no such type or no such link
            if content.kind in kinds:
                yield path, content


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name in NAMES if name != "complex_class.h5"])
def test_entities_are_described_as_h5grove_describes_them(viewer, name):
    count = 0
    for path, content in entities(name, ["group", "dataset", "datatype", "soft_link", "external_link"]):
        answer = viewer.get("meta", file=name, path=path)
        assert answer.status == 200, (path, answer.body)
        assert answer.json() == encoded(content.metadata()), path
        count += 1
    assert count > 0


@pytest.mark.process
@pytest.mark.parametrize("name", NAMES)
def test_attributes_have_the_values_that_h5grove_sends(viewer, name):
    for path, content in entities(name, ["group", "dataset", "datatype"]):
        try:
            expected = encoded(content.attributes())
        except (TypeError, ValueError, OSError):
            continue  # a string that is not UTF-8, or a type that h5py lacks
        answer = viewer.get("attr", file=name, path=path)
        assert answer.status == 200, (path, answer.body)
        assert_same(answer.json(), expected, path)


def precision(dataset):
    """Returns how far a decimal may be from the float that it identifies among all of its type."""
    stored = dataset.id.get_type()
    mantissa = stored.get_fields()[4] if isinstance(stored, h5py.h5t.TypeFloatID) else 23
    return max(2.0 ** -(mantissa + 1), 1e-6)


def assert_same(ours, theirs, path, rel=1e-6):
    """Asserts that two values of JSON are equal. Floats have the digits of their own precision in ours."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), path
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{path}@{key}", rel)
    elif isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), (path, ours, theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, path, rel)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=rel), path
    elif theirs == "<HDF5 region reference (null>":  # as h5py has it
        assert ours == "<HDF5 region reference (null)>", path
    else:
        assert ours == theirs, path


def selections(shape):
    """Returns selections of h5web's kind: one plane, one line, a part with steps."""
    if not shape:
        return [None]
    plane = ",".join([str(length // 2) for length in shape[:-2]] + [":"] * min(len(shape), 2))
    line = ",".join([str(length - 1) for length in shape[:-1]] + [":"])
    part = ",".join(f"{length // 4}:{length}:2" for length in shape)
    return [None] + [s for s in dict.fromkeys([plane, line, part]) if min(shape) > 0]


def datasets(name):
    for path, content in entities(name, ["dataset"]):
        dataset = content._h5py_entity
        if path not in WRONG_IN_H5PY and (dataset.size is None or dataset.size <= 20_000):
            for selection in selections(dataset.shape or ()):
                yield path, content, selection


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OTHER])
def test_elements_are_those_that_h5grove_sends(viewer, name):
    for path, content, selection in datasets(name):
        where = {"file": name, "path": path} | ({"selection": selection} if selection else {})
        try:
            values = content.data(selection)
        except (OSError, TypeError, ValueError):
            continue  # h5py cannot read it
        array = np.asarray(values)
        rel = precision(content._h5py_entity)
        for flatten in (False, True):
            if array.dtype.kind in "mM" or array.dtype.char == "V" and not array.dtype.names:
                continue  # opaque bytes, of which h5grove makes times or text
            try:
                expected = encoded(content.data(selection, flatten))
            except (TypeError, ValueError):
                continue  # neither can JSON have it
            answer = viewer.get("data", **where, flatten=str(flatten).lower())
            assert answer.status == 200, (path, selection, answer.body)
            assert_same(answer.json(), expected, f"{path}[{selection}]", rel)
        if array.dtype.kind not in "biufc":
            continue
        answer = viewer.get("data", **where, format="bin")
        assert answer.body == array.tobytes(), (path, selection)
        answer = viewer.get("data", **where, format="bin", dtype="safe")
        safe = content.data(selection, dtype="safe")
        assert np.array_equal(np.frombuffer(answer.body, safe.dtype), np.ravel(safe), equal_nan=True), (path, selection)
        answer = viewer.get("data", **where, format="npy")
        loaded = np.load(io.BytesIO(answer.body))
        assert loaded.dtype == array.dtype and loaded.shape == array.shape, (path, selection)
        assert loaded.tobytes() == array.tobytes()
        if array.ndim and array.size and array.dtype.itemsize <= 8:
            answer = viewer.get("data", **where, format="tiff")
            picture = tifffile.imread(io.BytesIO(answer.body))
            assert np.array_equal(np.ravel(picture), np.ravel(array), equal_nan=array.dtype.kind == "f"), (
                path,
                selection,
            )
        if array.ndim in (1, 2) and array.size and array.dtype.kind != "c":
            answer = viewer.get("data", **where, format="csv")
            rows = [line.split(",") for line in answer.body.decode().splitlines()]
            table = np.array([[float(cell) for cell in row] for row in rows])
            expected = array.reshape(len(array), -1).astype(float)
            assert table.size == expected.size, (path, selection)
            np.testing.assert_allclose(table.reshape(expected.shape), expected, rtol=rel)


@pytest.mark.parametrize("name", ["composed_latest.h5", "symbol_table_deep.h5", "virtual.h5"])
def test_paths_are_those_that_h5grove_lists(viewer, name):
    with get_list_of_paths(MADE / name, "/", lambda _, text: ValueError(text)) as expected:
        assert sorted(viewer.get("paths", file=name, path="/").json()) == sorted(expected)


def test_statistics_are_those_of_h5grove(viewer):
    checked = 0
    for path, content, selection in datasets("numbers_latest.h5"):
        try:
            expected = content.data_stats(selection)
            numbers = np.asarray(content._get_finite_data(selection)).astype("f8")
            # h5grove cuts the decimals of these for integers, and adds halves as halves.
            if numbers.size:
                expected |= {"mean": float(np.mean(numbers)), "std": float(np.std(numbers))}
        except (TypeError, ValueError):
            continue
        where = {"path": path} | ({"selection": selection} if selection else {})
        answer = viewer.get("stats", file="numbers_latest.h5", **where)
        if answer.status == 200:
            assert_same(answer.json(), encoded(expected), path)
            checked += 1
    assert checked > 20


def test_links_are_followed_as_asked(viewer):
    kinds = {}
    for resolve in ("none", "only_valid", "all"):
        for path, content in entities("links_latest.h5", ["group", "dataset", "soft_link", "external_link"]):
            with h5py.File(MADE / "links_latest.h5", "r") as f:
                try:
                    kind = create_content(f, path, LinkResolution(resolve)).kind
                except Exception:  # noqa: BLE001  (a link that leads nowhere)
                    kind = "error"
            answer = viewer.get("meta", file="links_latest.h5", path=path, resolve_links=resolve)
            assert (answer.json()["kind"] if answer.status == 200 else "error") == kind, (path, resolve)
            kinds[kind] = content.kind
    assert {"soft_link", "external_link", "error", "dataset"} <= kinds.keys()


def test_errors_are_in_the_words_that_h5web_knows(viewer):
    for arguments, status, words in [
        ({"file": "none.h5"}, 404, "File not found"),
        ({"file": "links_latest.h5", "path": "/none"}, 404, "/none is not a valid path in links_latest.h5"),
        ({"file": "links_latest.h5", "path": "/none/below"}, 404, "not a valid path"),
        ({}, 422, "`file` is missing"),
        ({"file": "links_latest.h5", "resolve_links": "some"}, 422, "all, none or only_valid"),
    ]:
        answer = viewer.get("meta", **arguments)
        assert answer.status == status and words in answer.message, answer.body


def test_classes_that_h5web_does_not_know_are_served_as_classes_that_it_knows(tmp_path, viewer):
    answer = viewer.get("meta", file="complex_class.h5", path="/")
    types = [child["type"] for child in answer.json()["children"] if child["kind"] == "dataset"]
    assert types
    for kind in types:
        assert kind["class"] == 6
        assert [member["name"] for member in kind["members"]] == ["r", "i"]


def test_halves_and_dates_are_those_that_numpy_prints(tmp_path):
    times = np.array(["2024-02-29T12:30:00.000001", "1969-12-31T23:59:59.999999"], "M8[us]")
    halves = np.array([0.1, -93.6], "f2")
    with h5py.File(tmp_path / "times.h5", "w") as f:
        f.create_dataset("times", data=times.astype(h5py.opaque_dtype(times.dtype)))
        f["halves"] = halves
        content = create_content(f, "/times")
        assert encoded(content.data()) == times.astype(str).tolist()
    with Viewer(tmp_path / "times.h5") as viewer:
        assert viewer.get("data", file="times.h5", path="/times").json() == times.astype(str).tolist()
        assert viewer.get("data", file="times.h5", path="/halves").body == b"[0.1,-93.6]"
        assert viewer.get("data", file="times.h5", path="/halves", format="csv").body == b"0.1\n-93.6\n"


def test_a_changed_file_is_opened_again_and_has_another_version(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["x"] = [1, 2, 3]
    with Viewer(path) as viewer:
        first = viewer.get("files").json()
        assert viewer.get("data", file="a.h5", path="/x").json() == [1, 2, 3]
        # In its place, and by another file.
        for write in ("r+", "w"):
            with h5py.File(tmp_path / "b.h5" if write == "w" else path, write, locking=False) as f:
                f.pop("x", None)
                f["x"] = np.arange(5 if write == "w" else 4)
            if write == "w":
                os.replace(tmp_path / "b.h5", path)
            later = viewer.get("files").json()
            assert later[0]["name"] == "a.h5" and later != first
            first = later
            assert viewer.get("data", file="a.h5", path="/x").json() == list(range(5 if write == "w" else 4))
        path.unlink()
        assert viewer.get("files").json() == [{"name": "a.h5", "version": None}]
        assert "File not found" in viewer.get("meta", file="a.h5").message


@pytest.mark.process
def test_a_file_is_not_locked_while_nobody_looks(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["x"] = [1, 2, 3]
    with Viewer(path) as viewer:
        assert viewer.get("meta", file="a.h5").status == 200
        answer = None
        for _ in range(600):
            with contextlib.suppress(BlockingIOError), h5py.File(path, "r+", locking=True) as f:
                answer = viewer.get("meta", file="a.h5")
                f["y"] = 1
                break
            time.sleep(0.1)
        assert answer, "the viewer keeps the file locked"
        assert answer.status == 409 and "another program is writing a.h5" in answer.message


def test_files_of_the_same_name_have_numbers(tmp_path):
    paths = [tmp_path / folder / "a.h5" for folder in ("one", "two")]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        with h5py.File(path, "w") as f:
            f["x"] = number
    with Viewer(*paths) as viewer:
        assert [file["name"] for file in viewer.get("files").json()] == ["a.h5", "a.h5 (2)"]
        assert viewer.get("data", file="a.h5 (2)", path="/x").json() == 1


@pytest.mark.damages
def test_a_plane_of_a_large_dataset_reads_only_its_chunks(tmp_path):
    """Of 100 GB, all chunks but those of one plane are damaged: the plane reads without an error."""
    path = tmp_path / "large.h5"
    with h5py.File(path, "w", libver="latest") as f:
        shape, chunks = (25_000, 1000, 1000), (1, 500, 1000)
        f.create_dataset("x", shape, "<f4", chunks=chunks, compression="gzip")
        plane = np.arange(1_000_000, dtype="<f4").reshape(1000, 1000)
        f["x"][700] = plane
        for number in (699, 701, 24_999):
            for part in (0, 500):
                f["x"].id.write_direct_chunk((number, part, 0), b"damaged")
    with Viewer(path) as viewer:
        where = {"file": "large.h5", "path": "/x", "format": "bin", "dtype": "safe"}
        assert viewer.get("data", **where, selection="700,:,:").body == plane.tobytes()
        assert viewer.get("data", **where, selection="100,:,:").body == bytes(4_000_000)
        assert viewer.get("data", **where, selection="701,:,:").status == 500
        assert viewer.get("data", **where, selection="700,1:3,::2").body == plane[1:3, ::2].tobytes()


def test_the_command_refuses_files_that_it_cannot_open(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5")
    for name, words in [("none.h5", "No such file"), ("text.h5", "HDF5"), (".", "a folder")]:
        done = subprocess.run([*COMMAND, tmp_path / name], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and words in done.stderr, done.stderr
