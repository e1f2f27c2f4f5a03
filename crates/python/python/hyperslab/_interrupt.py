"""Ctrl-C ends the command ``hyperslab`` quietly, also while Python still imports the package.

The import takes half a second, and Python would answer an interrupt with a traceback. In other programs this
module does nothing.
"""

import os
import signal
import sys


def end_by_interrupts() -> None:
    """Lets an interrupt end the process, without an exception.

    In the background of a script the signal is ignored, and stays so.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _is_command() -> bool:
    """Returns whether the process is the command: its script, or ``python -m hyperslab``."""
    if sys.orig_argv[1:3] == ["-m", "hyperslab"]:
        return True
    started = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    return os.path.splitext(os.path.basename(started))[0] == "hyperslab"


if _is_command():
    end_by_interrupts()
