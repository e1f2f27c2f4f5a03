"""Objects in notebooks: trees that fold, as HTML without scripts.

Reads are bounded: the first members of a group, the first attributes of an object, no elements of a dataset.
Everything that a file says is escaped. An object that cannot be read shows its error in its place.
"""

import html
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import (
    check_enum_dtype,
    check_opaque_dtype,
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
)
from ._native import AttributeManager, Dataset, Datatype, Empty, File, Group, HLObject, Reference

if TYPE_CHECKING:
    from .segy import Survey

#: The members that are shown of the group itself, and of each group below it.
_MEMBERS, _MEMBERS_BELOW = 50, 10
#: The most members of a group of which all names are read, so that the first ones can be shown.
_SORTED = 2000
#: The objects that are opened for one output, and the depth of groups below the first one.
_OBJECTS, _DEPTH = 200, 4
_ATTRIBUTES, _COLUMNS, _SOURCES = 50, 50, 5
#: The most elements and bytes of an attribute that are read (what is of variable length does not count), and
#: the most characters that are shown of a text.
_ELEMENTS, _VALUE_BYTES, _CHARACTERS = 1000, 1 << 20, 300
#: The most chunks whose stored sizes are added up: of the object itself, and of each dataset below it.
_CHUNKS, _CHUNKS_BELOW = 10_000, 100

# Colours follow the text around the output, so that they suit any theme. The doubled class wins over the
# rules of Jupyter for lists. A page that is not trusted has no styles: it shows the line of text.
_STYLE = """
.hs-text{display:none}
.hs-html.hs-html{display:block!important;color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));
font-size:var(--jp-content-font-size1,14px);line-height:1.5;max-width:100%;overflow-x:auto;text-align:left;
--hs-line:color-mix(in srgb,currentColor 22%,transparent);--hs-error:var(--jp-error-color1,#d9534f)}
.hs-html.hs-html ul{list-style:none;margin:0;padding:0 0 0 .6em;border-left:1px solid var(--hs-line);margin-left:.35em}
.hs-html.hs-html li{margin:0;padding:0}
.hs-html.hs-html summary{cursor:pointer;list-style:none;display:flex;gap:.4em;padding:0;margin:0}
.hs-html.hs-html summary::-webkit-details-marker{display:none}
.hs-html.hs-html summary::before{content:"\\25B8";flex:none;width:.9em;opacity:.6}
.hs-html.hs-html details[open]>summary::before{content:"\\25BE"}
.hs-html.hs-html summary:hover{background:color-mix(in srgb,currentColor 7%,transparent)}
.hs-html .hs-row{display:flex;flex-wrap:wrap;gap:0 1em;min-width:0}
.hs-html .hs-leaf{padding-left:1.3em}
.hs-html .hs-name{font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}
.hs-html .hs-more{opacity:.72;overflow-wrap:anywhere;unicode-bidi:isolate}
.hs-html .hs-error{color:var(--hs-error);overflow-wrap:anywhere}
.hs-html .hs-body{padding:0 0 .2em 1.3em}
.hs-html.hs-html dl{display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:0 1em;margin:0;padding:0}
.hs-html.hs-html dl>dt,.hs-html.hs-html dl>dd{float:none;width:auto;margin:0;padding:0;text-align:left;
font-weight:400;overflow-wrap:anywhere;white-space:pre-wrap;unicode-bidi:isolate}
.hs-html.hs-html dl>dt{opacity:.72}
.hs-html.hs-html pre{margin:0;padding:0;background:none;border:0;color:inherit;font-size:.85em;overflow-x:auto}
""".replace("\n", "")


def of_object(found: HLObject) -> str:
    """Returns the HTML of a file, a group, a dataset or a committed datatype."""
    return _output(lambda: _title(found), lambda: _Tree().content(found, _MEMBERS, _CHUNKS, 0, _OBJECTS), bool(found))


def of_attributes(attributes: AttributeManager, owner: HLObject) -> str:
    """Returns the HTML of the attributes of an object."""

    def title() -> str:
        return f"Attributes of {_title(owner)}" if owner else repr(attributes)[1:-1]

    return _output(title, lambda: _values(attributes)[1], bool(owner))


