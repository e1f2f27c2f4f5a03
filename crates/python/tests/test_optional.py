"""Packages that hyperslab uses and does not depend on: the errors without them, and their list."""

import ast
import json
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, grid, segy
from support import IS_H5PY, REPOSITORY, hs

if IS_H5PY:
    pytest.skip("about hyperslab's own package", allow_module_level=True)

PACKAGE = REPOSITORY / "crates" / "python" / "python" / "hyperslab"
INSTALL = __import__("hyperslab._optional", fromlist=["INSTALL"]).INSTALL

# What fails without each package, as a statement.
USES = {
    "survey.plot(inline=0)": "matplotlib",
    "survey.to_xarray()": "xarray",
    "hs.segy.register_xarray()": "xarray",
    "hs.dask.read_table": "dask",
    "hs.dask.from_dataset": "dask",
    "hs.pandas.read_hdf": "pandas",
    "table.query().to_batches()": "pyarrow",
    "table.query().to_pyarrow_dataset()": "pyarrow",
    "hs.use_imagecodecs()": "imagecodecs",
    "import hyperslab.xarray": "xarray",
    "import hyperslab.icechunk": "icechunk",
    "import hyperslab.virtualizarr": "obspec_utils",
    "from hyperslab import _sql; _sql.run('cube.h5', 'select 1')": "duckdb",
}
WITHOUT = """
import json, sys
uses, blocked = json.loads(sys.argv[1]), json.loads(sys.argv[2])
sys.modules.update(dict.fromkeys(blocked))
import hyperslab as hs
survey = hs.segy.open("cube.h5")
table = hs.File.in_memory().create_table("t", [("a", "i4")])
said = {}
for use in uses:
    try:
        exec(use)
    except ImportError as error:
        said[use] = str(error)
print(json.dumps(said))
"""


@pytest.mark.whole
def test_what_needs_a_package_says_how_to_install_it(tmp_path):
    lines = grid(range(2), range(3))
    image = segy(np.zeros((6, 5), "f4"), {INLINE: lines[:, 0], CROSSLINE: lines[:, 1]})
    (tmp_path / "volume.sgy").write_bytes(image)
    hs.segy.ingest(tmp_path / "volume.sgy", tmp_path / "cube.h5")
    call = [sys.executable, "-c", WITHOUT, json.dumps(list(USES)), json.dumps(list(INSTALL))]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    for use, package in USES.items():
        assert f"needs {package}, which is not installed: `pip install " in said.get(use, "nothing"), use


def test_every_package_that_is_imported_is_listed():
    imported = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module)
    packages = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
    # Without tqdm there is a line in place of a bar.
    assert packages - {"numpy", "hyperslab", "h5py", "tqdm"} == set(INSTALL)


def test_the_page_lists_the_extras_and_the_packages():
    page = (REPOSITORY / "docs" / "start.md").read_text()
    section = page.partition("## Optional packages\n")[2].partition("\n## ")[0]
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in extras:
        assert f"| `{extra}` |" in section, extra
    for package in INSTALL:
        assert package.replace("_", "-") in section, package
