"""Runs the same expressions with both modules, and compares results and classes of exceptions."""

import io

import h5py
import numpy as np
import pytest
from support import IS_H5PY, assert_same, assert_same_outcome, hs, outcome, public_class

FAULTS = [
    "f['nope']",
    "f['g/nope']",
    "f['d/x']",
    "f['']",
    "f[1]",
    "f[None]",
    "f['dangling']",
    "f['loop']",
    "f.attrs['nope']",
    "f['d'].attrs['nope']",
    "list(f.items())",
    "list(f.values())",
    "f['d'][99]",
    "f['d'][-99]",
    "f['d'][0, 0, 0]",
    "f['d'][..., ...]",
    "f['d'][::-1]",
    "f['d'][::0]",
    "f['d'][1.5]",
    "f['d']['a']",
    "f['d'][[3, 1]]",
    "f['d'][[1, 1]]",
    "f['d'][[99]]",
    "f['d'][[0], [1]]",
    "f['d'][None]",
    "f['d'][np.ones(3, bool)]",
    "f['d'][np.ones((2, 2), bool)]",
    "f['d'][{}]",
    "f['d'][1:2, 'x']",
    "f['c']['nope']",
    "f['c']['a', 'nope']",
    "f['s'][0]",
    "f['s'][:]",
    "f['s'][1, 2]",
    "f['e'][0]",
    "len(f['s'])",
    "len(f['e'])",
    "bool(f)",
    "f['g'][...]",
    "f['d'].astype('nope')",
    "f['d'].asstr()",
    "f['d'].fields('a')",
    "f['c'].fields('nope')[:]",
    "list(f['s'])",
    "f['d'].iter_chunks()",
    "list(f['k'].iter_chunks(np.s_[3:9]))",
    "f['k'].len()",
    "f.get('nope')",
    "f.get('nope', 5)",
    "f['d'].make_scale",
    "f['g'].attrs.get('x', 1)",
    "next(iter(f['g']))",
    "f['d'].nope",
    "f.visit(1)",
    "h['File'](3.5, 'r')",
    "h['File']('/no/such/file.h5', 'r')",
    "h['File']('/', 'r')",
    "h['File'](f.filename, 'nope')",
    "f['d'].id.get_chunk_info(0)",
    "f['k'].id.get_chunk_info(999)",
    "f['k'].id.read_direct_chunk((1, 1))",
    "f['k'].id.read_direct_chunk((400, 0))",
    "f['d'].read_direct(np.zeros(3))",
    "f['d'].read_direct(np.zeros((3, 4), 'i4'), np.s_[:9], np.s_[:2])",
    "np.asarray(f['t'], dtype='i4')",
    "f['external_missing']",
    "f[b'd'].shape",
    "f['d'].resize((3, 3))",
    "f.create_group('x')",
    "f.create_dataset('x', data=1)",
    "f['d'].make_scale('x')",
    "f['k'].resize((3, 3))",
    "f['d'].write_direct(np.zeros((3, 4), 'i4'))",
    "f.move('d', 'x')",
    "f.attrs.create('x', 1)",
    "f.attrs.modify('number', 1)",
    "f['d'].__setitem__(0, 1)",
    "f.attrs.__setitem__('x', 1)",
    "f.__delitem__('d')",
    "f.attrs.__delitem__('title')",
]

