"""What `make docs` adds to MkDocs: pages that are not in `docs/`, and links as the repository has them.

The links of a page hold when the page is read in the repository. A link to a file that is no page of the
site becomes its text. The path of a page in prose, and the number of a decision, become links.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = {name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")}
PAGES["bench.md"] = "bench/README.md"
"""Pages of the site that are not in `docs/`, and where they are in the repository."""
SHOWN_LAST = {
    *PAGES,
    "concurrency.md",
    "flows.md",
    "io-hints.md",
    "journal.md",
    "reference/low.md",
    "releasing.md",
    "speed.md",
    "testing.md",
}
"""Pages that a search shows after the others, as the decisions."""
PLACES = {path: page for page, path in PAGES.items()}
DECISIONS = REPOSITORY / "docs" / "decisions"
LIST_OF_DECISIONS = """# Decisions

A page for each decision that an outsider would question: the question, the answer, and the alternatives that
were rejected.

| number | decision |
| --- | --- |"""

FENCE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)`*[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:`[^`]*`|[^\[\]])*)\]\((?P<target>[^()\s]+)\)")
PAGE = r"docs/[\w/.-]+\.md|docs/decisions/|bench/README\.md|(?:ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.md"
MENTION = re.compile(
    rf"{LINK.pattern}|`(?P<code>{PAGE})`|(?<![\w/`])(?P<page>{PAGE})|\b[Dd]ecision\s+(?P<number>\d{{4}})\b"
)
DECISION = re.compile(r"# (?P<name>(?P<number>\d{4}): (?P<title>.+?)) \((?P<day>[\d-]+)\)")
SHORT = re.compile(r"<code>([^<]{1,24})</code>")
LONG = re.compile(r"(?<=<code>)[^<\s]{25,}(?=</code>)")
BETWEEN = re.compile(r"(::|[/_.,(=])(?=\w)")
CHART = re.compile(r'<img alt="(?P<text>[^"]*)" src="[^"]*figures/(?P<name>[^"/]+\.svg)" ?/?>')
FETCHED = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
SWALLOWED = re.compile(rf"^{ITEM.pattern}.*", re.MULTILINE)
PRE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def repository_path(page: str) -> str:
    """Returns the path in the repository of a page of the site."""
    return PAGES.get(page, f"docs/{page}")


def site_path(path: str, files: Files) -> str | None:
    """Returns the path on the site of a file of the repository, or None if the site does not have it."""
    page = PLACES.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
    return page if page is not None and files.get_file_from_path(page) else None


def relative(target: str, page: str) -> str:
    """Returns the path of a file of the site as a link from a page has it."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def rewritten(link: re.Match[str], page: str, files: Files) -> str:
    """Returns a link of the repository as the site has it."""
    target, _, anchor = link["target"].partition("#")
    if not target or "://" in target or target.startswith(("mailto:", "/")):
        return link[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(page)), target))
    found = site_path(path, files)
    if found is None:
        return link["text"] if (REPOSITORY / path).exists() else link[0]
    return f"{link['mark']}[{link['text']}]({relative(found, page)}{'#' + anchor if anchor else ''})"


def linked(found: re.Match[str], page: str, files: Files) -> str:
    """Returns a link, the path of a page or the number of a decision as a link of the site."""
    if found["target"]:
        return rewritten(found, page, files)
    if found["number"]:
        paths = [path.name for path in DECISIONS.glob(f"{found['number']}-*.md")]
        if not paths:
            raise PluginError(f"{page} names decision {found['number']}, which is not in docs/decisions")
        target = site_path(f"docs/decisions/{paths[0]}", files)
    else:
        path = found["code"] or found["page"]
        target = site_path(f"{path}index.md" if path.endswith("/") else path, files)
    return f"[{found[0]}]({relative(target, page)})" if target and target != page else found[0]


def decisions() -> str:
    """Returns the page that lists the decisions."""
    rows = []
    for path in sorted(DECISIONS.glob("*.md")):
        if found := DECISION.match(path.read_text()):
            rows.append(f"| [{found['number']}]({path.name}) | {found['title']} |")
    return "\n".join([LIST_OF_DECISIONS, *rows, ""])


def chart(image: re.Match[str]) -> str:
    """Returns a picture as a part of the page, whose colours it then takes."""
    picture = STYLE.sub("", (REPOSITORY / "docs" / "figures" / image["name"]).read_text())
    kind = "chart bars" if "<tspan" in picture else "chart"
    return picture.replace("<svg ", f'<svg class="{kind}" role="img" aria-label="{image["text"]}" ', 1)


def parts_of(text: str) -> Iterator[tuple[bool, str]]:
    """Yields the parts of a page in order, and whether each is code."""
    last = 0
    for code in FENCE.finditer(text):
        yield False, text[last : code.start()]
        yield True, code[0]
        last = code.end()
    yield False, text[last:]


def with_lists(text: str) -> str:
    """Returns prose whose lists Python-Markdown understands as other programs do.

    An item within an item has four more spaces. A list begins after an empty line, and so does an item after
    a second paragraph of the item before.
    """
    lines: list[str] = []
    first = ""  # the first line of the paragraph or of the items that a line continues
    for line in text.split("\n"):
        if ITEM.match(line) and first and not ITEM.match(first.lstrip()):
            lines.append("")
            first = ""
        first = (first or line) if line else ""
        spaces = len(line) - len(line.lstrip(" "))
        lines.append(" " * (4 * (spaces // 2)) + line.lstrip(" ") if spaces > 1 else line)
    return "\n".join(lines)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in `docs/`."""
    for page, path in PAGES.items():
        files.append(File.generated(config, page, content=(REPOSITORY / path).read_text()))
    files.append(File.generated(config, "decisions/index.md", content=decisions()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes links and lists those of the site, and shows pages that few readers look for last in a search."""
    if page.file.src_uri in SHOWN_LAST or page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"boost": 0.3}

    # The navigation does not need the day of a decision.
    markdown = DECISION.sub(r"# \g<name>\n\n*\g<day>*", markdown, count=1)

    def link(found: re.Match[str]) -> str:
        return linked(found, page.file.src_uri, files)

    parts = ((text if is_code else MENTION.sub(link, with_lists(text))) for is_code, text in parts_of(markdown))
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Raises an error if a page fetches anything from a server."""
    for page in Path(config.site_dir).rglob("*.html"):
        if found := FETCHED.search(page.read_text()):
            raise PluginError(f"{page.name} fetches from a server: {found[0]}")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the charts into the page. Short code stays in one line, and long code breaks between its words."""
    if found := SWALLOWED.search(PRE.sub("", html)):
        raise PluginError(f"{page.file.src_uri}: an item of a list became prose: {found[0][:60]}")
    html = LONG.sub(lambda code: BETWEEN.sub(r"\1<wbr>", code[0]), CHART.sub(chart, html))
    return SHORT.sub(r'<code class="short">\1</code>', html)
