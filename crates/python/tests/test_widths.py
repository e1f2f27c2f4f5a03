"""Files with addresses of 2, 4, 8 and 16 bytes and lengths of 2, 4 and 8: reading, copying, repacking.

h5py writes the files, and reads the copies. libhdf5 has faults with other widths than 8, so some of what it
writes or reads there is left out:

- arrays of references with other addresses than of 8 bytes: it writes elements of 8 bytes all the same, and
  takes the bytes that an element of 4 bytes lacks from its memory;
- unlimited dimensions with narrow lengths: it takes the largest length for a number;
- dense attributes and links with lengths of 2 bytes: it cannot read its own;
- references with addresses of 16 bytes: it writes null references;
- symbol tables with addresses of 16 bytes: it writes beyond the end of its memory.
"""

from unittest.mock import ANY

import h5py
import hyperslab as hs
import numpy as np
import pytest
from h5py import h5f, h5p
from hyperslab._native import run_cli
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py is the oracle")

ALL = [(2, 2), (2, 8), (4, 2), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8), (16, 2), (16, 4), (16, 8)]
SOURCES = [("earliest", sizes) for sizes in ALL if sizes[0] < 16]
SOURCES += [("latest", sizes) for sizes in ALL if sizes[1] > 2]
NAMES = ["{}-{}-{}".format(libver, *sizes) for libver, sizes in SOURCES]


def create(path, sizes, libver="earliest"):
    """Creates a file with these sizes of addresses and lengths."""
    fcpl, fapl = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    fcpl.set_sizes(*sizes)
    low = {"earliest": h5f.LIBVER_EARLIEST, "latest": h5f.LIBVER_LATEST}[libver]
    fapl.set_libver_bounds(low, h5f.LIBVER_LATEST)
    return h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, fcpl, fapl))


RECORD = np.dtype(
    [
        ("n", "i2"),
        ("name", h5py.string_dtype()),
        ("ref", h5py.ref_dtype),
        ("list", h5py.vlen_dtype("f4")),
        ("last", "u1"),
    ]
)


def fill(f, sizes):
    """Makes one of everything that holds addresses or lengths. Everything fits in 64 KiB."""
    offset, length = sizes
    if length > 2:
        dense = f.create_group("dense")
        for n in range(20):
            dense.attrs[f"a{n}"] = f"value {n}"
        f.create_group("ordered", track_order=True).update({name: 1 for name in "zyx"})
    if length == 8:
        f.create_dataset("far", data=np.arange(30), chunks=(4,), maxshape=(None,))
    g = f.create_group("all")
    g["numbers"] = np.arange(600, dtype="i4").reshape(20, 30)
    g.create_dataset("chunks", data=np.arange(900.0).reshape(30, 30), chunks=(7, 9), maxshape=(60, 30))
    g.create_dataset("gzip", data=np.arange(900).reshape(30, 30), chunks=(15, 30), compression=4, shuffle=True)
    g.create_dataset("fill", (9,), "i8", fillvalue=-3)
    texts = [f"text {n}" for n in range(40)]
    g.create_dataset("texts", data=texts, chunks=(16,), shuffle=True)
    lists = g.create_dataset("lists", (5,), h5py.vlen_dtype(h5py.string_dtype()))
    for n in range(5):
        lists[n] = np.array([f"{n}.{m}" for m in range(n)], object)
    g["committed"] = np.dtype([("x", "f4"), ("text", h5py.string_dtype())])
    g.create_dataset("typed", (3,), g["committed"])[:] = [(n, f"t{n}") for n in range(3)]
    records = np.zeros(4, RECORD)
    for n in range(4):
        records[n] = (n, f"record {n}", g.ref, np.arange(n, dtype="f4"), 200 + n)
    g.create_dataset("records", data=records, dtype=RECORD)
    g.create_dataset("some", (20,), RECORD, chunks=(4,))[4:8] = records
    g.create_dataset("ref", data=g["gzip"].ref, dtype=h5py.ref_dtype)
    if offset == 8:
        g["refs"] = np.array([g["gzip"].ref, h5py.Reference(), g.ref], h5py.ref_dtype)
        pairs = np.zeros(3, [("n", "u1"), ("pair", h5py.ref_dtype, (2,)), ("m", "u1")])
        for n in range(3):
            pairs[n] = (n, [g["numbers"].ref, g["texts"].ref], n + 1)
        g.create_dataset("pairs", data=pairs, chunks=(2,))
        g["regions"] = np.array([g["numbers"].regionref[2:5, ::3], h5py.RegionReference()], h5py.regionref_dtype)
    g["empty"] = h5py.Empty("f4")
    g.attrs["ref"] = g["numbers"].ref
    g.attrs["texts"] = np.array(["a", "bcd"], object)
    g.attrs["numbers"] = np.arange(20)
    g["links/soft"], g["links/out"] = h5py.SoftLink("/all/numbers"), h5py.ExternalLink("none.h5", "/x")
    layout = h5py.VirtualLayout((40, 30), "i4")
    layout[:20] = h5py.VirtualSource(".", "/all/numbers", (20, 30))
    g.create_virtual_dataset("virtual", layout, fillvalue=-1)