RESULTS = [
    "list(f)",
    "list(f.keys())",
    "[k for k, v in f['g'].items()]",
    "[v.name for v in f['g'].values()]",
    "len(f)",
    "'d' in f",
    "'g/sub/deep' in f",
    "'nope' in f",
    "'dangling' in f",
    "'/' in f",
    "'' in f",
    "'g/' in f",
    "'/g/sub' in f['g']",
    "f.name",
    "f['g'].name",
    "f['g/sub/deep'].name",
    "f['/g//sub/./deep'].name",
    "f['g']['/d'].name",
    "f['soft'].name",
    "f['g'].parent.name",
    "f['g/sub/deep'].parent.name",
    "f.parent.name",
    "f['g'].file.name",
    "f.mode",
    "f['d'] == f['d']",
    "f['d'] == f['hard']",
    "f['d'] == f['g']",
    "f['g'] == f['/g']",
    "hash(f['d']) == hash(f['hard'])",
    "bool(f)",
    "bool(f['g'])",
    "f.libver",
    "f.userblock_size",
    "f.swmr_mode",
    "f.get('d', getclass=True).__name__",
    "f.get('g', getclass=True).__name__",
    "f.get('soft', getlink=True).path",
    "f.get('external', getlink=True).filename",
    "f.get('external', getlink=True).path",
    "f.get('d', getlink=True, getclass=True).__name__",
    "f.get('nope', 'default')",
    "f.get('nope', 'default', getclass=True)",
    "f.get('named', getclass=True).__name__",
    "f['named'].dtype",
    "f['d'].shape",
    "f['d'].dtype",
    "f['d'].size",
    "f['d'].ndim",
    "f['d'].nbytes",
    "len(f['d'])",
    "f['d'].len()",
    "f['d'].maxshape",
    "f['k'].maxshape",
    "f['k'].chunks",
    "f['d'].chunks",
    "f['k'].compression",
    "f['k'].compression_opts",
    "f['k'].shuffle",
    "f['k'].fletcher32",
    "f['k'].fillvalue",
    "f['d'].fillvalue",
    "f['s'].shape",
    "f['e'].shape",
    "f['e'].size",
    "f['d'].is_virtual",
    "f['d'].scaleoffset",
    "f['d'].external",
    "np.asarray(f['d'])",
    "np.array(f['d'], dtype='f8')",
    "f['d'][2]",
    "[row.tolist() for row in f['d']]",
    "f['d'].astype('f4')[1:3]",
    "f['d'].astype('i8')[...]",
    "f['t'].asstr()[:]",
    "f['t'].asstr()[0]",
    "f['t'].asstr('ascii', errors='replace')[:]",
    "f['t'][0]",
    "f['t'][:].tolist()",
    "f['fixed'].asstr()[:]",
    "f['fixed'][1]",
    "f['c'].fields('a')[:]",
    "f['c'].fields(['a', 'b'])[1:3]",
    "f['c']['a']",
    "f['c'][1]",
    "f['c'][1]['b']",
    "f['scalar_text'][()]",
    "f['scalar_text'].asstr()[()]",
    "f['s'][()]",
    "f['bool'][:]",
    "f['enum'][:]",
    "f['enum'].dtype",
    "f['v'][1]",
    "f['v'][:].tolist().__len__()",
    "f['complex'][:]",
    "f['o'][0]",
    "f['empty_strings'][:]",
    "list(f.attrs)",
    "len(f.attrs)",
    "f.attrs['title']",
    "f.attrs['number']",
    "f.attrs['array']",
    "f.attrs['empty'].dtype",
    "f.attrs['texts'].tolist()",
    "f.attrs.get('nope')",
    "'title' in f.attrs",
    "'nope' in f.attrs",
    "sorted(f.attrs.keys())",
    "[type(v).__name__ for v in f.attrs.values()]",
    "[k for k, v in f.attrs.items()]",
    "f.attrs['bool']",
    "f.attrs['bytes']",
    "f['g'].attrs.get('nope', 3)",
    "list(f['g'].attrs)",
    "f['k'].id.get_num_chunks()",
    "tuple(f['k'].id.get_chunk_info(0))",
    "tuple(f['k'].id.get_chunk_info_by_coord((4, 0)))",
    "f['k'].id.read_direct_chunk((0, 0))",
    "[s for s in f['k'].iter_chunks()]",
    "[s for s in f['k'].iter_chunks(np.s_[3:9, 2:4])]",
    "f['d'].id.get_offset() > 0",
    "f['k'].id.get_storage_size()",
    "f['d'].id.get_storage_size()",
    "f[f['refs'][0]].name",
    "f[f['d'].ref].name",
    "bool(f['refs'][1])",
    "f['d'].attrs['owner'] and f[f['d'].attrs['owner']].name",
    "[d.label for d in f['d'].dims]",
    "len(f['d'].dims)",
    "f['external'][:]",
    "f['g/up'].name",
    "repr(f['d'])",
    "repr(f['g'])",
    "str(f['k'])",
    "f['d'].regionref is not None",
    "f['d'][np.s_[1:3], 2]",
    "f['d'][()].flags.c_contiguous",
    "f['k'][2:9:3, 1]",
    "f.track_order if hasattr(f, 'track_order') else None",
]


