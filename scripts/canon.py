"""Prints the canonical text of HDF5 files through h5py: the oracle of `hyperslab dump --canon`.

    python scripts/canon.py FILE... [--limit N]

Types, links and properties come from h5py's low-level API, values from its datasets and attributes. What h5py
cannot read is `unreadable`.
"""

import argparse
import hashlib
import itertools
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5l, h5o, h5r, h5s, h5t

SHOWN = 64
"""The most elements that are printed. Of more elements the checksums are printed."""
LISTED = 256
"""The most elements of a region that are listed."""
BLOCK = 65_536
"""The elements of one checksum."""
BATCH = 1 << 20
"""About as many elements are read at a time."""

ORDERS = {h5t.ORDER_LE: "le", h5t.ORDER_BE: "be", h5t.ORDER_VAX: "vax", h5t.ORDER_NONE: ""}
CHARSETS = {h5t.CSET_ASCII: "ascii", h5t.CSET_UTF8: "utf-8"}
PADDINGS = {
    h5t.STR_NULLTERM: "null-terminated",
    h5t.STR_NULLPAD: "null-padded",
    h5t.STR_SPACEPAD: "space-padded",
}
NORMALIZATIONS = {h5t.NORM_NONE: "none", h5t.NORM_MSBSET: "set", h5t.NORM_IMPLIED: "implied"}
# The bits of the floating-point numbers of IEEE 754: precision, sign, exponent, mantissa, bias.
IEEE = {
    2: (16, (15, 10, 5, 0, 10), 15),
    4: (32, (31, 23, 8, 0, 23), 127),
    8: (64, (63, 52, 11, 0, 52), 1023),
}


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def type_text(t: h5t.TypeID) -> str:
    """Returns the canonical text of a datatype."""
    kind, size = t.get_class(), t.get_size()
    if kind in (h5t.INTEGER, h5t.BITFIELD, h5t.TIME):
        signed = kind == h5t.INTEGER and t.get_sign() == h5t.SGN_2
        letter = {h5t.INTEGER: "i" if signed else "u", h5t.BITFIELD: "b", h5t.TIME: "t"}[kind]
        order, precision, offset = bit_range(t)
        bits = "" if (precision, offset) == (8 * size, 0) else f"[{precision} at {offset}]"
        return f"{letter}{8 * size}{'' if size == 1 else order}{bits}"
    if kind == h5t.FLOAT:
        order = "" if size == 1 else ORDERS[t.get_order()]
        sign, e_at, e_size, m_at, m_size = fields = t.get_fields()
        bias, norm = t.get_ebias(), t.get_norm()
        facts = (t.get_precision(), tuple(fields), bias)
        if IEEE.get(size) == facts and norm == h5t.NORM_IMPLIED and order != "vax":
            return f"f{8 * size}{order}"
        mantissa = f"mantissa {m_at}+{m_size} {NORMALIZATIONS[norm]}"
        return f"f{8 * size}{order}[sign {sign} exponent {e_at}+{e_size} bias {bias} {mantissa}]"
    if kind == h5t.STRING:
        length = "var" if t.is_variable_str() else size
        return f"string({length} {CHARSETS[t.get_cset()]} {PADDINGS[t.get_strpad()]})"
    if kind == h5t.OPAQUE:
        return f"opaque({size} {quoted(decoded(t.get_tag()))})"
    if kind == h5t.COMPOUND:
        members = (
            f"{quoted(decoded(t.get_member_name(i)))}: {type_text(t.get_member_type(i))}"
            for i in range(t.get_nmembers())
        )
        return f"{{{', '.join(members)}}}"
    if kind == h5t.REFERENCE:
        kinds = ((h5t.STD_REF_OBJ, "object"), (h5t.STD_REF_DSETREG, "region"))
        return next((name for known, name in kinds if t.equal(known)), "reference")
    if kind == h5t.ENUM:
        members = (f"{quoted(decoded(t.get_member_name(i)))}={t.get_member_value(i)}" for i in range(t.get_nmembers()))
        return f"enum({' '.join([type_text(t.get_super()), *members])})"
    if kind == h5t.VLEN:
        return f"vlen({type_text(t.get_super())})"
    if kind == h5t.ARRAY:
        return f"array({','.join(map(str, t.get_array_dims()))} {type_text(t.get_super())})"
    return f"complex({type_text(t.get_super())})"


def bit_range(t: h5t.TypeID) -> tuple[str, int, int]:
    """Returns the byte order of a number that is no float, and the count and offset of its significant bits.

    h5py has methods for this for integers only. The encoded datatype begins with two bytes of its own, then
    follows the message (spec IV.A.2.d).
    """
    message = t.encode()[2:]
    order = "be" if message[1] & 1 else "le"
    numbers = [int.from_bytes(message[at : at + 2], "little") for at in (8, 10)]
    return (order, numbers[0], 0) if t.get_class() == h5t.TIME else (order, numbers[1], numbers[0])