def of_survey(survey: "Survey") -> str:
    """Returns the HTML of a seismic survey."""

    def content() -> str:
        axes = []
        for name, values in survey.axes.items():
            unit = survey.units.get(name, "")
            spread = f"{values[0]:.15g} to {values[-1]:.15g} {unit}".rstrip() if len(values) else "nothing"
            axes.append((name, f"{spread}, {_counted(len(values), 'value')}"))
        source = survey.source
        facts = [
            ("source", f"{source['name']}, {_bytes(source['bytes'])}"),
            ("format", f"SEG-Y revision {source['revision']}, {source['sample_format']}, {source['byte_order']}"),
            *([("geometry", source["geometry_fields"])] if source["geometry_fields"] else []),
        ]
        text = f"<pre>{_text(survey.text, 20_000)}</pre>"
        file = _Tree().content(survey.file, _MEMBERS_BELOW, _CHUNKS_BELOW, 1, _OBJECTS)
        return _facts(axes + facts) + _fold("textual header", "", text) + _fold("datasets", "", file)

    return _output(lambda: f"Survey: {survey.kind} of {survey.data.dtype}", content, bool(survey.file), "Closed survey")


def _output(title: Callable[[], str], content: Callable[[], str], is_open: bool, closed: str | None = None) -> str:
    """Returns the whole output: the styles, the line of text for pages without styles, and the tree."""
    try:
        line = (closed if not is_open else None) or title()
        body = content() if is_open else ""
    # A notebook shows nothing but the traceback of an exception.
    except Exception as error:
        line, body = "HDF5 object", _leaf("", error=error)
    inside = f'<div class="hs-row"><span class="hs-name">{_text(line)}</span></div>{body}'
    return (
        f'<div><style>{_STYLE}</style><pre class="hs-text">{_text(line)}</pre>'
        f'<div class="hs-html" style="display:none">{inside}</div></div>'
    )


def _title(found: HLObject) -> str:
    """Returns the line about an object: its representation, without the count of its members."""
    if not found or isinstance(found, File):
        return repr(found)[1:-1]
    kind = "group" if isinstance(found, Group) else "named type" if isinstance(found, Datatype) else "dataset"
    if isinstance(found, Dataset) and type(found) is not Dataset and type(found).__module__.startswith("hyperslab."):
        kind = type(found).__name__.lower()
    name: str | bytes | None = found.name
    if isinstance(name, bytes):
        name = name.decode("utf-8", "backslashreplace")
    return f"HDF5 {kind} (anonymous)" if name is None else f'HDF5 {kind} "{name}"'


class _Tree:
    """The objects of one output, of which a bounded number is opened."""

    def __init__(self) -> None:
        self.seen: dict[HLObject, str] = {}

    def content(self, found: HLObject, members: int, chunks: int, depth: int, budget: int) -> str:
        """Returns what is below the line of an object. Of its members and below, `budget` are opened."""
        parts = []
        try:
            if isinstance(found, Dataset):
                parts.append(_facts(_dataset_facts(found, chunks)))
                parts.append(_columns(found))
            elif isinstance(found, Datatype):
                parts.append(_facts([("type", _type(found.dtype))]))
        except Exception as error:
            parts.append(_leaf("", error=error))
        try:
            count, values = _values(found.attrs)
            if count != "0":
                parts.append(_fold("attributes", count, values))
        except Exception as error:
            parts.append(_leaf("attributes", error=error))
        if isinstance(found, Group):
            parts.append(self.members(found, min(members, budget), depth, budget))
        return "".join(parts)

    def members(self, group: Group, most: int, depth: int, budget: int) -> str:
        """Returns the first members of a group, with what is below them."""
        self.seen.setdefault(group, group.name or "")
        try:
            names, count = group._some_names(most)
            if count is not None and most < count <= _SORTED:
                names = group._names()[:most]
        except Exception as error:
            return _leaf("members", error=error)
        # All members of a level are opened before any below them, and groups share the rest of the budget.
        opened = [(name, *_opened(group, name)) for name in names]
        groups = sum(isinstance(found, Group) for _, found, _ in opened)
        share = (budget - len(names)) // max(1, groups)
        rows = [self.member(name, found, line, depth, share) for name, found, line in opened]
        if count is None or count > len(names):
            more = "more members" if count is None else f"{count - len(names):,} more of {count:,} members"
            rows.append(_leaf(f"… and {more}", is_name=False))
        elif not rows:
            rows.append(_leaf("no members", is_name=False))
        return f"<ul>{''.join(f'<li>{row}</li>' for row in rows)}</ul>"

    def member(self, name: str, found: Any, line: "str | Exception", depth: int, budget: int) -> str:
        """Returns the line of a member, which folds what is below it."""
        try:
            if isinstance(line, Exception):
                return _leaf(name, error=line)
            if isinstance(found, Dataset):
                return _fold(name, line, self.content(found, 0, _CHUNKS_BELOW, depth, 0))
            if not isinstance(found, Group):
                return _leaf(name, line)
            if found in self.seen:
                return _leaf(name, f"{line}, the same as {self.seen[found]}")
            is_empty = found._some_names(0)[1] == 0
            if depth == _DEPTH or (is_empty and found.attrs._some_names(0)[1] == 0) or (budget == 0 and not is_empty):
                return _leaf(name, line)
            return _fold(name, line, self.content(found, _MEMBERS_BELOW, _CHUNKS_BELOW, depth + 1, budget))
        except Exception as error:
            return _leaf(name, error=error)


