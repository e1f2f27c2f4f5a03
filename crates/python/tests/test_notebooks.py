"""Objects in notebooks: what their HTML shows, that it is safe, and how little it reads."""

import io
import re
from html.parser import HTMLParser

import h5py
import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, grid, segy
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no HTML", allow_module_level=True)

TAGS = {"div", "style", "pre", "span", "details", "summary", "ul", "li", "dl", "dt", "dd"}
EVIL = "<script>alert(1)</script><img src=x onerror='alert(1)'>\"'&"


class Shown(HTMLParser):
    """The tags, attributes, styles and texts of a page, as a browser finds them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text, self.style = [], set(), set(), [], ""
        self.feed(page)
        self.close()
        assert not self.open, "every element ends"

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.text.append(data)

    def has(self, text):
        return any(text in part for part in self.text)


def shown(found):
    page = found._repr_html_()
    page.encode("utf-8")
    result = Shown(page)
    assert result.tags <= TAGS and result.attributes <= {"class", "style"}
    return result


@pytest.fixture
def file():
    with hs.File.in_memory() as file:
        yield file


def test_a_dataset_shows_its_shape_type_chunks_filters_and_attributes(file):
    dataset = file.create_dataset(
        "surface/t2m", data=np.zeros((100, 200), "f4"), chunks=(10, 200), maxshape=(None, 200), compression="gzip"
    )
    dataset.attrs["units"] = "K"
    dataset.attrs["range"] = [1.5, 2.5]
    file.flush()
    page = shown(dataset)
    for text in ('HDF5 dataset "/surface/t2m"', "100 × 200", "maxshape", "unlimited × 200", "float32", "78.1 KiB"):
        assert page.has(text), text
    for text in ("10 of 10 × 200, 7.8 KiB each", "deflate", "times smaller", "units", "K", "[1.5, 2.5]  (2, float64)"):
        assert page.has(text), text
    stored = dataset.id.get_storage_size()
    assert page.has(f"{stored:,} B, {dataset.nbytes / stored:.3g} times smaller")


@pytest.mark.parametrize(
    "dtype, text",
    [
        (hs.string_dtype(), "str, utf-8"),
        (np.dtype("S5"), "str of 5 bytes, ascii"),
        (np.dtype(">i4"), "int32, big-endian"),
        (hs.vlen_dtype("i2"), "sequence of int16"),
        (hs.enum_dtype({"low": 0, "high": 1}), "enum of low, high"),
        (hs.ref_dtype, "object reference"),
        (np.dtype([("a", "i4"), ("b", "f8", (2,))]), "record of a, b"),
        (np.dtype([(f"c{n}", "i4") for n in range(9)]), "record of c0, c1, c2, c3 and 5 more"),
        (np.dtype("bool"), "bool"),
        (np.dtype("c8"), "complex64"),
    ],
)
def test_types_have_the_names_that_readers_use(file, dtype, text):
    dataset = file.create_dataset("d", (3,), dtype)
    assert text in shown(dataset).text


def test_a_tree_folds_groups_and_names_links_without_following_them(file):
    file["a/b/c"] = np.arange(3)
    file["a/up"] = file["a"]
    file["soft"] = hs.SoftLink("/a/b")
    file["away"] = hs.ExternalLink("other.h5", "/x")
    page = shown(file)
    assert "details" in page.tags
    for text in ("b", "c", "(3,), int64, 24 B", "→ /a/b", "→ /x in other.h5", "group, 2 members, the same as /a"):
        assert page.has(text), text


def test_what_a_file_says_is_escaped_everywhere(file):
    evil = file.create_group(EVIL.replace("/", "|"))
    evil.attrs[EVIL] = EVIL
    evil.attrs["bytes"] = np.bytes_(EVIL.encode())
    evil.attrs["list"] = [EVIL, EVIL]
    evil["link"] = hs.SoftLink(EVIL)
    evil.create_dataset(EVIL.replace("/", "|"), data=np.zeros(2, [(EVIL, "i4")]))
    evil.create_dataset("enum", (1,), hs.enum_dtype({EVIL: 1}))
    evil["type"] = np.dtype([(EVIL, "i4")])
    for found in (file, evil, evil.attrs, *evil.values()):
        if found is not None:
            page = shown(found)
            assert page.has("<script>"), "it is shown as text"


def test_characters_that_notebooks_cannot_store_are_shown_by_their_numbers():
    def write(f):
        f.create_group(b"bad \xff name")
        f.attrs["control"] = "a\u202eb\x1bc"

    with h5py.File("image.h5", "w", driver="core", backing_store=False) as made:
        write(made)
        made.flush()
        image = made.id.get_file_image()
    with hs.File.from_bytes(image) as file:
        page = shown(file)
        assert page.has("a\\u202eb\\x1bc")
        assert page.has("bad \\xff name")


def test_closed_objects_say_so_and_raise_nothing():
    file = hs.File.in_memory()
    group, dataset = file.create_group("g"), file.create_dataset("d", data=[1])
    objects = [file, group, dataset, file.attrs, dataset.attrs]
    file.close()
    for found in objects:
        assert "losed" in shown(found).text[0]


class Counted(io.BytesIO):
    count = 0

    def readinto(self, buffer):
        self.count += len(buffer)
        return super().readinto(buffer)

    def read(self, size=-1):
        found = super().read(size)
        self.count += len(found)
        return found


def group_of(count, libver, track_order):
    made = io.BytesIO()
    with h5py.File(made, "w", libver=libver) as f:
        group = f.create_group("g", track_order=track_order)
        for n in range(count):
            group[f"member {n:06}" + 100 * "x"] = h5py.SoftLink("/nothing")
    return Counted(made.getvalue())


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("track_order", [False, True])
def test_a_large_group_is_read_in_part(libver, track_order):
    large = group_of(30_000, libver, track_order)
    with hs.File(large) as file:
        group, before = file["g"], large.count
        page = shown(group)
        is_old = libver == "earliest" and not track_order
        # Without an index of their order, links of neighbouring hashes are in as many blocks of the heap.
        most = 51 << 16 if libver == "latest" and not track_order else 1 << 18
        assert large.count - before < most < len(large.getvalue())
        assert sum("member 0" in text for text in page.text) == 50
        assert page.has("… and more members" if is_old else "… and 29,950 more of 30,000 members")
        if is_old or track_order:
            assert page.has("member 000000x") and page.has("member 000049x")
        assert len(group._repr_html_()) < 50_000


def test_an_object_with_many_attributes_shows_some(file):
    for n in range(300):
        file.attrs[f"attribute {n:03}"] = n
    file.attrs["long"] = np.arange(5000)
    file.attrs["text"] = "x" * 10_000
    page = shown(file.attrs)
    assert sum(text.startswith("attribute") for text in page.text) >= 48
    assert page.has("252 more")
    assert len(file.attrs._repr_html_()) < 50_000
    assert shown(file).has("302")


def test_long_values_are_cut_and_large_ones_not_read(file):
    file.attrs["long"] = np.arange(5000)
    file.attrs["text"] = "x" * 10_000
    page = shown(file.attrs)
    assert "5,000, int64" in page.text and page.has("x… (10,000 characters)")


def test_deep_and_wide_trees_are_bounded(file):
    for n in range(12):
        for m in range(12):
            for k in range(12):
                file.create_group(f"{n}/{m}/{k}").create_group("leaf")
    path = "deep" + "/deep" * 40
    file.create_group(path)
    page = file._repr_html_()
    assert page.count("<summary>") <= 200 and len(Shown(page).text) < 1000
    top = [f'{n}</span><span class="hs-more">group, 12 members' for n in range(12)]
    assert all(line in page for line in top), "no member of the first level is left out"
    assert len(shown(file[path[:4]]).text) < 50
    deep = file["deep"]._repr_html_()
    assert 4 <= deep.count(">deep<") < 10


def test_damaged_objects_show_their_errors_in_their_places():
    made = io.BytesIO()
    with h5py.File(made, "w", libver="latest") as f:
        f["good"] = np.arange(3)
        f["bad"] = np.arange(4)
        place = h5py.h5o.get_info(f["bad"].id).addr
    image = bytearray(made.getvalue())
    image[place + 12] ^= 0xFF
    with hs.File.from_bytes(bytes(image)) as file:
        page = shown(file)
        assert page.has("(3,), int64, 24 B")
        assert page.has("FormatError") and page.has("bad")


def test_a_page_has_no_resource_of_other_places_and_styles_of_its_own_only(file):
    page = shown(file)
    assert not re.search(r"url\(|@import|http", page.style)
    selectors = re.findall(r"([^{}]+)\{", page.style)
    assert selectors and all(one.strip().startswith((".hs-html", ".hs-text")) for one in selectors)
    assert file._repr_html_().count("<style>") == 1


def test_a_table_and_a_survey_show_what_they_are(file, tmp_path):
    table = file.create_table("readings", [("time", "i8"), ("temp", "f8")], "Readings")
    page = shown(table)
    assert page.has('HDF5 table "/readings"') and page.has("columns") and page.has("temp")
    lines = grid(range(1200, 1203), range(390, 394))
    (tmp_path / "a.sgy").write_bytes(
        segy(np.arange(60, dtype="f4").reshape(12, 5), {INLINE: lines[:, 0], CROSSLINE: lines[:, 1]})
    )
    hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "cube.h5")
    with hs.segy.open(tmp_path / "cube.h5") as survey:
        page = shown(survey)
        assert page.has("Survey: volume of float32") and page.has("1200 to 1202, 3 values")
    assert shown(survey).has("Closed survey")


def test_names_complete_between_brackets(file):
    file.create_group("b")
    file["a"] = np.zeros(2, [("x", "i4"), ("y", "f8")])
    file.attrs["units"] = "K"
    assert file._ipython_key_completions_() == ["a", "b"]
    assert file["a"]._ipython_key_completions_() == ["x", "y"]
    assert file.attrs._ipython_key_completions_() == ["units"]
    file["plain"] = [1]
    assert file["plain"]._ipython_key_completions_() == []
