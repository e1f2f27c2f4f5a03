"""Checks how the Rust crates are put together: names of types, and circles of imports.

    python scripts/rust_structure.py          # fails where a rule is broken
    python scripts/rust_structure.py --list   # also lists all circles of imports

A name that stands for many types says nothing where it is read, and a search for it finds the wrong ones.
Files that import each other can only be understood together.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_TYPES = 3
"""How many types of the workspace may have one name."""

IDIOMS = {"Args", "Error", "Result"}
"""Names that each crate or command has by convention, and that are read with it: `segy::Error`."""

MOST_FILES = 3
"""How many files may be in one circle of imports."""

TYPE = re.compile(
    r"^(?P<indent>\s*)(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?P<kind>struct|enum|trait|union|type) (?P<name>[A-Z]\w*)",
    re.M,
)
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ((?:crate|super|self)::[^;]*);", re.M)
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod tests \{", re.M)


def sources() -> dict[Path, str]:
    """Returns the text of each source file of the crates, without its tests."""
    files = [file for file in sorted(ROOT.glob("crates/*/src/**/*.rs")) if file.name != "tests.rs"]
    return {file: TESTS.split(file.read_text(), maxsplit=1)[0] for file in files}


def repeated(texts: dict[Path, str]) -> dict[str, list[str]]:
    """Returns where each name stands that too many types have."""
    found = defaultdict(list)
    for file, text in texts.items():
        for match in TYPE.finditer(text):
            # An indented `type` is an associated type, whose name its trait prescribes.
            if match["kind"] == "type" and match["indent"].strip("\n"):
                continue
            line = text.count("\n", 0, match.start("kind")) + 1
            found[match["name"]].append(f"{file.relative_to(ROOT)}:{line}")
    return {name: places for name, places in found.items() if len(places) > MOST_TYPES and name not in IDIOMS}


def module_of(file: Path) -> tuple[str, ...]:
    """Returns the path of the module in `file`: its crate, then the names of modules."""
    crate, _, *parts = file.relative_to(ROOT / "crates").with_suffix("").parts
    return (crate, *parts[:-1], *(parts[-1:] if parts[-1] not in ("mod", "lib", "main") else ()))


def split(tree: str) -> list[str]:
    """Splits `a, b::{c, d}` at the commas that are in no braces."""
    items, depth, item = [], 0, ""
    for char in tree:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            items.append(item)
            item = ""
        else:
            item += char
    return [item for item in [*items, item] if item]


def leaves(tree: str) -> list[list[str]]:
    """Returns the paths that a `use` names."""
    tree = re.sub(r"\s+as\s+\w+", "", tree)
    head, brace, rest = re.sub(r"\s+", "", tree).partition("{")
    if not brace:
        return [head.split("::")]
    prefix = [name for name in head.split("::") if name]
    return [prefix + leaf for item in split(rest[: rest.rindex("}")]) for leaf in leaves(item)]


def resolved(path: list[str], module: tuple[str, ...], modules: dict[tuple[str, ...], Path]) -> tuple[str, ...] | None:
    """Returns the module of the workspace that `path`, as written in `module`, leads to."""
    at = list(module)
    for name in path:
        if name == "crate":
            at = [module[0]]
        elif name == "super":
            at.pop()
        elif name != "self":
            if (*at, name) not in modules:
                break
            at.append(name)
    return tuple(at) if tuple(at) in modules else None


def imports(texts: dict[Path, str]) -> dict[Path, set[Path]]:
    """Returns the files that each file imports from.

    What a parent takes from its own children does not count, nor what a child takes from its parent: both are
    one room.
    """
    modules = {module_of(file): file for file in texts}
    graph = {file: set() for file in texts}
    for module, file in modules.items():
        for match in USE.finditer(texts[file]):
            for path in leaves(match[1]):
                target = resolved(path, module, modules)
                is_family = target is None or target == module[: len(target)] or module == target[: len(module)]
                if not is_family:
                    graph[file].add(modules[target])
    return graph


def circles(graph: dict[Path, set[Path]]) -> list[list[Path]]:
    """Returns the strongly connected parts of more than one file (Tarjan), the largest first."""
    index, low, stack, found = {}, {}, [], []

    def visit(file: Path) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for target in graph[file]:
            if target not in index:
                visit(target)
                low[file] = min(low[file], low[target])
            elif target in stack:
                low[file] = min(low[file], index[target])
        if low[file] == index[file]:
            part = stack[stack.index(file) :]
            del stack[stack.index(file) :]
            if len(part) > 1:
                found.append(sorted(part))

    for file in graph:
        if file not in index:
            visit(file)
    return sorted(found, key=len, reverse=True)


def findings(texts: dict[Path, str]) -> list[str]:
    """Returns what breaks a rule."""
    found = [
        f"{places[0]}: {len(places)} types are called {name} (at most {MOST_TYPES}): {', '.join(places[1:])}"
        for name, places in sorted(repeated(texts).items())
    ]
    for circle in circles(imports(texts)):
        names = [str(file.relative_to(ROOT / "crates")) for file in circle]
        if len(circle) > MOST_FILES:
            found.append(f"{len(circle)} files import each other (at most {MOST_FILES}): {', '.join(names)}")
    return found


def listed(texts: dict[Path, str]) -> list[str]:
    """Returns all circles, and what each of their files imports from the others."""
    graph = imports(texts)
    lines = []
    for circle in circles(graph):
        lines.append(f"{len(circle)} files import each other:")
        for file in circle:
            within = sorted(str(target.relative_to(ROOT / "crates")) for target in graph[file] if target in circle)
            lines.append(f"    {file.relative_to(ROOT / 'crates')} -> {', '.join(within)}")
    return lines


def main() -> int:
    """Prints what breaks a rule; returns the exit code."""
    texts = sources()
    broken = findings(texts)
    print("\n".join([*(listed(texts) if "--list" in sys.argv else []), *broken]), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