def plain(f, value):
    """Returns a value without what differs between files: references become the names of their targets.

    A reference that h5py cannot read is equal to any other.
    """
    if isinstance(value, h5py.Reference) and f.id.get_create_plist().get_sizes()[0] < 8:
        return ANY
    if isinstance(value, (h5py.RegionReference, hs.RegionReference)):
        return (f[value].name.rpartition("/")[2], f[value].regionref.selection(value)) if value else None
    if isinstance(value, (h5py.Reference, hs.Reference)):
        return f[value].name.rpartition("/")[2] if value else None
    if isinstance(value, np.void) and value.dtype.names:
        return [plain(f, value[name]) for name in value.dtype.names]
    if isinstance(value, np.ndarray):
        if not value.ndim:
            return plain(f, value[()])
        return [plain(f, item) for item in value] if value.dtype.hasobject or value.dtype.names else value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def contents(f, group, leave_out=()):
    """Returns everything in a group."""
    found = {}

    def note(name, node):
        if name in leave_out:
            return
        attributes = {key: plain(f, value) for key, value in node.attrs.items()}
        if hasattr(node, "shape"):
            value = node[()] if node.shape is not None else "empty"
            value = plain(f, np.asarray(value)) if value is not None else None
            found[name] = (node.shape, str(node.dtype), node.chunks, plain(f, node.fillvalue), value, attributes)
        else:
            found[name] = (type(node).__name__, list(node) if hasattr(node, "keys") else str(node.dtype), attributes)

    group.visititems(note)
    if "links" not in group:
        return found
    links = {name: group.get(f"links/{name}", getlink=True) for name in ("soft", "out")}
    found["links"] = links["soft"].path, links["out"].filename, links["out"].path
    found["attributes"] = {key: plain(f, value) for key, value in group.attrs.items()}
    return found


@pytest.fixture(scope="module", params=SOURCES, ids=NAMES)
def source(request, tmp_path_factory):
    """A file, its sizes, and what h5py finds in it, or in a file with addresses of 8 bytes."""
    libver, sizes = request.param
    folder = tmp_path_factory.mktemp("sources")
    found = []
    for name, of_sizes in (("from.h5", sizes), ("usual.h5", (8, 8))):
        with create(folder / name, of_sizes, libver) as f:
            fill(f, of_sizes)
        with h5py.File(folder / name) as f:
            found.append(contents(f, f["all"]))
    expected = found[0] if sizes[0] == 16 else {name: found[1][name] for name in found[0]}
    assert found[0] == expected
    return folder / "from.h5", request.param, expected


def test_files_of_every_width_are_read(source):
    path, _, expected = source
    with hs.File(path) as f:
        assert contents(f, f["all"]) == expected
        assert [finding.message for finding in hs.check(path, data=True) if finding.severity == "error"] == []


@pytest.mark.parametrize("to", [(4, 4), (8, 2), (8, 8)])
def test_copies_between_files_of_every_width_are_read_by_h5py(tmp_path, source, to):
    path, (libver, sizes), expected = source
    create(tmp_path / "to.h5", to).close()
    others = ["dense", "ordered"] if min(sizes[1], to[1]) > 2 else []
    others += ["far"] if (sizes[1], to[1]) == (8, 8) else []
    with hs.File(path) as f, hs.File(tmp_path / "to.h5", "r+") as target:
        target.copy(f["all"], "all", expand_refs=True)
        for name in others:
            target.copy(f[name], name)
        assert contents(target, target["all"]) == expected
    if libver == "latest" and to[1] == 2:
        return
    with h5py.File(tmp_path / "to.h5") as f:
        leave_out = () if to[0] == 8 else ("refs", "regions", "pairs")
        expected = {name: value for name, value in expected.items() if name not in leave_out}
        assert contents(f, f["all"], leave_out) == expected
        assert f.id.get_create_plist().get_sizes() == to
        assert sorted(f) == sorted(["all", *others])
        if "dense" in others:
            assert list(f["ordered"]) == list("zyx")
            assert dict(f["dense"].attrs) == {f"a{n}": f"value {n}" for n in range(20)}
        if "far" in others:
            assert f["far"].maxshape == (None,) and f["far"][:].tolist() == list(range(30))


