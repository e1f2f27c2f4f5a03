"""Makes an environment with a Python that the peers run on: `python3 scripts/newer_python.py .venv-bench`.

The newest zarr, icechunk, VirtualiZarr, anndata and MDIO need a newer Python than hyperslab does. It is
looked for by its name, and among those of pyenv.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

LEAST = (3, 12)
NAMES = ("python3.13", "python3.12", "python3.14", "python3")
"""The first is the one with which the peers are measured."""


def main() -> int:
    found = chosen()
    if found is None:
        least = ".".join(map(str, LEAST))
        print(
            f"The peers need Python {least} or later with `venv`, and none of {', '.join(NAMES)} is one. Run:\n"
            f"  apt-get install python3-venv   # where python3 is {least} or later\n"
            "  pyenv install 3.13             # elsewhere\n"
            "or name it: make bench-env BENCH_PYTHON=/path/to/python",
            file=sys.stderr,
        )
        return 1
    print(f"{sys.argv[1]}: {found}")
    return subprocess.run([found, "-m", "venv", "--clear", sys.argv[1]]).returncode


def chosen() -> "str | None":
    """The program of the first Python that is new enough and can make environments."""
    if os.environ.get("BENCH_PYTHON"):
        candidates = [os.environ["BENCH_PYTHON"]]
    else:
        pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
        candidates = []
        for name in NAMES:
            candidates += [path for path in [shutil.which(name)] if path]
            candidates += [
                str(path / "bin" / name) for path in sorted(pyenv.glob("*")) if (path / "bin" / name).is_file()
            ]
    return next((path for path in candidates if is_enough(path)), None)


def is_enough(path: str) -> bool:
    """Whether a program is a Python that will do. One of pyenv's may be a name without a Python."""
    check = f"import ensurepip, sys, venv; sys.exit(sys.version_info < {LEAST})"
    try:
        return subprocess.run([path, "-c", check], capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
