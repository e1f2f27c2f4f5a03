"""The command ``hyperslab``, as ``python -m hyperslab``."""

from ._cli import main

main()
