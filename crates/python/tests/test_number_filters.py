"""The filters that know datatypes, and bzip2 and Snappy: what h5py and hdf5plugin store, to the last byte."""

import itertools
import threading

import h5py
import hdf5plugin
import hyperslab as hs
import numpy as np
import pytest

RANDOM = np.random.default_rng(14)
INTEGERS = ["i1", "u1", "<i2", ">u2", ">i4", "u4", "i8", ">u8"]
FLOATS = ["<f4", ">f4", "<f8", ">f8"]
#: Shapes of datasets and chunks: whole chunks, partial ones at the edge, and one element.
SHAPES = [((64,), (64,)), ((100,), (30,)), ((20, 30), (7, 11)), ((9, 8, 7), (4, 8, 3)), ((1,), (1,))]


def chunks(dataset):
    """Returns the place, the mask and the stored bytes of each chunk."""
    infos = [dataset.id.get_chunk_info(number) for number in range(dataset.id.get_num_chunks())]
    places = [info.chunk_offset for info in infos]
    return sorted((place, *dataset.id.read_direct_chunk(place)) for place in places)


def filters(dataset):
    plist = dataset.id.get_create_plist()
    return [plist.get_filter(number)[:3] for number in range(plist.get_nfilters())]


def walk(shape, dtype, scale=3.0):
    """Returns a walk, which fits the dtype."""
    dtype = np.dtype(dtype)
    values = np.cumsum(RANDOM.normal(size=shape) * scale, axis=-1)
    if dtype.kind in "iu":
        values = np.clip(np.round(values), np.iinfo(dtype).min, np.iinfo(dtype).max)
    return values.astype(dtype)


