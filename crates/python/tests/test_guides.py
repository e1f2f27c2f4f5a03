"""The code of the guides runs as it stands, page by page."""

import re

import pytest
from support import IS_H5PY, REPOSITORY

CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
GUIDES = [path for path in sorted((REPOSITORY / "docs" / "guide").glob("*.md")) if CODE.search(path.read_text())]


@pytest.mark.parametrize("path", [] if IS_H5PY else GUIDES, ids=lambda path: path.name)
def test_the_code_of_a_guide_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for part in CODE.finditer(path.read_text()):
        # A part has the lines of the page in tracebacks.
        before = path.read_text()[: part.start(1)].count("\n")
        exec(compile("\n" * before + part[1], str(path), "exec"), names)
