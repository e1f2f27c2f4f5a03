"""References to chunks: the arrays that Zarr reads with them are those of the file."""

import gc
import json
import os
import re
import warnings

import fsspec
import h5py
import hyperslab as hs
import numpy as np
import pytest
import xarray as xr
import zarr
from hyperslab._native import run_cli
from support import DAMAGED_FILES, IS_H5PY, WHOLE_FILES

pytestmark = [
    pytest.mark.skipif(IS_H5PY, reason="h5py has no references"),
    pytest.mark.filterwarnings("ignore"),
]
# A part of each reason why a golden file's datasets are left out.
REASONS = (
    "arrays inside records",
    "as these of",
    "complex numbers with such parts",
    "gaps between their members",
    "have a meaning only in the HDF5 file",
    "its source",
    "its strings are embedded",
    "no codec for",
    "no dataspace",
    "no integers of",
    "no times",
    "not in the chunks",
    "shuffle after another filter",
    "VAX order",
    "external",
    "stored without some of the filters",
)

# More chunks of an array are not all read.
MANY = 400


def opened(references, **options):
    """Opens references, which are a dictionary or the path of a folder, with Zarr."""
    fs = fsspec.filesystem(
        "reference",
        fo=references,
        asynchronous=True,
        remote_options={"asynchronous": True},
        **options,
        skip_instance_cache=True,
    )
    return zarr.open_group(zarr.storage.FsspecStore(fs, read_only=True), mode="r", zarr_format=2)


def paths_of(references):
    """Returns the paths of the arrays of kerchunk's dictionary."""
    return [key.removesuffix("/.zarray") for key in references["refs"] if key.endswith("/.zarray")]


