"""h5py registers conversions with libhdf5 here. hyperslab has its own, which need no registration."""


def register_converters() -> None:
    """Does nothing."""


def unregister_converters() -> None:
    """Does nothing."""
