"""The docstrings of the package, as the site shows them.

A class has the members of the private classes that it is made of. A section "Example" is code, and no note.
A name in backticks leads to its place in the reference: `Group`, `Group.create_dataset`, and within a class
its own methods. The path of a page of `docs/` leads to the page.
"""

import re
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import griffe

EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)
# griffe takes the words before a colon for a type.
RESULT = re.compile(r"(^(?:Returns|Yields):\n +[^\n:]*):(?= )", re.MULTILINE)
NAME = re.compile(r"(?<!\[)`([A-Za-z]\w*)(\.[a-z]\w*)?`")
PAGE = re.compile(r"docs/([\w/.-]+\.md)")
ALIAS = re.compile("_[A-Z]")
SHOWN = re.compile(r"^::: (hyperslab\.\S+)", re.MULTILINE)
REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"


def shown_names() -> dict[str, str]:
    """Returns the paths of the names that the pages of the reference show, by their last parts."""
    paths = [path for page in sorted(REFERENCE.glob("*.md")) for path in SHOWN.findall(page.read_text())]
    return {path.rpartition(".")[2]: path for path in reversed(paths)}


def target(obj: Any) -> Any:
    """Returns the object that a name of the package stands for."""
    return obj.final_target if obj.is_alias else obj


class References(griffe.Extension):
    """Rewrites docstrings when the package has been read."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Rewrites the docstrings of all names that are shown."""
        shown = shown_names()
        found = {name: target(pkg[path.removeprefix("hyperslab.")]) for name, path in shown.items()}
        for obj in found.values():
            if obj.is_class:
                take_overloads(obj)
                take_in(obj, set(found))
        for obj in found.values():
            if obj.is_class:
                show_bases(obj, pkg, set(found))
        for name, obj in found.items():
            for each in (obj, *members(obj)):
                show_aliases(each)
                if each.is_class and "__init__" in each.members:
                    show_aliases(each.members["__init__"])
                if each.docstring:
                    text = RESULT.sub(r"\1&#58;", EXAMPLE.sub("Examples:", each.docstring.value))
                    each.docstring.value = with_references(text, name if obj.is_class else None, shown, found)


def show_aliases(obj: Any) -> None:
    """Names the private aliases of types in a signature as the first page of the reference explains them."""
    if obj.is_function:
        types = [*(each.annotation for each in obj.parameters), obj.returns]
    else:
        types = [obj.annotation] if obj.is_attribute else []
    for part in (part for each in types if isinstance(each, griffe.Expr) for part in each.iterate(flat=True)):
        if isinstance(part, griffe.ExprName) and ALIAS.match(part.name):
            part.name = part.name.removeprefix("_")


def take_overloads(obj: griffe.Class) -> None:
    """Gives a class the methods that its stub has only in several forms. The last has the docstring."""
    for name, forms in obj.overloads.items():
        if name not in obj.members and forms:
            method = copy(forms[-1])
            method.overloads = forms
            obj.set_member(name, method)


def take_in(obj: griffe.Class, shown: set[str]) -> None:
    """Gives a class the members of those classes that it is made of and that the reference does not show."""
    for part in obj.mro():
        if part.name not in shown and part.path.startswith("hyperslab."):
            for name, member in part.members.items():
                if name not in obj.members and is_shown(part, name):
                    obj.set_member(name, copy(member))


def show_bases(obj: griffe.Class, pkg: griffe.Module, shown: set[str]) -> None:
    """Gives a class, in place of bases that the reference does not show, the nearest class that it shows."""
    ours = [part for part in obj.mro() if part.path.startswith("hyperslab.")]
    hidden = {part.name for part in ours if part.name not in shown}
    if any(str(base).rpartition(".")[2] in hidden for base in obj.bases):
        nearest = next((part.name for part in ours if part.name in shown), None)
        obj.bases = [griffe.ExprName(nearest, parent=pkg)] if nearest else []


def members(obj: Any) -> Iterator[Any]:
    """Yields the members of a class or module that the reference shows."""
    return (member for name, member in obj.members.items() if is_shown(obj, name))


def is_shown(obj: Any, name: str) -> bool:
    """Returns whether a class or module has a public member of its own with a docstring."""
    member = obj.members.get(name)
    return member is not None and not name.startswith("_") and not member.is_alias and bool(member.docstring)


def page_link(path: re.Match[str]) -> str:
    """Returns the path of a page in the repository as a link with the heading of the page."""
    heading = (REFERENCE.parent / path[1]).read_text().partition("\n")[0].removeprefix("# ")
    return f"[{heading}](../{path[1]})"


def with_references(text: str, inside: str | None, shown: dict[str, str], found: dict[str, Any]) -> str:
    """Returns a docstring whose names are links, except in examples."""

    def linked(name: re.Match[str]) -> str:
        first, member = name[1], (name[2] or "").removeprefix(".")
        if not member and inside and is_shown(found[inside], first) and found[inside].members[first].is_function:
            return f"[{name[0]}][{shown[inside]}.{first}]"
        known = first in shown and first[0].isupper() and first != inside
        if known and (not member or is_shown(found[first], member)):
            return f"[{name[0]}][{shown[first]}{name[2] or ''}]"
        return name[0]

    before, examples, after = text.partition("\nExamples:\n")
    return PAGE.sub(page_link, NAME.sub(linked, before)) + examples + after