def test_references_become_null_in_a_copy_without_their_targets(tmp_path, source):
    with hs.File(source[0]) as f, hs.File(tmp_path / "to.h5", "w") as target:
        target.copy(f["all/records"], "records")
        target.copy(f["all/ref"], "ref")
    with h5py.File(tmp_path / "to.h5") as f:
        assert not f["ref"][()] and not any(f["records"]["ref"])
        assert [row["name"] for row in f["records"][:]] == [f"record {n}".encode() for n in range(4)]
        assert f["records"]["last"].tolist() == [200, 201, 202, 203]


@pytest.mark.parametrize("options", [(), ("--filter", "shuffle", "--filter", "zstd"), ("--chunks", "auto")])
def test_files_of_every_width_are_repacked(tmp_path, source, options):
    path, _, expected = source
    assert run_cli(["hyperslab", "repack", str(path), str(tmp_path / "new.h5"), *options]) == 0
    with h5py.File(tmp_path / "new.h5") as f:
        found = contents(f, f["all"])
        for name, (shape, dtype, _, *rest) in ((n, v) for n, v in expected.items() if len(v) == 6):
            assert found[name][:2] + found[name][3:] == (shape, dtype, *rest), name


def test_what_does_not_fit_in_narrow_lengths_is_refused(tmp_path):
    with h5py.File(tmp_path / "from.h5", "w") as f:
        f.create_dataset("long", (70_000,), "u1", chunks=(10_000,))
        f.create_dataset("grows", (3,), "u1", chunks=(10,), maxshape=(65_535,))
        f.create_dataset("far", (3,), "u1", chunks=(10,), maxshape=(None,))
        f["large"] = np.zeros((300, 300), "u1")
        f["whole"] = np.arange(60_000, dtype="u1")
    create(tmp_path / "to.h5", (4, 2)).close()
    with hs.File(tmp_path / "from.h5") as f, hs.File(tmp_path / "to.h5", "r+") as to:
        for name in ("long", "grows", "large"):
            with pytest.raises(ValueError, match="too narrow"):
                to.copy(f[name], name)
        to.copy(f["far"], "far")
        to.copy(f["whole"], "whole")
        with pytest.raises(ValueError, match="too narrow"):
            to.create_dataset("new", (65_535,), "u1", chunks=(10,))
        with pytest.raises(ValueError, match="too narrow"):
            to["far"].resize((65_535,))
        with pytest.raises(ValueError, match="too narrow"):
            to.attrs["long"] = np.zeros(65_535, "u1")
        to["far"].resize((65_534,))
        assert sorted(to) == ["far", "whole"] and not to.attrs
    with h5py.File(tmp_path / "to.h5") as f:
        assert f["far"].shape == (65_534,)
        assert np.array_equal(f["whole"], np.arange(60_000, dtype="u1"))


def test_files_with_two_byte_addresses_are_only_read(tmp_path):
    create(tmp_path / "to.h5", (2, 8)).close()
    file = hs.File(tmp_path / "to.h5", "r+")
    file.create_group("new")
    with pytest.raises(NotImplementedError, match="addresses of 2 bytes"):
        file.close()
    with h5py.File(tmp_path / "to.h5") as f:
        assert not list(f)


def test_sizes_of_sixteen_bytes(tmp_path):
    path = tmp_path / "wide.h5"
    with create(path, (16, 8), "latest") as f:
        f["x"] = np.arange(5)
    with pytest.raises(NotImplementedError, match="addresses of 16 bytes"):
        hs.File(path, "r+")
    content = bytearray(path.read_bytes())
    # The upper half of the End of File Address.
    content[12 + 2 * 16 + 8] = 1
    with pytest.raises(hs.FormatError, match="upper half of an address.*0x0"):
        hs.File.from_bytes(bytes(content))
    content[10] = 16
    with pytest.raises(NotImplementedError, match="lengths of 16 bytes"):
        hs.File.from_bytes(bytes(content))
