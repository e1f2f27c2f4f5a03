"""`Dataset.filters`, filters that are given together, and levels by their other name."""

import hyperslab as hs
import numpy as np
import pytest

FILTERS = {
    "none": {},
    "gzip": {"compression": "gzip", "compression_opts": 7, "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
    "szip": {"compression": "szip", "compression_opts": ("ec", 16)},
    "scale": {"scaleoffset": 3, "compression": "gzip"},
    "blosc2": {"compression": hs.Blosc2("zstd", 7, "bitshuffle")},
    "blosc": {"compression": hs.Blosc("lz4", 3)},
    "bitshuffle": {"compression": hs.Bitshuffle(cname="zstd", level=5)},
    "zstd": {"compression": hs.Zstd(9), "shuffle": True},
    "zfp": {"compression": hs.Zfp(accuracy=0.5)},
    "lz4": {"compression": hs.LZ4()},
    "bzip2": {"compression": hs.BZip2(5)},
    "nbit": {"compression": hs.NBit()},
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_a_dataset_make_another_one_with_the_same(tmp_path, name):
    values = np.arange(4000, dtype="f4" if name == "zfp" else "i4").reshape(40, 100)
    with hs.File(tmp_path / "a.h5", "w") as file:
        first = file.create_dataset("first", data=values, chunks=(10, 50), **FILTERS[name])
        again = file.create_dataset("again", data=values, chunks=(10, 50), compression=first.filters)
        assert again.filters == first.filters and again._filter_data == first._filter_data
        assert again.filter_ids == first.filter_ids == tuple(one.filter_id for one in first.filters)
        assert np.array_equal(again[:], first[:])
        if len(first.filters) == 1 and first.filters[0].filter_id != 6:
            [single] = first.filters
            made = file.create_dataset("single", data=values, chunks=(10, 50), compression=single)
            assert made._filter_data == first._filter_data
            given = FILTERS[name]["compression"]
            if isinstance(given, hs.Filter) and name != "zfp":
                assert single == given and type(single) is type(given)


@pytest.mark.parametrize("key", ["shuffle", "fletcher32", "compression_opts", "scaleoffset"])
def test_filters_that_are_all_listed_are_not_given_again(tmp_path, key):
    with hs.File(tmp_path / "a.h5", "w") as file:
        filters = file.create_dataset("a", (4,), "i4", chunks=(2,), shuffle=True).filters
        with pytest.raises(TypeError, match=f"{key} must be left out if compression lists all filters"):
            file.create_dataset("b", (4,), "i4", chunks=(2,), compression=filters, **{key: 1})
        with pytest.raises(TypeError, match="Scalar datasets"):
            file.create_dataset("b", (), "i4", compression=filters)


def test_levels_have_the_name_of_hdf5plugin_too():
    assert hs.Blosc2("lz4", clevel=9, filters="bitshuffle") == hs.Blosc2("lz4", 9, "bitshuffle")
    assert hs.Blosc(clevel=0) == hs.Blosc(level=0) and hs.Zstd(clevel=7) == hs.Zstd(7)
    assert hs.Bitshuffle(cname="zstd", clevel=8) == hs.Bitshuffle(cname="zstd", level=8)
    assert hs.Zstd() == hs.Zstd(3) and hs.Blosc2() == hs.Blosc2("blosclz", 5, "shuffle")
    for made in (hs.Zstd, hs.Blosc, hs.Blosc2, hs.Bitshuffle):
        with pytest.raises(TypeError, match="clevel must be left out if level is given"):
            made(level=1, clevel=1)
    with pytest.raises(TypeError, match="filters must be left out if filter is given"):
        hs.Blosc2(filter="none", filters="none")


@pytest.mark.parametrize(
    ("word", "options", "filter"),
    [
        ("zstd", None, hs.Zstd()),
        ("zstd", 9, hs.Zstd(9)),
        ("lz4", None, hs.LZ4()),
        ("blosc2", ("lz4", 7), hs.Blosc2("lz4", 7)),
        ("blosc", "zstd", hs.Blosc("zstd")),
        ("bitshuffle", None, hs.Bitshuffle()),
        ("bzip2", 3, hs.BZip2(3)),
        (hs.Zstd, None, hs.Zstd()),
    ],
)
def test_filters_are_named_by_words_and_classes(word, options, filter):
    with hs.File.in_memory() as file:
        made = file.create_dataset("x", (100,), "i4", chunks=(10,), compression=word, compression_opts=options)
        assert made.filters == (filter,)


@pytest.mark.parametrize(
    ("word", "filter"),
    [
        ("zstd:-5", hs.Zstd(-5)),
        ("gzip:9", hs.filters.Gzip(9)),
        ("szip:ec:16", hs.SZip("ec", 16)),
        ("zfp:rate:3.5", hs.Zfp(rate=3.5)),
        ("bitshuffle:zstd:5", hs.Bitshuffle(cname="zstd", level=5)),
        ("blosc2:lz4:5:truncate", hs.Blosc2("lz4", 5, "truncate")),
    ],
)
def test_options_in_words_are_those_of_the_class(word, filter):
    with hs.File.in_memory() as file:
        made = file.create_dataset("words", (100,), "f4", chunks=(50,), compression=word)
        same = file.create_dataset("class", (100,), "f4", chunks=(50,), compression=filter)
        assert made.filters == same.filters


@pytest.mark.parametrize("word", ["zstd", "bzip2", "szip", "zfp", "bitshuffle", "blosc", "blosc2"])
def test_the_defaults_of_classes_are_those_of_the_notation(word):
    kinds = {kind.filter_id: kind for kind in hs.Filter.__subclasses__()}
    number, options = hs._native._filter_in_words(word)
    if word != "zfp":  # without arguments, the class keeps nearly all bits, and the notation all
        assert kinds[number]().filter_options == tuple(options)
    assert kinds[number].filter_id == number


def test_options_are_given_once():
    with hs.File.in_memory() as file:
        with pytest.raises(TypeError, match="compression_opts must be left out"):
            file.create_dataset("x", (100,), "i4", compression="zstd:5", compression_opts=5)
        with pytest.raises(ValueError, match="the codec of Blosc must be one of blosclz, .*, not 'lz5'|\"lz5\""):
            file.create_dataset("x", (100,), "i4", compression="blosc2:lz5")
        assert list(file) == []


def test_the_error_of_an_unknown_word_lists_those_that_are_known():
    with hs.File.in_memory() as file:
        with pytest.raises(ValueError, match=r"bitshuffle, blosc, .*zstd, or a filter such as hyperslab.Zstd\(5\)"):
            file.create_dataset("x", (100,), "i4", compression="zip")
        with pytest.raises(ValueError, match="cname must be one of blosclz, .*, not 5"):
            file.create_dataset("x", (100,), "i4", compression="blosc2", compression_opts=5)
        assert list(file) == []
