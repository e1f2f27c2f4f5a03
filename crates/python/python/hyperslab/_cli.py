"""The command ``hyperslab``."""

import sys

from ._interrupt import end_by_interrupts
from ._native import run_cli


def main() -> None:
    """Runs the command with the arguments of this process, and exits with its code."""
    # The command never returns to Python before it ends, so an interrupt must end it by itself: with this
    # action of the signal, `run_cli` ends the process and removes incomplete files.
    end_by_interrupts()
    sys.exit(run_cli(sys.argv))
