"""What `make docs` adds to MkDocs: pages that are not in `docs/`, and links as the repository has them.

The links of a page hold when the page is read in the repository. A link to a file that is no page of the
site becomes its text.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md"]
"""Pages of the site that are not in `docs/`."""

FENCE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)`*[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:`[^`]*`|[^\[\]])*)\]\((?P<target>[^()\s]+)\)")
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def repository_path(page: str) -> str:
    """Returns the path in the repository of a page of the site."""
    return page if page in PAGES else f"docs/{page}"


def site_path(path: str, files: Files) -> str | None:
    """Returns the path on the site of a file of the repository, or None if the site does not have it."""
    page = path if path in PAGES else path.removeprefix("docs/") if path.startswith("docs/") else None
    return page if page is not None and files.get_file_from_path(page) else None


def rewritten(link: re.Match[str], page: str, files: Files) -> str:
    """Returns a link of the repository as the site has it."""
    target, _, anchor = link["target"].partition("#")
    if not target or "://" in target or target.startswith(("mailto:", "/")):
        return link[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(page)), target))
    found = site_path(path, files)
    if found is None:
        return link["text"] if (REPOSITORY / path).exists() else link[0]
    if link["mark"] and path.startswith("docs/figures/") and path.endswith(".svg"):
        return chart((REPOSITORY / path).read_text(), link["text"])
    relative = posixpath.relpath(found, posixpath.dirname(page) or ".")
    return f"{link['mark']}[{link['text']}]({relative}{'#' + anchor if anchor else ''})"


def chart(picture: str, text: str) -> str:
    """Returns a chart as a part of the page, whose colours it then takes."""
    label = " ".join(text.replace('"', "&quot;").split())
    return STYLE.sub("", picture).replace("<svg ", f'<svg class="chart" role="img" aria-label="{label}" ', 1)


def outside_code(text: str) -> list[tuple[int, int]]:
    """Returns the spans of a page that are no code."""
    code = [found.span() for found in FENCE.finditer(text)]
    ends = [0, *(end for _, end in code)]
    return list(zip(ends, [*(start for start, _ in code), len(text)], strict=True))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in `docs/`."""
    for page in PAGES:
        files.append(File.generated(config, page, content=(REPOSITORY / page).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes the links of the repository those of the site."""
    parts, last = [], 0
    for start, end in outside_code(markdown):
        parts += [
            markdown[last:start],
            LINK.sub(lambda link: rewritten(link, page.file.src_uri, files), markdown[start:end]),
        ]
        last = end
    return "".join(parts)
