"""The command ``hyperslab``."""

import signal
import sys

from ._native import run_cli


def main() -> None:
    """Runs the command with the arguments of this process, and exits with its code."""
    # The command never returns to Python before it ends, so an interrupt must end it by itself: with this
    # action of the signal, `run_cli` ends the process and removes incomplete files. In the background of a
    # script the signal is ignored, and stays so.
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_cli(sys.argv))