def write(f):
    f.attrs["title"], f.attrs["number"], f.attrs["array"], f.attrs["empty"] = (
        "a title",
        5,
        np.arange(3.0),
        h5py.Empty("<f4"),
    )
    f.attrs["texts"], f.attrs["bool"], f.attrs["bytes"] = ["a", "bc"], True, np.bytes_(b"raw")
    f["d"] = np.arange(12, dtype="<i4").reshape(3, 4)
    f.create_dataset(
        "k",
        data=np.arange(40, dtype=">i2").reshape(10, 4),
        chunks=(4, 3),
        maxshape=(None, 4),
        compression="gzip",
        shuffle=True,
        fletcher32=True,
        fillvalue=7,
    )
    f.create_group("g/sub/deep")
    f["hard"], f["soft"], f["dangling"] = f["d"], h5py.SoftLink("/g/sub"), h5py.SoftLink("/nope")
    f["loop"], f["g/up"] = h5py.SoftLink("/loop"), h5py.SoftLink("/d")
    f["external_missing"] = h5py.ExternalLink("no such file.h5", "/x")
    f["s"], f["e"], f["scalar_text"], f["bool"] = 3, h5py.Empty("<i4"), "one", np.array([True, False])
    f["c"] = np.array([(1, 2.5, b"x"), (2, 3.5, b"y"), (3, 4.5, b"z")], [("a", "<i4"), ("b", ">f8"), ("c", "S2")])
    f["t"], f["fixed"], f["empty_strings"] = ["one", "", "drei ü"], np.array([b"ab", b"c"]), np.array([b"", b""], "S4")
    f.create_dataset("enum", data=np.array([0, 2, 1]), dtype=h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, "u1"))
    v = f.create_dataset("v", (3,), h5py.vlen_dtype(np.dtype("<i4")))
    v[1], v[2] = [1, 2], [3]
    f["complex"], f["o"], f["named"] = (
        np.array([1 + 2j, 3 - 4j]),
        np.array([b"\x01\x02"], "V2"),
        np.dtype([("x", "<i4")]),
    )
    r = f.create_dataset("refs", (2,), h5py.ref_dtype)
    r[0] = f["g"].ref
    f["d"].attrs["owner"] = f["g"].ref
    f["d"].dims[0].label = "rows"