def check(folder, data, theirs, ours, *, is_lossless=True, same_bytes=True, **keywords):
    """Creates the dataset with both, and compares filters, chunks, and what each reads of the other."""
    with h5py.File(folder / "theirs.h5", "w") as file:
        file.create_dataset("x", data=data, **theirs, **keywords)
    with hs.File(folder / "ours.h5", "w") as file:
        file.create_dataset("x", data=data, **ours, **keywords)
    with h5py.File(folder / "theirs.h5") as one, h5py.File(folder / "ours.h5") as other:
        assert filters(one["x"]) == filters(other["x"])
        if same_bytes:
            assert chunks(one["x"]) == chunks(other["x"])
        expected = one["x"][...]
        assert other["x"][...].tobytes() == expected.tobytes()
    with hs.File(folder / "theirs.h5") as file:
        found = file["x"][...]
        assert found.tobytes() == expected.tobytes() and found.dtype == expected.dtype
        part = (slice(1, None, 2),) * data.ndim
        assert file["x"][part].tobytes() == expected[part].tobytes()
    if is_lossless:
        assert expected.tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_scale_offset_of_integers(tmp_path, dtype):
    every_bit = np.dtype(dtype).itemsize * 8
    for (shape, chunk), factor, fill in itertools.product(SHAPES, [True, 3, every_bit, every_bit - 1], [None, 5]):
        data = walk(shape, dtype)
        data.flat[::7] = fill or 0
        given = {"scaleoffset": factor}
        lossless = factor is True or factor == every_bit
        check(tmp_path, data, given, given, is_lossless=lossless, chunks=chunk, fillvalue=fill)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_scale_offset_at_the_ends_of_the_range(tmp_path, dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    ranges = [(low, high - less) for less in range(4)] + [
        (low + 1, high),
        (0, 0),
        (7, 7),
        (0, 1),
        (high, high),
        (0, 126),
    ]
    for first, last in ranges:
        data = np.array([first, last, first, first], dtype)
        given = {"scaleoffset": True}
        check(tmp_path, data, given, given, chunks=(4,))
        check(tmp_path, data, given, given, chunks=(4,), shuffle=True, compression="lzf", same_bytes=False)


@pytest.mark.soak
@pytest.mark.parametrize("dtype", FLOATS)
def test_scale_offset_of_floats(tmp_path, dtype):
    for (shape, chunk), places, fill in itertools.product(SHAPES, [0, 2, 7], [None, 5.25, -1e30]):
        for scale in (0.001, 1, 1e9):
            data = walk(shape, dtype, scale)
            if fill is not None:
                data.flat[::5] = fill
            given = {"scaleoffset": places}
            check(tmp_path, data, given, given, is_lossless=False, chunks=chunk, fillvalue=fill)


def test_not_a_number_is_kept_under_scale_offset(tmp_path):
    """libhdf5 stores 0 in place of it."""
    data = np.array([1.5, np.nan, -2.25, np.inf])
    with hs.File(tmp_path / "ours.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(4,), scaleoffset=2)
    with h5py.File(tmp_path / "ours.h5") as file:
        np.testing.assert_array_equal(file["x"][...], data)


@pytest.mark.parametrize("dtype", ["i1", ">u2", "i4", ">i4", "u8", "f4", ">f8", "?"])
def test_szip(tmp_path, dtype):
    shapes = [((1000,), (300,)), ((20, 300), (7, 110)), ((3, 5000), (2, 5000)), ((40, 40, 5), (10, 10, 5))]
    options = [("nn", 8), ("ec", 8), ("nn", 32), ("ec", 16), ("nn", 2), ("nn", 6)]
    for (shape, chunk), option in itertools.product(shapes, options):
        noise = RANDOM.normal(size=shape) * 1e5
        rare = np.where(RANDOM.random(shape) < 0.02, 50, 0)
        for values in (walk(shape, "f8"), noise, np.zeros(shape), rare):
            kind = np.dtype(dtype)
            if kind.kind in "iu":
                values = np.clip(values, np.iinfo(kind).min, np.iinfo(kind).max)
            given = {"compression": "szip", "compression_opts": option}
            check(tmp_path, (values > 20 if kind.kind == "b" else values).astype(kind), given, given, chunks=chunk)


MODES = [
    {"rate": 8},
    {"rate": 3.3},
    {"precision": 12},
    {"accuracy": 1e-3},
    {"reversible": True},
    {"minbits": 1, "maxbits": 700, "maxprec": 20, "minexp": -100},
    {},
]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_zfp(tmp_path, mode):
    shapes = [((1000,), (300,)), ((20, 300), (7, 110)), ((9, 40, 31), (4, 10, 5)), ((6, 7, 8, 9), (5, 5, 5, 5))]
    # The last two have no shape for ZFP: the plugin stores them without the filter.
    shapes += [((1, 3, 20, 1, 5), (1, 3, 7, 1, 5)), ((2,) * 5, (2,) * 5), ((1,), (1,))]
    for (shape, chunk), dtype in itertools.product(shapes, ["f4", "f8", "i4", "u8"]):
        theirs, ours = {"compression": hdf5plugin.Zfp(**mode)}, {"compression": hs.Zfp(**mode)}
        check(tmp_path, walk(shape, dtype), theirs, ours, is_lossless="reversible" in mode, chunks=chunk)


@pytest.mark.parametrize("blocksize", [1, 9])
def test_bzip2(tmp_path, blocksize):
    theirs, ours = {"compression": hdf5plugin.BZip2(blocksize)}, {"compression": hs.BZip2(blocksize)}
    for (shape, chunk), dtype in itertools.product(SHAPES, ["u1", "f8"]):
        check(tmp_path, walk(shape, dtype), theirs, ours, chunks=chunk, shuffle=True, fletcher32=True)


def test_snappy_round_trip():
    data = walk((300, 200), "i4")
    with hs.File("snappy.h5", "w", driver="core", backing_store=False) as file:
        made = file.create_dataset("x", data=data, chunks=(100, 200), compression=hs.Snappy())
        assert made.filter_ids == (32003,) and made.id.get_storage_size() < data.nbytes
        np.testing.assert_array_equal(made[...], data)


def described(kind):
    """Returns datatypes of h5py's low-level API whose numbers have fewer significant bits than bytes."""
    t = h5py.h5t

    def number(base, precision, offset):
        copy = base.copy()
        copy.set_precision(precision)
        copy.set_offset(offset)
        return copy

    short, long = number(t.STD_I16LE, 9, 3), number(t.STD_U32BE, 17, 8)
    compound = t.create(t.COMPOUND, 24)
    compound.insert(b"a", 0, short)
    compound.insert(b"b", 4, long)
    compound.insert(b"c", 8, t.array_create(number(t.STD_I16LE, 9, 3), (3,)))
    compound.insert(b"d", 16, t.IEEE_F64LE)
    pair = t.create(t.COMPOUND, 6)
    pair.insert(b"x", 0, short)
    pair.insert(b"y", 2, number(t.STD_I32BE, 30, 1))
    last = t.create(t.COMPOUND, 20)
    last.insert(b"a", 0, short)
    last.insert(b"pairs", 2, t.array_create(pair, (3,)))
    return {
        "short": short,
        "long": long,
        "wide": number(t.STD_I64LE, 61, 2),
        "byte": number(t.STD_U8LE, 5, 0),
        "array": t.array_create(number(t.STD_I16LE, 9, 3), (4,)),
        "compound": compound,
        "nested": last,
        "whole": t.STD_I32LE,
    }[kind]


@pytest.mark.parametrize("kind", ["short", "long", "wide", "byte", "array", "compound", "nested", "whole"])
def test_n_bit(tmp_path, kind):
    """Datasets that h5py has created are written by both."""
    datatype = described(kind)
    for name in ("theirs.h5", "ours.h5"):
        with h5py.File(tmp_path / name, "w", libver="latest") as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((30,))
            plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)
            space = h5py.h5s.create_simple((100,))
            h5py.h5d.create(file.id, b"x", datatype, space, dcpl=plist)
    with h5py.File(tmp_path / "theirs.h5", "r+") as file:
        dtype = file["x"].dtype
        values = np.zeros(100, dtype)
        for field in dtype.names or [None]:
            part = values if field is None else values[field]
            if part.dtype.names:
                for inner in part.dtype.names:
                    part[inner] = RANDOM.integers(0, 30, part.shape)
            else:
                part[...] = RANDOM.integers(0, 30, part.shape)
        file["x"][...] = values
        expected = file["x"][...]
    with hs.File(tmp_path / "theirs.h5") as file:
        assert file["x"][...].tobytes() == expected.tobytes()
    with hs.File(tmp_path / "ours.h5", "r+") as file:
        file["x"][...] = values
    with h5py.File(tmp_path / "theirs.h5") as one, h5py.File(tmp_path / "ours.h5") as other:
        assert chunks(one["x"]) == chunks(other["x"])


def test_n_bit_of_new_datasets_has_the_client_data_of_libhdf5(tmp_path):
    record = np.dtype([("a", "i2"), ("b", ">f8", (2, 3)), ("c", "S5"), ("d", [("e", "u1")])])
    for dtype in ("i4", ">f8", record):
        data = np.zeros(100, dtype)
        with hs.File(tmp_path / "ours.h5", "w") as file:
            file.create_dataset("x", data=data, chunks=(30,), compression=hs.NBit())
        with h5py.File(tmp_path / "theirs.h5", "w") as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((30,))
            plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)
            space = h5py.h5s.create_simple((100,))
            h5py.h5d.create(file.id, b"x", h5py.h5t.py_create(np.dtype(dtype), logical=True), space, dcpl=plist)
        with h5py.File(tmp_path / "theirs.h5") as one, h5py.File(tmp_path / "ours.h5") as other:
            assert filters(one["x"]) == filters(other["x"])


