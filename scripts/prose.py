"""Checks the prose of the repository: the width of comments, docstrings and Markdown, and words to avoid.

    python scripts/prose.py            # everything that git tracks
    python scripts/prose.py README.md  # some files

Prints each finding as `file:line: what`, and exits with 1 if there is one.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 110
"""Columns of a comment or of a line of Markdown, as `rustfmt.toml` has them for code."""

WORDS = {
    r"so many": "name the number",
    r"whoever|nobody|somebody": "say caller, reader, thread or program",
    r"at hand": "say cached, in memory or available",
    r"goes down to": "say is written to",
    r"as things are": "say now, or leave it out",
    r"behind the back of": "say without the knowledge of, or name the other program",
    r"every so-?manieth": "say every n-th",
    r"what is (?:asked|changed|given|held|known|left|missing|needed|read|said|stored|there|wanted|written)": "name it",
}
"""Habits, as regular expressions, and what to do about them."""

COMMENT = {".rs": re.compile(r"^\s*//[/!]?"), ".py": re.compile(r"^\s*#"), ".pyi": re.compile(r"^\s*#")}
HABIT = re.compile("|".join(rf"\b(?:{words})\b" for words in WORDS), re.IGNORECASE)
LINK = re.compile(r"\]\(|https?://|^\[")


def docstring_lines(text: str) -> set[int]:
    """Returns the numbers of the lines of all docstrings in the Python source `text`."""
    # A docstring is a statement that is only a string. Those of attributes follow the attribute.
    alone = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    docs = [node.value for node in alone if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)]
    return {number for doc in docs for number in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}


def findings(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the number of each line with a fault, and the fault."""
    is_comment, fenced, text = COMMENT.get(path.suffix), False, path.read_text()
    in_docstring = docstring_lines(text) if path.suffix in (".py", ".pyi") else set()
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            is_prose, may_be_wide = not fenced, fenced or line.lstrip().startswith("|") or LINK.search(line)
        else:
            is_prose = bool(is_comment and is_comment.match(line)) or number in in_docstring
            may_be_wide = LINK.search(line)
        if not is_prose:
            continue
        if len(line) > WIDTH and not may_be_wide:
            yield number, f"{len(line)} columns, at most {WIDTH}"
        for habit in HABIT.finditer(line):
            advice = next(say for words, say in WORDS.items() if re.fullmatch(words, habit[0], re.IGNORECASE))
            yield number, f'"{habit[0]}": {advice}'


def with_prose() -> list[Path]:
    """Returns the files of the repository that have prose, also those that are not added yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout
    return [path for path in map(Path, listed.splitlines()) if path.suffix in {*COMMENT, ".md"}]


def main() -> int:
    """Prints the findings in the files that the command line names, or in all; returns the exit code."""
    paths = [Path(name) for name in sys.argv[1:]] or with_prose()
    found = [(path, *finding) for path in paths for finding in findings(path)]
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
