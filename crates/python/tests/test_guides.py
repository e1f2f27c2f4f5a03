"""The code of the documentation runs: each page's blocks, one after the other, in an empty folder.

A block in ```python runs in one interpreter for the page, a block in ```sh in a shell, with the command
`hyperslab`; of a block in ```console the lines after `$` run. A program in ```c or ```cpp is compiled with
the library of `make capi` and runs; shells have its folder as `HYPERSLAB_C`. A block in ```rust runs as a
documentation test of the crate `hyperslab-testkit`, one in ```java in `GuideTest.java` (`make test-java`),
one in ```toml is parsed, and ```text is no code. A block that cannot run in a test has a reason in the line
before it: `<!-- not run: REASON -->`.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import pytest
from needs import need
from support import IS_H5PY, REPOSITORY, hs
from test_documentation import REACHED

if IS_H5PY:
    pytest.skip("about hyperslab's own documentation", allow_module_level=True)

BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n\n?)?```(?P<kind>.*)\n(?P<code>(?s:.*?))^```$", re.MULTILINE
)
# A name whose docstring the page shows, or an anchor of a constant, which has none.
NAME = re.compile(r"(?:^::: |<a id=\")(hyperslab\.[^\s\"]+)", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
PAGES = [*(REPOSITORY / "docs").rglob("*.md"), *REPOSITORY.glob("*.md"), REPOSITORY / "bench" / "README.md"]
PAGES = {str(path.relative_to(REPOSITORY)): path.read_text() for path in sorted(PAGES)}


LIBRARY = REPOSITORY / "target" / "capi"
"""The library for C, with its header."""
COMPILERS = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}


PROGRAMS = {"docs/guide/c.md": ("g++", "pkg-config")}
"""What a page runs beside the package and the programs that README names."""


def blocks_of(page):
    return list(BLOCK.finditer(PAGES[page]))


def runs(block):
    return block["reason"] is None and block["kind"] in ("python", "sh", "console", *COMPILERS)


# Pages whose first steps people try in a notebook, where a cell runs again.
CELLS = ("README.md", "docs/start.md")


def shell_lines(block):
    if block["kind"] == "sh":
        return block["code"]
    return "\n".join(line[2:] for line in block["code"].splitlines() if line.startswith("$ "))


def run_in_shell(lines, folder):
    """Runs lines with the command of this interpreter's package."""
    command = f'hyperslab() {{ {sys.executable} -m hyperslab "$@"; }}\nset -e\n{lines}'
    environment = {**os.environ, "HYPERSLAB_C": str(LIBRARY)}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{lines}\n{done.stdout}{done.stderr}"
    # A page does not show a `repack` that makes a larger file.
    assert "is larger than" not in done.stderr, f"{lines}\n{done.stderr}"


def compile_and_run(block, folder):
    """Runs a program in C or C++, of which every warning is an error."""
    source, program = folder / f"program.{block['kind']}", folder / "program"
    source.write_text(block["code"])
    flags = ["-Wall", "-Wextra", "-Werror", "-pthread", f"-I{LIBRARY / 'include'}", f"-L{LIBRARY / 'lib'}"]
    linked = ["-lhyperslab_c", f"-Wl,-rpath,{LIBRARY / 'lib'}"]
    compiler = COMPILERS[block["kind"]]
    for command in ([*compiler, *flags, source, "-o", program, *linked], [program]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{block['code']}\n{done.stdout}{done.stderr}"


def running():
    """The pages with code that runs, as parameters of a test."""
    for page in (page for page in PAGES if any(map(runs, blocks_of(page)))):
        yield pytest.param(page, marks=[pytest.mark.extras] if page in PROGRAMS else [])


@pytest.mark.docs
@pytest.mark.parametrize("page", running())
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    for program in PROGRAMS.get(page, ()):
        need(program)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for block in filter(runs, blocks_of(page)):
        if block["kind"] == "python":
            before = PAGES[page][: block.start("code")].count("\n")
            code = compile("\n" * before + block["code"], page, "exec")
            for _ in range(2 if page in CELLS else 1):
                exec(code, names)
        elif block["kind"] in COMPILERS:
            compile_and_run(block, tmp_path)
        else:
            run_in_shell(shell_lines(block), tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_a_block_runs_or_says_why_not(page):
    assert len(re.findall(r"^\s*(?:```|~~~)", PAGES[page], re.MULTILINE)) == 2 * len(blocks_of(page))
    for block in blocks_of(page):
        assert block["kind"] in ("python", "sh", "console", "rust", "java", "toml", "text", *COMPILERS), block[0]
        if block["kind"] == "toml":
            tomllib.loads(block["code"])


def test_the_pages_with_rust_are_documentation_tests():
    included = (REPOSITORY / "crates" / "testkit" / "src" / "lib.rs").read_text()
    pages = [page for page in PAGES if any(block["kind"] == "rust" for block in blocks_of(page))]
    assert pages
    for page in pages:
        assert f'include_str!("../../../{page}")' in included


def test_the_page_with_java_is_that_of_its_test():
    pages = [page for page in PAGES if any(block["kind"] == "java" for block in blocks_of(page))]
    test = REPOSITORY / "java" / "src" / "test" / "java" / "io" / "github" / "hyperslab" / "GuideTest.java"
    assert pages == ["docs/guide/java.md"] and pages[0] in test.read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of_a_page_lead_to_files(page):
    folder = (REPOSITORY / page).parent
    for link in LINK.finditer(BLOCK.sub("", PAGES[page])):
        target = link["target"].partition("#")[0]
        if target and "://" not in target:
            assert (folder / target).exists(), link[0]


def names_on_pages():
    pages = {}
    for page, text in PAGES.items():
        if page.startswith("docs/reference/"):
            for name in NAME.findall(text):
                pages.setdefault(name, []).append(page)
    return pages


def test_every_public_name_is_on_one_page_of_the_reference():
    # The names of `hs.segy` are on a page, and not the module.
    expected = {f"hyperslab.{name}" for name in hs.__all__ if name != "segy"}
    for module in (hs.segy, hs.pandas, hs.dask):
        expected |= {f"{module.__name__}.{name}" for name in module.__all__}
    expected |= {f"{module}.{name}" for module, names in REACHED.items() for name in names}
    found = names_on_pages()
    assert {name: pages for name, pages in found.items() if len(pages) > 1} == {}
    assert expected - set(found) == set()


def test_the_pictures_are_those_of_the_tables():
    at = REPOSITORY / "bench" / "pictures.py"
    spec = importlib.util.spec_from_file_location("pictures", at)
    pictures = sys.modules["pictures"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    drawn, missing = pictures.pictures(pictures.of_tables(PAGES["docs/speed.md"]))
    assert not missing
    # The others are drawn by hand, or by the demo.
    paths = [
        path
        for path in (REPOSITORY / "docs" / "figures").iterdir()
        if path.name not in ("chunks.svg", "kill.svg", "demo.png")
    ]
    assert drawn == {path.name: path.read_text() for path in paths}