@pytest.mark.parametrize(
    "keywords",
    [
        {"data": np.zeros(10, "S3"), "compression": "szip"},
        {"data": np.zeros(10, "c16"), "compression": "szip"},
        {"data": np.zeros(3, "i4"), "chunks": (3,), "compression": "szip"},
        {"data": np.zeros(10, "i4"), "compression": "szip", "compression_opts": ("nn", 7)},
        {"data": np.zeros(10, "i4"), "compression": "szip", "compression_opts": 8},
        {"data": np.zeros(10, "i4"), "compression": "szip", "compression_opts": ("xx", 8)},
        {"data": np.zeros(10, "f2"), "scaleoffset": 1},
        {"data": np.zeros(10, "f4"), "scaleoffset": True},
        {"data": np.zeros(10, "S3"), "scaleoffset": 1},
        {"data": np.zeros(10, "i4"), "scaleoffset": -1},
        {"data": np.zeros(10, "i4"), "scaleoffset": 2, "fletcher32": True},
        {"data": np.zeros((), "i4"), "scaleoffset": 2},
        {"data": np.zeros(10, "i2"), "compression": 32013, "compression_opts": (2, 0, 8, 0, 0, 0)},
        {"data": np.zeros(10, "i4"), "compression": 399},
    ],
    ids=str,
)
def test_what_h5py_refuses_is_refused_with_the_same_exception(keywords):
    raised = []
    for package in (h5py, hs):
        with package.File("refused.h5", "w", driver="core", backing_store=False) as file:
            with pytest.raises((TypeError, ValueError)) as info:
                file.create_dataset("x", **keywords)
            assert "x" not in file
        raised.append(info.type)
    assert raised[0] is raised[1]