@pytest.fixture(scope="module", params=["earliest", "latest"])
def names(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("parity")
    with h5py.File(directory / "other.h5", "w") as f:
        f["there"] = np.arange(4)
    with h5py.File(directory / "f.h5", "w", libver=request.param) as f:
        write(f)
        f["external"] = h5py.ExternalLink("other.h5", "/there")
    ours, theirs = hs.File(directory / "f.h5", "r"), h5py.File(directory / "f.h5", "r")
    yield {"f": ours, "h": vars(hs), "np": np}, {"f": theirs, "h": vars(h5py), "np": np}
    ours.close()
    theirs.close()


def plain(value):
    """Returns a result in a comparable form: tuples as lists, and one name for both modules in texts."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, str):
        return value.replace("hyperslab", "h5py")
    return value


@pytest.mark.parametrize("program", RESULTS)
def test_an_expression_gives_the_result_of_h5py(names, program):
    ours, theirs = (eval(program, side) for side in names)  # noqa: S307
    ours, theirs = plain(ours), plain(theirs)
    if isinstance(theirs, list):
        assert ours == theirs
    else:
        assert_same(ours, theirs)


@pytest.mark.parametrize("program", FAULTS)
def test_an_invalid_call_raises_the_class_that_h5py_raises(names, program):
    (kind, found), (expected_kind, expected) = (outcome(eval, program, side) for side in names)
    if expected_kind == "value":
        assert kind == "value", f"{found!r}, but h5py returns {expected!r}"
        return
    assert kind == "raised", f"{found!r}, but h5py raises {expected!r}"
    allowed = (public_class(expected), *ALSO_ALLOWED.get(program, ()))
    assert isinstance(found, allowed), f"{found!r}, but h5py raises {expected!r}"
    assert str(found), "the error has no message"


# Other classes that are allowed because they are clearer than the class of h5py.
ALSO_ALLOWED = {
    "f['d'].id.get_chunk_info(0)": (TypeError, ValueError, OSError, RuntimeError),
    "f['k'].id.get_chunk_info(999)": (IndexError, ValueError, OSError),
    "f['k'].id.read_direct_chunk((400, 0))": (ValueError, OSError, KeyError),
    "f['k'].id.read_direct_chunk((1, 1))": (ValueError, OSError, KeyError),
    "f['d'][{}]": (TypeError,),
    "f['d'][1.5]": (TypeError, IndexError),
    "f['d'][None]": (TypeError, IndexError),
    "f['d'].asstr()": (TypeError,),
}


def test_visit_and_visititems_visit_every_object_once_in_the_order_of_h5py(names):
    for method in ("visit", "visititems", "visit_links", "visititems_links"):
        seen = []
        for side in names:
            found = []
            getattr(side["f"], method)(
                lambda name, *rest, found=found: found.append((name, *(type(r).__name__ for r in rest)))
            )
            seen.append(found)
        assert seen[0] == seen[1], method


def test_visit_stops_at_the_first_result_that_is_not_none(names):
    for side in names:
        assert side["f"].visit(lambda name: name if name.startswith("g/") else None) == "g/sub"
        assert side["f"].visititems(lambda name, node: node.shape if name == "d" else None) == (3, 4)


def test_links_are_objects_of_the_module(names):
    f = names[0]["f"]
    assert isinstance(f.get("soft", getlink=True), hs.SoftLink)
    assert isinstance(f.get("external", getlink=True), hs.ExternalLink)
    assert isinstance(f.get("d", getlink=True), hs.HardLink)
    assert f.get("d", getlink=True, getclass=True) is hs.HardLink
    assert f.get("d", getclass=True) is hs.Dataset and f.get("g", getclass=True) is hs.Group


def test_classes_are_related_as_in_h5py(names):
    f = names[0]["f"]
    assert (
        isinstance(f, hs.File)
        and isinstance(f, hs.Group)
        and isinstance(f["d"], hs.Dataset)
        and isinstance(f["named"], hs.Datatype)
    )
    assert issubclass(hs.File, hs.Group)
    assert isinstance(f["refs"][0], hs.Reference)
    assert isinstance(f.attrs["empty"], hs.Empty)


def test_a_closed_file_is_false_and_cannot_be_read(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["d"] = np.arange(5)
    results = []
    for module in (hs, h5py):
        with module.File(tmp_path / "f.h5", "r") as f:
            d = f["d"]
        results.append(
            (
                bool(f),
                bool(d),
                outcome(lambda: f["d"])[0],
                outcome(lambda: d[0])[0],
                repr(f).replace("hyperslab", "h5py"),
            )
        )
    assert results[0] == results[1]


def test_objects_opened_by_different_names_are_equal(names):
    f = names[0]["f"]
    assert f["d"] == f["hard"] and f["d"] != f["k"]
    assert len({f["d"], f["hard"], f["k"]}) == 2


@pytest.mark.parametrize(
    "program",
    [
        "string_dtype()",
        "string_dtype('ascii')",
        "string_dtype('utf-8', 10)",
        "string_dtype('ascii', 3)",
        "vlen_dtype(np.dtype('i4'))",
        "enum_dtype({'A': 0, 'B': 1})",
        "enum_dtype({'A': 0}, 'u2')",
        "special_dtype(vlen=str)",
        "special_dtype(vlen=bytes)",
        "special_dtype(vlen=np.dtype('f4'))",
        "special_dtype(enum=('i', {'A': 1}))",
        "string_dtype('latin-1')",
        "string_dtype(length='x')",
        "special_dtype()",
        "special_dtype(nope=1)",
        "vlen_dtype(str)",
        "ref_dtype",
    ],
)
def test_special_types_are_created_as_in_h5py(program):
    (kind, ours), (expected_kind, theirs) = (
        outcome(eval, program, {**vars(module), "np": np}) for module in (hs, h5py)
    )
    assert kind == expected_kind, f"{ours!r}; h5py: {theirs!r}"
    if kind == "raised":
        assert isinstance(ours, public_class(theirs))
        return
    assert ours == theirs
    assert hs.check_string_dtype(ours) == h5py.check_string_dtype(theirs)
    assert hs.check_enum_dtype(ours) == h5py.check_enum_dtype(theirs)
    assert hs.check_vlen_dtype(ours) == h5py.check_vlen_dtype(theirs)
    for keyword in ("vlen", "enum"):
        assert hs.check_dtype(**{keyword: ours}) == h5py.check_dtype(**{keyword: theirs})


def test_the_error_of_opening_a_file_has_the_path_and_the_reason(tmp_path):
    if IS_H5PY:
        return
    (tmp_path / "text.h5").write_bytes(b"text" * 1000)
    with pytest.raises(
        FileNotFoundError, match=r"^\[Errno 2\] Unable to open file '/no/such.h5': no such file or directory$"
    ):
        hs.File("/no/such.h5", "r")
    with pytest.raises(hs.FormatError, match=r"text.h5': not an HDF5 file: no signature at 0, 512, 1024, 2048, \.\.\."):
        hs.File(tmp_path / "text.h5", "r")


@pytest.mark.damages
def test_a_file_that_is_not_hdf5_is_an_oserror(tmp_path):
    for content in (b"", b"x", b"not HDF5" * 1000, b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(100)):
        path = tmp_path / "bad.h5"
        path.write_bytes(content)
        for module in (hs, h5py):
            with pytest.raises(OSError):
                module.File(path, "r")
        with pytest.raises(OSError):
            hs.File(io.BytesIO(content), "r")


def test_format_error_is_an_oserror():
    if not IS_H5PY:
        assert issubclass(hs.FormatError, OSError)


def test_is_hdf5_is_true_only_for_hdf5_files(tmp_path):
    with h5py.File(tmp_path / "yes.h5", "w", userblock_size=512):
        pass
    (tmp_path / "no.h5").write_bytes(b"no")
    assert (
        hs.is_hdf5(tmp_path / "yes.h5")
        and not hs.is_hdf5(tmp_path / "no.h5")
        and not hs.is_hdf5(tmp_path / "missing.h5")
    )


@pytest.mark.parametrize("name", ["links_earliest.h5", "links_latest.h5", "dense_kinds.h5"])
def test_golden_links_resolve_or_fail_alike(both, name):
    ours, theirs = both(name)
    for path in [
        *theirs,
        "soft_group/numbers",
        "data/root/data/numbers",
        "external_group/values",
        "external_group/back",
        "data/up",
        "nope/deeper",
        "data/numbers/x",
    ]:
        assert_same_outcome(
            lambda f, path: f[path][()] if hasattr(f[path], "shape") else f[path].name, (ours, path), (theirs, path)
        )
        assert (path in ours) == (path in theirs), path
