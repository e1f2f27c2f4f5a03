"""The error stack of libhdf5. hyperslab has none: its errors are exceptions only, and nothing is printed."""


def silence_errors() -> None:
    """Does nothing: no errors are printed."""


def unsilence_errors() -> None:
    """Does nothing: no errors are printed."""