def _opened(group: Group, name: str) -> "tuple[Any, str | Exception]":
    """Returns a member and its line. A link is not followed: its line has its target."""
    try:
        target = _link(group, name)
        if target is not None:
            return None, target
        found = group[name]
        if isinstance(found, Dataset):
            return found, _dataset_line(found)
        if isinstance(found, Datatype):
            return found, f"named type: {_type(found.dtype)}"
        count = found._some_names(0)[1]
        return found, "group" if count is None else f"group, {_counted(count, 'member')}"
    except Exception as error:
        return None, error


def _link(group: Group, name: str) -> str | None:
    """Returns the target of a soft or external link, which is not followed, or None for another member."""
    link = group.get(name, getlink=True)
    if hasattr(link, "filename"):
        return f"→ {link.path} in {link.filename}"
    return f"→ {link.path}" if hasattr(link, "path") else None


def _dataset_line(dataset: Dataset) -> str:
    shape = "empty" if dataset.shape is None else "scalar" if dataset.shape == () else str(dataset.shape)
    size = "" if dataset.shape is None or dataset.dtype.hasobject else f", {_bytes(dataset.nbytes)}"
    return f"{shape}, {_type(dataset.dtype)}{size}"


def _dataset_facts(dataset: Dataset, most_chunks: int) -> "Iterable[tuple[str, str]]":
    shape = dataset.shape
    if shape is None:
        yield "shape", "empty: no elements"
        yield "type", _type(dataset.dtype)
        return
    limits = dataset.maxshape or shape
    yield "shape", "scalar" if shape == () else _by(shape)
    if limits != shape:
        yield "maxshape", _by(limits)
    yield "type", _type(dataset.dtype)
    is_flat = not dataset.dtype.hasobject
    yield "size", f"{_bytes(dataset.nbytes)}" if is_flat else _counted(dataset.size or 0, "element")
    if dataset.is_virtual:
        sources = [f"{one.dset_name} in {one.file_name}" for one in dataset.virtual_sources()[: _SOURCES + 1]]
        listed = "; ".join(sources[:_SOURCES]) + ("; …" if len(sources) > _SOURCES else "")
        yield "virtual", listed or "no sources"
    elif dataset.external:
        yield "external", _counted(len(dataset.external), "file") + f", first {dataset.external[0][0]}"
    elif dataset.chunks is None:
        identifier: Any = dataset.id
        yield "layout", "compact" if identifier.get_create_plist().get_layout() == 0 else "contiguous"
    else:
        grid = math.prod(-(-side // chunk) for side, chunk in zip(shape, dataset.chunks, strict=True))
        size = math.prod(dataset.chunks) * dataset.dtype.itemsize
        yield "chunks", f"{grid:,} of {_by(dataset.chunks)}" + (f", {_bytes(size)} each" if is_flat else "")
        if dataset.filter_names:
            yield "filters", ", ".join(dataset.filter_names)
        if grid <= most_chunks:
            stored = dataset.id.get_storage_size()
            ratio = (
                f", {dataset.nbytes / stored:.3g} times smaller" if is_flat and stored and dataset.filter_ids else ""
            )
            yield "stored", _bytes(stored) + ratio


def _columns(dataset: Dataset) -> str:
    """Returns the columns of a dataset of records."""
    names = dataset.dtype.names
    if not names:
        return ""
    rows = [(name, _type(dataset.dtype[name])) for name in names[:_COLUMNS]]
    if len(names) > _COLUMNS:
        rows.append(("…", f"{len(names) - _COLUMNS:,} more"))
    return _fold("columns", f"{len(names):,}", _facts(rows))


def _values(attributes: AttributeManager) -> tuple[str, str]:
    """Returns the number of attributes, as text, and their names and values."""
    names, count = attributes._some_names(_ATTRIBUTES)
    rows = [(name, _value(attributes, name)) for name in names]
    if count > len(names):
        rows.append(("…", f"{count - len(names):,} more"))
    body = "".join(f"<dt>{_text(name)}</dt><dd>{value}</dd>" for name, value in rows)
    return f"{count:,}", f"<dl>{body}</dl>"


def _value(attributes: AttributeManager, name: str) -> str:
    """Returns the HTML of the value of an attribute. Values of many elements are not read."""
    try:
        described = attributes.get_id(name)
        shape, dtype = described.shape, described.dtype
        if shape is None:
            return _text(f"empty, {_type(dtype)}")
        if math.prod(shape) > _ELEMENTS or math.prod(shape) * dtype.itemsize > _VALUE_BYTES:
            return _text(f"{_by(shape)}, {_type(dtype)}")
        value = attributes[name]
        if isinstance(value, str | bytes | Reference | Empty):
            return _text(value if isinstance(value, str | bytes) else repr(value))
        if isinstance(value, np.ndarray):
            listed = np.array2string(value, threshold=12, edgeitems=4, separator=", ", max_line_width=10**6)
            return _text(f"{' '.join(listed.split())}  ({_by(shape)}, {_type(dtype)})")
        return _text(f"{value}  ({_type(dtype)})" if dtype.names is None else str(value))
    except Exception as error:
        return _error(error)


def _type(dtype: "np.dtype[Any]", depth: int = 0) -> str:
    """Returns the name of a dtype, as readers call it."""
    texts, base = check_string_dtype(dtype), check_vlen_dtype(dtype)
    if texts is not None:
        return (
            f"str, {texts.encoding}"
            if texts.length is None
            else f"str of {_counted(texts.length, 'byte')}, {texts.encoding}"
        )
    if base is not None:
        return f"sequence of {_type(np.dtype(base), depth + 1)}"
    if dtype.subdtype is not None:
        return f"{_by(dtype.subdtype[1])} array of {_type(dtype.subdtype[0], depth + 1)}"
    values = check_enum_dtype(dtype)
    if values is not None:
        return f"enum of {_listed(list(values), 4)}"
    reference = check_ref_dtype(dtype)
    if reference is not None:
        return "object reference" if reference is Reference else "region reference"
    if dtype.names is not None:
        return f"record of {_listed(list(dtype.names), 4 if depth == 0 else 2)}"
    if check_opaque_dtype(dtype) or dtype.kind == "V":
        return f"opaque, {_counted(dtype.itemsize, 'byte')}"
    return dtype.name + (", big-endian" if dtype.str.startswith(">") and dtype.itemsize > 1 else "")


def _listed(names: "list[str]", most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _by(shape: "Iterable[int | None]") -> str:
    return " × ".join("unlimited" if side is None else f"{side:,}" for side in shape)


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            break
        size /= 1024
    return f"{count:,} B" if unit == "B" else f"{size:,.1f} {unit}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _facts(rows: "Iterable[tuple[str, str]]") -> str:
    return f"<dl>{''.join(f'<dt>{_text(name)}</dt><dd>{_text(value)}</dd>' for name, value in rows)}</dl>"


def _row(name: str, more: str) -> str:
    shown = f'<span class="hs-more">{_text(more)}</span>' if more else ""
    return f'<span class="hs-name">{_text(name)}</span>{shown}'


def _fold(name: str, more: str, content: str) -> str:
    row = f'<span class="hs-row">{_row(name, more)}</span>'
    return f'<details><summary>{row}</summary><div class="hs-body">{content}</div></details>'


def _leaf(name: str, more: str = "", *, error: Exception | None = None, is_name: bool = True) -> str:
    row = _row(name, more) if is_name else _row("", name)
    return f'<div class="hs-row hs-leaf">{row}{"" if error is None else _error(error)}</div>'


def _error(error: Exception) -> str:
    return f'<span class="hs-error">{_text(f"{type(error).__name__}: {error}")}</span>'


def _text(text: "str | bytes", most: int = _CHARACTERS) -> str:
    """Returns text of a file as HTML. Characters that are not printed, and halves of characters, which no
    notebook can store, are shown by their numbers."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    if len(text) > most:
        text = f"{text[:most]}… ({len(text):,} characters)"
    if not text.isprintable():
        text = "".join(
            one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text
        )
    return html.escape(text)