def assert_same(array, dataset):
    """Asserts that Zarr's array has the elements of a dataset, byte by byte.

    Of arrays with many chunks, which Zarr reads slowly, the first and the last are compared.
    """
    parts = [...]
    if array.ndim and array.nchunks > MANY:
        rows = max(1, array.shape[0] * MANY // array.nchunks // 2)
        parts = [slice(rows), slice(array.shape[0] - rows, None)]
    for part in parts:
        assert_same_part(array, dataset, part)


def assert_same_part(array, dataset, part):
    """Asserts that a part of Zarr's array has the elements of the same part of a dataset."""
    theirs = np.asarray(array[part])
    if dataset.dtype.kind == "O":
        ours = np.asarray(dataset.asstr()[part])
        assert theirs.astype(object).tolist() == ours.tolist()
        return
    ours = np.asarray(dataset[part])
    assert theirs.shape == ours.shape
    assert theirs.dtype.itemsize == ours.dtype.itemsize
    # NumPy's strings have no zeros at their end, whatever is stored there.
    is_bytes = theirs.dtype.kind == "V" and theirs.dtype.names is None
    assert (theirs if is_bytes else theirs.astype(ours.dtype)).tobytes() == ours.tobytes()


def assert_all_same(references, group, file):
    """Asserts that all arrays have the elements of the datasets."""
    for path in paths_of(references):
        assert_same(group[path], file[path])


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_zarr_reads_the_elements_of_a_golden_file(golden, name):
    path = golden / name
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            references = hs.references(path, skip_unsupported=True)
        except (OSError, ValueError) as error:
            # A member of a file that has several, which `hs.File` refuses as well.
            with pytest.raises(type(error)):
                hs.File(path)
            return
    for line in (line for warning in said for line in str(warning.message).splitlines()[1:]):
        assert any(reason in line for reason in REASONS), line
    with hs.File(path) as file:
        assert_all_same(references, opened(references), file)


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_a_damaged_file_gives_an_error_or_references_into_it(golden, name):
    path = golden / name
    try:
        references = hs.references(path, skip_unsupported=True)
    except (OSError, ValueError, RuntimeError, KeyError):
        return
    size = os.path.getsize(path)
    for found in references["refs"].values():
        assert isinstance(found, str) or found[1] + found[2] <= size


def kerchunk_of(path):
    """Returns kerchunk's references of a file."""
    from kerchunk.hdf import SingleHdf5ToZarr

    # An object of h5py that is collected in Zarr's thread waits for the lock that kerchunk holds.
    gc.collect()
    gc.disable()
    try:
        found = SingleHdf5ToZarr(os.fspath(path), inline_threshold=0, error="raise").translate()
    finally:
        gc.enable()
    return found["refs"]


def write_climate(path, **options):
    """Writes a file with h5py that kerchunk understands."""
    with h5py.File(path, "w", **options) as file:
        file.attrs.update(title="héllo", count=np.int32(5), range=[1.5, np.nan], flag=True, code=np.bytes_("abc"))
        file.attrs.update(names=["x", "yy"], few=np.array([3]), single=np.float32(0.1), none=h5py.Empty("f4"))
        group = file.create_group("below")
        group.attrs["codes"] = np.array([b"a", b"bc"])
        time = file.create_dataset("time", data=np.arange(6.0), chunks=(4,), compression="gzip")
        time.make_scale("time")
        values = np.arange(42, dtype=">i4").reshape(6, 7)
        t2m = file.create_dataset("t2m", data=values, chunks=(4, 4), compression="gzip", shuffle=True)
        t2m.dims[0].attach_scale(time)
        t2m.attrs["units"] = "K"
        file.create_dataset("contiguous", data=np.arange(1000.0))
        file.create_dataset("scalar", data=3.5)
        file.create_dataset("flags", data=[True, False, True], chunks=(2,))
        file.create_dataset("complex", data=[1 + 2j, 3], chunks=(2,))
        file.create_dataset("sparse", shape=(9,), dtype="f4", chunks=(2,), fillvalue=np.nan)[3:5] = 1
        file.create_dataset("unsigned", shape=(4,), dtype="u8", chunks=(2,), fillvalue=2**64 - 1)
        file.create_dataset("empty", shape=(0, 4), dtype="i2", chunks=(1, 4), maxshape=(None, 4))


def test_the_references_are_those_of_kerchunk(tmp_path):
    path = tmp_path / "climate.h5"
    write_climate(path)
    ours, theirs = hs.references(path)["refs"], kerchunk_of(path)
    assert ours.keys() == theirs.keys()
    for key in ours:
        name = key.rpartition("/")[2]
        if name == ".zarray":
            mine, other = json.loads(ours[key]), json.loads(theirs[key])
            if mine["fill_value"] is None:
                # Every chunk is stored, so there is nothing to fill, and xarray must not mask zeros.
                del mine["fill_value"], other["fill_value"]
            assert repr(mine) == repr(dict(sorted(other.items()))), key
        elif name == ".zattrs":
            mine, other = json.loads(ours[key]), json.loads(theirs[key])
            for found in (mine, other):
                # kerchunk's number is that of the axis, netCDF's that of the dimension.
                dims = found.pop("_ARRAY_DIMENSIONS", ())
                found["dims"] = [re.sub(r"phony_dim_\d+", "phony", dim) for dim in dims]
            assert repr(sorted(mine.items())) == repr(sorted(other.items())), key
        elif isinstance(ours[key], list):
            assert ours[key] == theirs[key], key


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("userblock_size", [0, 1024])
def test_addresses_count_from_the_user_block_and_references_from_the_file(tmp_path, libver, userblock_size):
    path = tmp_path / "climate.h5"
    write_climate(path, libver=libver, userblock_size=userblock_size)
    references = hs.references(path, inline_threshold=20)
    with h5py.File(path) as file:
        assert_all_same(references, opened(references), file)


@pytest.mark.whole
def test_parquet_has_the_same_references(tmp_path):
    path, target = tmp_path / "climate.h5", tmp_path / "climate.parq"
    write_climate(path, libver="latest")
    with h5py.File(path, "a", libver="latest") as file:
        # The index of chunks counts those of the unlimited axis first.
        wide = file.create_dataset("wide", shape=(5, 9), maxshape=(5, None), chunks=(1, 2), dtype="i4")
        wide[...] = np.arange(45).reshape(5, 9)
        # Whole files of Parquet have no reference.
        file.create_dataset("holes", shape=(1000,), chunks=(1,), dtype="u1")[[3, 500]] = 7
        file.create_dataset("texts", data=["a", "zwei", "drei"], dtype=h5py.string_dtype())
    command = ["hyperslab", "refs", str(path), "-o", str(target), "--format", "parquet"]
    assert run_cli([*command, "--record-size", "4", "--inline", "20"]) == 0
    assert not (target / "holes" / "refs.1.parq").exists()
    with h5py.File(path) as file:
        assert_all_same(hs.references(path), opened(str(target), remote_protocol="file"), file)
    assert run_cli(command) == 1


@pytest.mark.whole
@pytest.mark.parametrize("name", ["..", "a/../.."])
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file[name] = np.arange(3)
    command = ["hyperslab", "refs", str(tmp_path / "a.h5"), "-o", str(tmp_path / "refs"), "--format", "parquet"]
    assert run_cli(command) == 1
    assert os.listdir(tmp_path) == ["a.h5"]


def test_the_command_writes_the_json_of_the_function(tmp_path):
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path in paths:
        write_climate(path)
    url = "s3://archive/2024/"
    assert run_cli(["hyperslab", "refs", *map(str, paths), "--out-dir", str(tmp_path / "out"), "--url", url]) == 0
    for path in paths:
        written = json.loads((tmp_path / "out" / f"{path.stem}.json").read_text())
        expected = hs.references(path, url=url + path.name)
        assert written == expected
        assert list(written["refs"]) == list(expected["refs"])
        assert written["refs"]["t2m/0.0"][0] == url + path.name


def test_a_group_is_a_root(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/below/x"] = [1, 2]
        file["other"] = [3]
    with hs.File(tmp_path / "a.h5") as file:
        assert paths_of(hs.references(file["g"])) == ["below/x"]


def test_changes_of_an_open_file_are_referenced(tmp_path):
    with hs.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", shape=(8,), chunks=(4,), dtype="i4", compression="gzip")
        dataset[...] = np.arange(8)
        dataset[1] = 50
        references = hs.references(file)
        assert opened(references)["x"][...].tolist() == dataset[...].tolist()


def test_strings_that_spaces_fill_are_embedded_without_them(tmp_path):
    path = tmp_path / "a.h5"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(4)
    kind.set_strpad(h5py.h5t.STR_SPACEPAD)
    with h5py.File(path, "w") as file:
        dataset = h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((3,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"a", b"b c", b""], "S4"))
    references = hs.references(path)
    assert opened(references)["x"][...].tolist() == [b"a", b"b c", b""]
    with pytest.raises(ValueError, match="spaces fill"):
        hs.references(path, embed=11)


def test_bytes_need_a_url(tmp_path):
    write_climate(tmp_path / "a.h5")
    with hs.File.from_bytes((tmp_path / "a.h5").read_bytes()) as file:
        with pytest.raises(ValueError, match="URL"):
            hs.references(file)
        refs = hs.references(file, url="https://data.example/a.h5")["refs"]
    assert refs["t2m/0.0"] == ["https://data.example/a.h5", *hs.references(tmp_path / "a.h5")["refs"]["t2m/0.0"][1:]]


def test_contiguous_data_are_split_into_equal_chunks(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(2400, dtype="f8").reshape(30, 80)
    references = hs.references(path, split=80 * 8 * 7)
    assert json.loads(references["refs"]["x/.zarray"])["chunks"] == [6, 80]
    with h5py.File(path) as file:
        assert_all_same(references, opened(references), file)


def test_chunks_that_skipped_filters_are_embedded_or_refused(tmp_path):
    path = tmp_path / "a.h5"
    noise = np.random.default_rng(5).integers(0, 256, 4000, dtype="u1")
    with h5py.File(path, "w") as file:
        options = {"chunks": (1000,), "compression": "gzip", "shuffle": True, "dtype": "u1", "fletcher32": True}
        mixed = file.create_dataset("mixed", data=np.arange(4000) % 7, **options)
        mixed.id.write_direct_chunk((1000,), noise[:1000].tobytes(), filter_mask=7)
        alike = file.create_dataset("alike", shape=(2000,), **{**options, "fletcher32": False})
        for start in (0, 1000):
            alike.id.write_direct_chunk((start,), noise[start : start + 1000].tobytes(), filter_mask=2)
    references = hs.references(path)
    assert isinstance(references["refs"]["mixed/1"], str)
    assert isinstance(references["refs"]["mixed/0"], list)
    assert json.loads(references["refs"]["alike/.zarray"])["filters"] is None
    with h5py.File(path) as file:
        assert_all_same(references, opened(references), file)
    with pytest.raises(ValueError, match="mixed: 1 of its 4 chunks"):
        hs.references(path, embed=999)


def test_codecs_of_imagecodecs_are_used_on_demand(tmp_path):
    import hdf5plugin
    from imagecodecs.numcodecs import register_codecs

    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(5000) % 9, chunks=(999,), shuffle=True, **hdf5plugin.LZ4(nbytes=1000))
    with pytest.raises(ValueError, match="--imagecodecs"):
        hs.references(path)
    register_codecs(verbose=False)
    references = hs.references(path, imagecodecs=True)
    with h5py.File(path) as file:
        assert_all_same(references, opened(references), file)


def test_a_fill_value_marks_missing_values_only_if_the_file_says_so(tmp_path):
    path = tmp_path / "a.nc"
    values = xr.Dataset({"zeros": ("x", np.array([0.0, 1.0])), "marked": ("x", np.array([-1.0, np.nan]))})
    values["marked"].encoding["_FillValue"] = -9.0
    values["zeros"].encoding["_FillValue"] = None
    values.to_netcdf(path, engine="h5netcdf")
    references = hs.references(path)
    with xr.open_dataset(references, engine="kerchunk") as found, xr.open_dataset(path, engine="h5netcdf") as file:
        assert found["zeros"].dims == ("x",)
        xr.testing.assert_identical(found.load(), file.load())


@pytest.mark.damages
def test_a_chunk_outside_the_file_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_dataset("x", data=np.arange(10), chunks=(5,))
        place = file["x"].id.get_chunk_info(1).byte_offset
    content = path.read_bytes()
    pointer = place.to_bytes(8, "little")
    assert content.count(pointer) == 1
    path.write_bytes(content.replace(pointer, (2**40).to_bytes(8, "little")))
    with pytest.raises(hs.FormatError):
        hs.references(path)


class TestOtherFiles:
    """Datasets with elements in other files."""

    def test_external_data(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with h5py.File("a.h5", "w") as file:
            external = [(str(tmp_path / "raw.bin"), 8, h5py.h5f.UNLIMITED)]
            file.create_dataset("x", data=np.arange(6, dtype="i4"), external=external)
        references = hs.references("a.h5")
        assert references["refs"]["x/0"] == [str(tmp_path / "raw.bin"), 8, 24]
        refs = hs.references("a.h5", url="s3://there/a.h5")["refs"]
        assert refs["x/0"] == ["s3://there/raw.bin", 8, 24]
        with h5py.File("a.h5") as file:
            assert_all_same(references, opened(references), file)
        os.truncate("raw.bin", 20)
        with pytest.raises(ValueError, match="shorter"):
            hs.references("a.h5")

    def sources(self, folder, **options):
        """Writes three files of (6, 4) elements."""
        for k in range(3):
            with h5py.File(folder / f"part{k}.h5", "w") as file:
                values = 100 * k + np.arange(24, dtype="i4").reshape(6, 4)
                file.create_dataset("d", data=values, **options)
        return [h5py.VirtualSource(folder / f"part{k}.h5", "d", (6, 4)) for k in range(3)]

    @pytest.mark.parametrize("options", [{}, {"chunks": (2, 4), "compression": "gzip", "shuffle": True}])
    def test_a_virtual_dataset_of_whole_chunks(self, tmp_path, options):
        sources = self.sources(tmp_path, **options)
        beside, below = h5py.VirtualLayout((3, 6, 4), "i4"), h5py.VirtualLayout((20, 4), "i4")
        for k, source in enumerate(sources):
            beside[k] = source
            below[6 * k : 6 * k + 6] = source
        with h5py.File(tmp_path / "all.h5", "w") as file:
            file.create_virtual_dataset("beside", beside, fillvalue=-1)
            file.create_virtual_dataset("below", below, fillvalue=-1)
        references = hs.references(tmp_path / "all.h5")
        chunk = json.loads(references["refs"]["beside/.zarray"])["chunks"]
        assert chunk == ([1, 2, 4] if options else [1, 6, 4])
        with h5py.File(tmp_path / "all.h5") as file:
            assert_all_same(references, opened(references), file)

    def refused(self, folder, layout, why):
        with h5py.File(folder / "all.h5", "w") as file:
            file.create_virtual_dataset("v", layout, fillvalue=-1)
        with pytest.raises(ValueError, match=why):
            hs.references(folder / "all.h5")

    def test_a_virtual_dataset_of_parts_of_chunks_is_refused(self, tmp_path):
        sources = self.sources(tmp_path, chunks=(4, 4))
        layout = h5py.VirtualLayout((12, 4), "i4")
        layout[:6], layout[6:] = sources[:2]
        self.refused(tmp_path, layout, "bounds of chunks")
        # The last chunk has rows beyond the source, which the virtual dataset fills with -1.
        layout = h5py.VirtualLayout((8, 4), "i4")
        layout[:6] = sources[0]
        self.refused(tmp_path, layout, "bounds of chunks")
        layout = h5py.VirtualLayout((4, 4), "i4")
        layout[...] = sources[0][1:5]
        self.refused(tmp_path, layout, "bounds of chunks")

    def test_chunks_that_were_never_written_have_the_fill_value_of_their_file(self, tmp_path):
        with h5py.File(tmp_path / "part.h5", "w") as file:
            file.create_dataset("d", shape=(6,), chunks=(2,), dtype="i4", fillvalue=-7)[:2] = 1
        layout = h5py.VirtualLayout((6,), "i4")
        layout[...] = h5py.VirtualSource(tmp_path / "part.h5", "d", (6,))
        self.refused(tmp_path, layout, "another fill value")

    def test_virtual_datasets_that_are_no_chunks_are_refused(self, tmp_path):
        sources = self.sources(tmp_path, chunks=(2, 4))
        layout = h5py.VirtualLayout((6, 4), "f4")
        layout[...] = sources[0]
        self.refused(tmp_path, layout, "another datatype")
        layout = h5py.VirtualLayout((6, 4), "i4")
        layout[...] = sources[0]
        layout[2:4] = sources[1][2:4]
        self.refused(tmp_path, layout, "overlap")
        layout = h5py.VirtualLayout((6, 4), "i4")
        layout[::2] = sources[0][:3]
        self.refused(tmp_path, layout, "not one block")
        os.remove(tmp_path / "part0.h5")
        layout = h5py.VirtualLayout((6, 4), "i4")
        layout[...] = sources[0]
        self.refused(tmp_path, layout, "does not exist")


class TestVirtualiZarr:
    """The parser of VirtualiZarr."""

    def registry(self):
        from obspec_utils.registry import ObjectStoreRegistry
        from obstore.store import LocalStore

        return ObjectStoreRegistry({"file://": LocalStore()})

    def test_it_reads_what_the_file_has(self, tmp_path):
        from hyperslab.virtualizarr import Parser

        path = tmp_path / "climate.h5"
        write_climate(path)
        with h5py.File(path, "a") as file:
            file.create_dataset("texts", data=["a", "zwei", "drei"], dtype=h5py.string_dtype())
            file["below/x"] = np.arange(3)
        store = Parser()(path.as_uri(), self.registry())
        group = zarr.open_group(store, mode="r", zarr_format=3)
        with h5py.File(path) as file:
            assert group.attrs["title"] == "héllo"
            assert group["t2m"].metadata.dimension_names == ("time", "phony_dim_8")
            assert_all_same(hs.references(path), group, file)
        assert set(Parser(drop_variables=["t2m"])(path.as_uri(), self.registry())._group.arrays) == set(
            store._group.arrays
        ) - {"t2m"}

    def test_xarray_has_the_dataset(self, tmp_path):
        from hyperslab.virtualizarr import Parser
        from virtualizarr import open_virtual_dataset

        path = tmp_path / "a.nc"
        values = xr.Dataset(
            {"t2m": (("time", "x"), np.arange(12.0).reshape(4, 3), {"units": "K"})}, {"x": [10, 20, 30]}
        )
        values["t2m"][1, 1] = np.nan
        values["t2m"].encoding.update(zlib=True, chunksizes=(2, 3), _FillValue=-1.0)
        values.to_netcdf(path, engine="h5netcdf")
        with Parser()(path.as_uri(), self.registry()) as store:
            found = xr.open_zarr(store, consolidated=False, zarr_format=3)
            xr.testing.assert_identical(found.load(), values)
        virtual = open_virtual_dataset(
            path.as_uri(), registry=self.registry(), parser=Parser(), loadable_variables=["x"]
        )
        assert virtual["t2m"].data.manifest.dict().keys() == {"0.0", "1.0"}
        assert virtual["x"].to_numpy().tolist() == [10, 20, 30]

    def test_it_reads_the_file_through_a_store(self, tmp_path):
        from hyperslab.virtualizarr import Parser
        from obspec_utils.registry import ObjectStoreRegistry
        from obstore.store import MemoryStore

        write_climate(tmp_path / "climate.h5")
        memory = MemoryStore()
        memory.put("climate.h5", (tmp_path / "climate.h5").read_bytes())
        registry = ObjectStoreRegistry({"memory://there": memory})
        group = zarr.open_group(Parser()("memory://there/climate.h5", registry), mode="r", zarr_format=3)
        with h5py.File(tmp_path / "climate.h5") as file:
            assert_same(group["t2m"], file["t2m"])


class TestIcechunk:
    """Icechunk repositories."""

    def test_zarr_reads_what_the_file_has(self, tmp_path):
        import hyperslab.icechunk
        import icechunk

        path, target = tmp_path / "climate.h5", tmp_path / "climate.icechunk"
        write_climate(path)
        with h5py.File(path, "a") as file:
            file.create_dataset("texts", data=["a", "zwei", "drei"], dtype=h5py.string_dtype())
            del file.attrs["range"]
        assert run_cli(["hyperslab", "refs", str(path), "-o", str(target), "--format", "icechunk"]) == 0
        access = icechunk.containers_credentials({tmp_path.as_uri() + "/": None})
        repository = icechunk.Repository.open(
            icechunk.local_filesystem_storage(str(target)), authorize_virtual_chunk_access=access
        )
        group = zarr.open_group(repository.readonly_session("main").store, mode="r")
        with h5py.File(path) as file:
            assert group["t2m"].attrs["units"] == "K"
            assert_all_same(hs.references(path), group, file)
        assert run_cli(["hyperslab", "refs", str(path), "-o", str(target), "--format", "icechunk"]) == 1
        with pytest.raises(ValueError, match="container"):
            hyperslab.icechunk.write(path, tmp_path / "new", url="s3://bucket/climate.h5")