def test_numbers_of_another_byte_order_are_refused_for_zfp():
    with hs.File("order.h5", "w", driver="core", backing_store=False) as file:
        with pytest.raises(ValueError, match="byte order"):
            file.create_dataset("x", data=np.zeros(10, ">f4"), compression=hs.Zfp(rate=8))


def test_copies_have_the_filters(tmp_path):
    with hs.File(tmp_path / "ours.h5", "w") as file:
        for name, keywords in {
            "szip": {"compression": "szip", "compression_opts": ("ec", 16)},
            "scale": {"scaleoffset": 4},
            "zfp": {"compression": hs.Zfp(accuracy=0.5)},
            "nbit": {"compression": hs.NBit()},
            "bzip2": {"compression": hs.BZip2(3)},
        }.items():
            made = file.create_dataset(name, (100, 40), "i4", chunks=(10, 40), **keywords)
            like = file.create_dataset_like(f"{name} again", made)
            assert (like.compression, like.compression_opts, like.scaleoffset) == (
                made.compression,
                made.compression_opts,
                made.scaleoffset,
            )
            assert like._filter_data == made._filter_data
        assert file["szip"].compression == "szip" and file["szip"].compression_opts == ("ec", 16)
        assert file["scale"].scaleoffset == 4


class Reversed:
    """A filter that stores the bytes of a chunk in reverse."""

    def __init__(self):
        self.threads = set()

    def decode(self, data, options, size):
        assert options == (7, 8) and size == 4000
        self.threads.add(threading.get_ident())
        return memoryview(data)[::-1].tobytes()

    def encode(self, data, options):
        return bytearray(data[::-1])


@pytest.fixture
def registered():
    numbers = []

    def register(number, *functions):
        hs.register_filter(number, *functions)
        numbers.append(number)

    yield register
    for number in numbers:
        hs.unregister_filter(number)


def test_python_functions_encode_and_decode_chunks(tmp_path, registered):
    data = np.arange(20000, dtype="i4")
    ours = Reversed()
    with hs.File(tmp_path / "ours.h5", "w") as file:
        # The file is open before its filter is known.
        registered(400, ours.decode, ours.encode)
        given = {"compression": 400, "compression_opts": (7, 8)}
        made = file.create_dataset("x", data=data, chunks=(1000,), shuffle=True, **given)
        assert made.filter_ids == (2, 400)
        np.testing.assert_array_equal(made[...], data)
    with hs.File(tmp_path / "ours.h5") as file:
        np.testing.assert_array_equal(file["x"][500:1500], data[500:1500])
        np.testing.assert_array_equal(file["x"].read(threads=4), data)
    with h5py.File(tmp_path / "ours.h5") as file:
        mask, stored = file["x"].id.read_direct_chunk((0,))
        assert mask == 0 and stored[::-1] == np.frombuffer(data[:1000].tobytes(), "u1").reshape(-1, 4).T.tobytes()


