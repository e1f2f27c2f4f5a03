"""Copies the docstrings of the built package into the stub of its native module, which editors read.

    python scripts/stub_docs.py           writes crates/python/python/hyperslab/_native.pyi
    python scripts/stub_docs.py --check   fails if the stub would change

The doc comments of the Rust sources are the one source of both: `help()` shows them, and the stub repeats
them.
"""

import argparse
import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperslab import _native

STUB = Path(__file__).parent.parent / "crates" / "python" / "python" / "hyperslab" / "_native.pyi"
# The methods of all views are those of this one.
SHARED = {"_View": "AsTypeView"}
Documented = ast.ClassDef | ast.FunctionDef


def documented(body: list[ast.stmt], holder: Any) -> Iterator[tuple[Documented, str]]:
    """The public definitions below ``holder``, with the docstrings of the package."""
    for node in body:
        if not isinstance(node, Documented) or (node.name.startswith("_") and node.name not in SHARED):
            continue
        if any("overload" in ast.unparse(mark) or "setter" in ast.unparse(mark) for mark in node.decorator_list):
            if ast.get_docstring(node) is None:
                continue
        found = getattr(holder, SHARED.get(node.name, node.name))
        if node.name not in SHARED:
            yield node, inspect.cleandoc(found.__doc__ or "")
        if isinstance(node, ast.ClassDef):
            yield from documented(node.body, found)


def docstring(text: str, indent: str) -> list[str]:
    """The lines of a docstring."""
    first, *others = text.splitlines()
    if not others:
        return [f'{indent}"""{first}"""']
    return [f'{indent}"""{first}', *(indent + line if line else "" for line in others), f'{indent}"""']


def rewritten(stub: str) -> str:
    """The stub with the docstrings of the package."""
    lines = stub.splitlines()
    # From the last definition to the first, so that line numbers stay true.
    found = sorted(documented(ast.parse(stub).body, _native), key=lambda pair: -pair[0].lineno)
    for node, text in found:
        if not text:
            raise SystemExit(f"{node.name} has no docstring")
        body = node.body[0]
        if ast.get_docstring(node) is not None:
            lines[body.lineno - 1 : body.end_lineno] = docstring(text, " " * body.col_offset)
        elif isinstance(node, ast.FunctionDef):
            line = lines[body.end_lineno - 1]
            lines[body.end_lineno - 1 : body.end_lineno] = [
                line.removesuffix(" ..."),
                *docstring(text, " " * (node.col_offset + 4)),
            ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes or checks the stub."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the stub would change")
    check = parser.parse_args().check
    stub = STUB.read_text()
    new = rewritten(stub)
    if check and new != stub:
        print(f"{STUB.name} does not have the docstrings of the package: run `python scripts/stub_docs.py`")
        return 1
    if not check:
        STUB.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
