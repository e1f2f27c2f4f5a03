"""The command ``hyperslab``, as ``python -m hyperslab``."""

from ._cli import main

if __name__ == "__main__":
    main()