def test_exceptions_of_functions_are_raised_and_wrong_sizes_are_errors(tmp_path, registered):
    class Mine(Exception):
        pass

    def fails(*_):
        raise Mine("on purpose")

    state = {"decode": lambda data, options, size: data, "encode": lambda data, options: data}
    registered(401, lambda *given: state["decode"](*given), lambda *given: state["encode"](*given))
    with hs.File(tmp_path / "ours.h5", "w") as file:
        made = file.create_dataset("x", data=np.arange(100), chunks=(10,), compression=401)
        file.flush()
        for decode, error in [
            (fails, Mine),
            (lambda data, options, size: data[:-1], hs.FormatError),
            (lambda data, options, size: data + b"x", hs.FormatError),
            (lambda data, options, size: 80, TypeError),
            (lambda data, options, size: None, TypeError),
        ]:
            state["decode"] = decode
            with pytest.raises(error):
                made[...]
        state["decode"], state["encode"] = (lambda data, options, size: data), fails
        with pytest.raises(Mine):
            made[...] = np.arange(100)
            file.flush()
        # None, and more bytes than a filter may make, store the chunk as it is.
        for encode in (lambda data, options: None, lambda data, options: data * 1000):
            state["encode"] = encode
            made[...] = np.arange(100)
        file.flush()
        np.testing.assert_array_equal(made[...], np.arange(100))
    with h5py.File(tmp_path / "ours.h5") as file:
        assert file["x"].id.read_direct_chunk((0,))[0] == 1


def test_registering(tmp_path):
    for number in (4, 255, 65536, 32004):
        with pytest.raises(ValueError, match=str(number) if number == 32004 else "256"):
            hs.register_filter(number, len)
    with pytest.raises(TypeError):
        hs.register_filter(402, 5)
    with pytest.raises(KeyError):
        hs.unregister_filter(402)
    hs.register_filter(402, lambda data, options, size: data)
    with hs.File(tmp_path / "ours.h5", "w") as file:
        with pytest.raises(ValueError, match="encodes"):
            file.create_dataset("x", data=np.arange(10), chunks=(5,), compression=402)
        hs.unregister_filter(402)
        with pytest.raises(ValueError, match="Unknown compression filter number: 402"):
            file.create_dataset("x", data=np.arange(10), chunks=(5,), compression=402)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("dtype", "shape"), [("f4", (16, 20, 24)), ("f8", (320, 24))])
def test_imagecodecs_reads_sperr(tmp_path, dtype, shape, swap):
    check_read(tmp_path, walk(shape, dtype), hdf5plugin.Sperr(rate=8, swap=swap))


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2"])
def test_imagecodecs_reads_images(tmp_path, dtype):
    images = np.abs(walk((320, 24), "f8")).astype(dtype)
    check_read(tmp_path, images, hdf5plugin.Htj2k())
    check_read(tmp_path, images, hdf5plugin.FciDecomp())


def check_read(folder, data, compression):
    with h5py.File(folder / "theirs.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=data.shape, compression=compression)
        expected = file["x"][...]
    numbers = hs.use_imagecodecs()
    try:
        assert compression.filter_id in numbers
        with hs.File(folder / "theirs.h5") as file:
            assert file["x"][...].tobytes() == expected.tobytes()
    finally:
        for number in numbers:
            hs.unregister_filter(number)
    # Without imagecodecs, hdf5plugin's own plug-in decodes, since this program has imported the package.
    with hs.File(folder / "theirs.h5") as file:
        assert file["x"][...].tobytes() == expected.tobytes()


def test_a_missing_imagecodecs_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imagecodecs", None)
    with pytest.raises(ImportError, match="pip install imagecodecs"):
        hs.use_imagecodecs()
