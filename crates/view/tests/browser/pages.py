"""The viewer's page in Chromium."""

import io
from pathlib import Path

from matplotlib.image import imread

PICTURES = Path(__file__).resolve().parents[4] / "target/view-pictures"
# No sandbox, because CI runs as root; nothing that talks to other servers.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Page:
    """The viewer's page in Chromium. At its end, nothing went wrong that a reader would not see."""

    def __init__(self, page, viewer):
        self.page, self.problems, self.foreign = page, [], []
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        home = viewer.address.split("/")[2]
        page.on("request", lambda request: f"//{home}/" not in request.url and self.note(request.url))
        page.set_default_timeout(20_000)
        page.goto(viewer.address)
        page.get_by_role("treeitem").first.wait_for()

    def note(self, url):
        if not url.startswith(("data:", "blob:")):
            self.foreign.append(url)

    def show(self, *names, kind=None):
        """Opens the groups and the last object of a path in the tree, and selects a kind of view."""
        for name in names:
            self.page.get_by_role("treeitem", name=name, exact=True).first.click()
        if kind:
            self.page.get_by_role("tab", name=kind, exact=True).click()

    def picture(self, name):
        """Keeps a picture of the page for people to look at, and returns its pixels."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(300)  # animations of the page
        data = self.page.screenshot(path=PICTURES / f"{name}.png")
        return imread(io.BytesIO(data))[..., :3]
