"""The Python blocks of the guides run, one after the other, in an empty folder."""

import re

import pytest
from support import IS_H5PY, REPOSITORY

if IS_H5PY:
    pytest.skip("about hyperslab's own documentation", allow_module_level=True)

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The blocks of the other guide need a survey.
GUIDES = [path for path in sorted((REPOSITORY / "docs" / "guide").glob("*.md")) if path.name != "seismic.md"]
GUIDES.append(REPOSITORY / "docs" / "scale.md")


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_the_code_of_a_guide_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    names = {"__name__": "guide"}
    found = list(BLOCK.finditer(text))
    assert found
    for block in found:
        before = text[: block.start(1)].count("\n")
        exec(compile("\n" * before + block[1], str(path), "exec"), names)