def number_text(value: float) -> str:
    """Returns a double in hexadecimal."""
    if math.isfinite(value):
        return value.hex()
    return '"nan"' if math.isnan(value) else '"inf"' if value > 0 else '"-inf"'


def bytes_text(value: bytes) -> str:
    try:
        return quoted(value.decode())
    except UnicodeDecodeError:
        return f'{{"hex":"{value.hex()}"}}'


class Values:
    """Makes the texts of values, given the file's datatype and what h5py returns."""

    def __init__(self, file: h5py.File, paths: dict[Any, str]) -> None:
        self.file, self.paths = file, paths

    def of(self, t: h5t.TypeID, array: np.ndarray) -> Iterator[str]:
        """Yields the text of each element of a flat array."""
        kind = t.get_class()
        if kind in (h5t.INTEGER, h5t.BITFIELD):
            return map(str, (array.view("u1") if array.dtype.kind == "b" else array).tolist())
        if kind == h5t.FLOAT:
            return map(number_text, array.astype("f8").tolist())
        if kind == h5t.STRING:
            return self.strings(t, array)
        if kind == h5t.OPAQUE:
            return (f'{{"hex":"{value.tobytes().hex()}"}}' for value in array)
        if kind == h5t.COMPOUND:
            if array.dtype.kind == "c":
                return self.complex(array)
            names = [decoded(t.get_member_name(i)) for i in range(t.get_nmembers())]
            columns = (self.of(t.get_member_type(i), array[name]) for i, name in enumerate(names))
            heads = [f"{quoted(name)}:" for name in names]
            rows = zip(*columns, strict=True)
            return (f"{{{','.join(map(''.join, zip(heads, row, strict=True)))}}}" for row in rows)
        if kind == h5t.REFERENCE:
            return map(self.reference, array)
        if kind == h5t.ENUM:
            return self.names(t, array)
        if kind == h5t.VLEN:
            return (f"[{','.join(self.of(t.get_super(), np.asarray(value)))}]" for value in array)
        if kind == h5t.ARRAY:
            return self.arrays(t, array)
        if kind == getattr(h5t, "COMPLEX", -1):
            return self.complex(array)
        raise NotImplementedError(f"datatype class {kind}")

    def strings(self, t: h5t.TypeID, array: np.ndarray) -> Iterator[str]:
        padding, is_variable = t.get_strpad(), t.is_variable_str()
        for value in array:
            value = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
            if is_variable or padding == h5t.STR_NULLTERM:
                value = value.split(b"\0")[0]
            elif padding == h5t.STR_SPACEPAD:
                value = value.rstrip(b" ")
            yield bytes_text(value)

    def complex(self, array: np.ndarray) -> Iterator[str]:
        for value in array.astype("c16").tolist():
            yield f"[{number_text(value.real)},{number_text(value.imag)}]"

    def names(self, t: h5t.TypeID, array: np.ndarray) -> Iterator[str]:
        members = [(decoded(t.get_member_name(i)), t.get_member_value(i)) for i in range(t.get_nmembers())]
        names = {value: quoted(name) for name, value in reversed(members)}
        if members == [("FALSE", 0), ("TRUE", 1)] and t.get_size() == 1:
            names = {0: "false", 1: "true"}
        for value in array.tolist():
            yield names.get(int(value), str(int(value)))

    def arrays(self, t: h5t.TypeID, array: np.ndarray) -> Iterator[str]:
        shape = t.get_array_dims()
        base = t.get_super()

        def nested(texts: list[str], shape: tuple[int, ...]) -> str:
            if len(shape) > 1:
                step = len(texts) // shape[0] if shape[0] else 0
                texts = [nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
            return f"[{','.join(texts)}]"

        for value in array:
            yield nested(list(self.of(base, value.reshape(-1, *dimensions(base)))), shape)

    def reference(self, value: Any) -> str:
        if not value:
            return "null"
        path = quoted(self.paths[key_of(self.file[value])])
        if isinstance(value, h5py.RegionReference):
            return f'{{"region_of":{path},"elements":{self.elements(value)}}}'
        return f'{{"object":{path}}}'

    def elements(self, value: h5py.RegionReference) -> str:
        """Returns the elements of a region: their coordinates, or the corners of their box if many."""
        space = h5r.get_region(value, self.file.id)
        kind, count = space.get_select_type(), space.get_select_npoints()
        if kind == h5s.SEL_ALL:
            return '"all"'
        if count == 0:
            return "[]"
        if count > LISTED:
            first, last = space.get_select_bounds()
            return f'{{"count":{count},"first":{listed(first)},"last":{listed(last)}}}'
        if kind == h5s.SEL_POINTS:
            rows = space.get_select_elem_pointlist().tolist()
        else:
            rows = []
            for first, last in space.get_select_hyper_blocklist().tolist():
                rows += itertools.product(*(range(low, high + 1) for low, high in zip(first, last, strict=True)))
            rows.sort()
        return f"[{','.join(map(listed, rows))}]"


def listed(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def key_of(node: h5py.HLObject) -> Any:
    info = h5o.get_info(node.id)
    return info.fileno, info.addr


def blocks(texts: Iterator[str], count: int) -> Iterator[str]:
    """Yields the lines that describe elements: themselves if they are few, or else checksums."""
    if count <= SHOWN:
        yield f"values [{','.join(texts)}]"
        return
    done = 0
    while done < count:
        size = min(BLOCK, count - done)
        digest = hashlib.sha256()
        for _ in range(size):
            digest.update(next(texts).encode("utf-8", "surrogateescape") + b"\n")
        yield f"values {done}:{done + size} sha256 {digest.hexdigest()}"
        done += size


def space_text(space: h5s.SpaceID) -> str:
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return "null"
    if kind == h5s.SCALAR:
        return "[]"
    most = ["null" if size == h5s.UNLIMITED else str(size) for size in space.get_simple_extent_dims(True)]
    return f"{list(space.get_simple_extent_dims())} max [{', '.join(most)}]"


class Canon:
    """The canonical text of one file."""

    def __init__(self, file: h5py.File, most: int | None = None) -> None:
        self.file, self.most = file, most
        self.first: dict[Any, str] = {}
        self.values = Values(file, dict(self.places()))

    def places(self) -> Iterator[tuple[Any, str]]:
        """Yields the key of each object and the first path that leads to it."""
        seen = set()

        def walk(group: h5py.Group, path: str) -> Iterator[tuple[Any, str]]:
            key = key_of(group)
            seen.add(key)
            yield key, path or "/"
            for name in names_of(group):
                if group.id.links.get_info(name).type == h5l.TYPE_HARD:
                    try:
                        node = open_node(group, name)
                        key = key_of(node)
                    except Exception:
                        continue
                    if key not in seen:
                        below = f"{path}/{decoded(name)}"
                        if isinstance(node, h5py.Group):
                            yield from walk(node, below)
                        else:
                            seen.add(key)
                            yield key, below

        yield from walk(self.file["/"], "")

    def lines(self) -> Iterator[str]:
        yield from self.node(self.file["/"], "")

    def node(self, node: h5py.HLObject, path: str) -> Iterator[str]:
        self.first[key_of(node)] = path or "/"
        kind = {h5py.Group: "group", h5py.Dataset: "dataset"}.get(type(node), "datatype")
        yield f"object {quoted(path or '/')} {'group' if isinstance(node, h5py.Group) else kind}"
        if isinstance(node, h5py.Dataset):
            yield from self.dataset(node)
        elif isinstance(node, h5py.Datatype):
            yield f" type {type_text(node.id)}"
        yield from self.attributes(node)
        if isinstance(node, h5py.Group):
            yield from self.links(node, path)

    def links(self, group: h5py.Group, path: str) -> Iterator[str]:
        for name in names_of(group):
            below = f"{path}/{decoded(name)}"
            info = group.id.links.get_info(name)
            if info.type == h5l.TYPE_SOFT:
                yield f"link {quoted(below)} soft {quoted(decoded(group.id.links.get_val(name)))}"
            elif info.type == h5l.TYPE_EXTERNAL:
                file, target = group.id.links.get_val(name)
                yield f"link {quoted(below)} external {quoted(decoded(file))} {quoted(decoded(target))}"
            elif info.type != h5l.TYPE_HARD:
                yield f"link {quoted(below)} user {info.type}"
            else:
                try:
                    node = open_node(group, name)
                    before = self.first.get(key_of(node))
                except Exception:
                    yield f"object {quoted(below)} unreadable"
                    continue
                if before is not None:
                    yield f"link {quoted(below)} hard {quoted(before)}"
                else:
                    yield from self.node(node, below)

    def attributes(self, node: h5py.HLObject) -> Iterator[str]:
        names = []
        h5py.h5a.iterate(node.id, lambda name, *_: names.append(name))
        for name in sorted(names):
            attribute = h5py.h5a.open(node.id, name)
            t, space = attribute.get_type(), attribute.get_space()
            yield f" attribute {quoted(decoded(name))} {type_text(t)} {space_text(space)}"
            if space.get_simple_extent_type() != h5s.NULL:
                try:
                    array = flat(attribute_values(attribute), t)
                    found = list(blocks(iter(list(self.values.of(t, array))), space.get_simple_extent_npoints()))
                except Exception:
                    found = ["values unreadable"]
                yield from (f"  {line}" for line in found)

    def dataset(self, dataset: h5py.Dataset) -> Iterator[str]:
        t, plist, space = dataset.id.get_type(), dataset.id.get_create_plist(), dataset.id.get_space()
        yield f" type {type_text(t)}"
        yield f" shape {space_text(space)}"
        layouts = {h5d.COMPACT: "compact", h5d.CONTIGUOUS: "contiguous", h5d.VIRTUAL: "virtual"}
        layout = layouts.get(plist.get_layout()) or f"chunked {list(plist.get_chunk())}"
        yield f" layout {layout}"
        for i in range(plist.get_external_count()):
            name, offset, size = plist.get_external(i)
            yield f" external {quoted(decoded(name))} {offset} {'rest' if size == h5s.UNLIMITED else size}"
        for i in range(plist.get_nfilters()):
            number, flags, data, _ = plist.get_filter(i)
            yield f" filter {number} {flags} {list(data)}"
        yield f" fill {self.fill(dataset, t, plist)}"
        if space.get_simple_extent_type() == h5s.NULL:
            return
        if plist.get_layout() == h5d.CHUNKED and plist.get_fill_time() == h5d.FILL_TIME_NEVER:
            yield " values undefined"
            return
        if self.most is not None and space.get_simple_extent_npoints() > self.most:
            yield " values too many"
            return
        try:
            found = list(blocks(self.elements(dataset, t), space.get_simple_extent_npoints()))
        except Exception:
            found = ["values unreadable"]
        yield from (f" {line}" for line in found)

    def fill(self, dataset: h5py.Dataset, t: h5t.TypeID, plist: h5py.h5p.PropDCID) -> str:
        defined = plist.fill_value_defined()
        if defined != h5d.FILL_VALUE_USER_DEFINED:
            return "undefined" if defined == h5d.FILL_VALUE_UNDEFINED else "default"
        try:
            return next(self.values.of(t, flat(np.asarray(dataset.fillvalue), t)))
        except Exception:
            return "unreadable"

    def elements(self, dataset: h5py.Dataset, t: h5t.TypeID) -> Iterator[str]:
        """Yields the texts of all elements, which are read some rows at a time."""
        if not dataset.shape:
            yield from self.values.of(t, flat(np.asarray(dataset[()]), t))
            return
        row = math.prod(dataset.shape[1:])
        step = max(1, BATCH // max(1, row))
        for first in range(0, dataset.shape[0] if row else 0, step):
            yield from self.values.of(t, flat(dataset[first : first + step], t))


def dimensions(t: h5t.TypeID) -> tuple[int, ...]:
    """Returns the dimensions that NumPy adds for array types, which may be nested."""
    return (*t.get_array_dims(), *dimensions(t.get_super())) if t.get_class() == h5t.ARRAY else ()


def flat(array: Any, t: h5t.TypeID) -> np.ndarray:
    """Returns elements as an array with one dimension, of which the items of array types are no part."""
    if not isinstance(array, np.ndarray):
        boxed = np.empty(1, object)
        boxed[0] = array
        return boxed if t.get_class() in (h5t.STRING, h5t.VLEN, h5t.REFERENCE) else np.asarray([array])
    return array.reshape(-1, *dimensions(t))


def attribute_values(attribute: h5py.h5a.AttrID) -> Any:
    """Returns the elements of an attribute as h5py's low-level API reads them."""
    shape, dtype = attribute.shape, attribute.dtype
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        out = np.zeros(shape + inner, base)
        attribute.read(out, mtype=h5t.py_create(dtype))
        return out
    out = np.zeros(shape, dtype)
    attribute.read(out)
    return out


def names_of(group: h5py.Group) -> list[bytes]:
    """Returns the names of a group's links, sorted by their bytes."""
    names: list[bytes] = []
    group.id.links.iterate(names.append)
    return sorted(names)


def open_node(group: h5py.Group, name: bytes) -> h5py.HLObject:
    found = h5o.open(group.id, name)
    kinds = {h5py.h5g.GroupID: h5py.Group, h5d.DatasetID: h5py.Dataset}
    return kinds.get(type(found), h5py.Datatype)(found)


def lines(path: str | os.PathLike[str], most: int | None = None) -> Iterator[str]:
    """Yields the lines of a canonical text, without elements of datasets that have more than `most`."""
    with h5py.File(path, "r", locking=False) as file:
        yield from Canon(file, most).lines()


def main() -> None:
    """Prints the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--limit", type=int, help="print no elements of datasets that have more")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    for path in arguments.files:
        for line in lines(path, arguments.limit):
            sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")


if __name__ == "__main__":
    main()
