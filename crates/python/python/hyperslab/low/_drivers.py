"""Drivers by name: those of the package, and those that programs register."""

from collections.abc import Callable
from typing import Any

from .h5p import FILE_ACCESS, PropFAID, create

SetFapl = Callable[..., Any]

#: What sets the driver of a property list, by the name of the driver.
drivers: "dict[str, SetFapl]" = {
    "sec2": lambda plist, **_: plist.set_fapl_sec2(),
    "stdio": lambda plist, **_: plist.set_fapl_stdio(),
    "core": lambda plist, **kwds: plist.set_fapl_core(**kwds),
    "family": lambda plist, **kwds: plist.set_fapl_family(**kwds),
    "split": lambda plist, **kwds: plist.set_fapl_split(**kwds),
    "fileobj": lambda plist, **kwds: plist.set_fileobj_driver(0, kwds.get("fileobj")),
}
_OWN = frozenset(drivers)


def register_driver(name: str, set_fapl: SetFapl) -> None:
    """Registers a driver, which `File` then takes as `driver=name`.

    Args:
        name: The name. A driver of the same name is replaced.
        set_fapl: A function that gets a property list of access (`h5p.PropFAID`) and the keywords of `File`
            that `File` does not have itself, and sets one of the drivers of the package.

    Example:
        >>> hs.register_driver("memory", lambda plist, **kwds: plist.set_fapl_core(backing_store=False))
        >>> hs.File("scratch.h5", "w", driver="memory").driver
        'core'
        >>> hs.unregister_driver("memory")
    """
    drivers[name] = set_fapl


def unregister_driver(name: str) -> None:
    """Removes a driver.

    Args:
        name: The name.

    Raises:
        KeyError: There is no driver of this name.

    Example:
        >>> hs.register_driver("mine", lambda plist: plist.set_fapl_sec2())
        >>> hs.unregister_driver("mine")
        >>> "mine" in hs.registered_drivers()
        False
    """
    del drivers[name]


def registered_drivers() -> "frozenset[str]":
    """Returns the names of all drivers.

    Example:
        >>> "core" in hs.registered_drivers()
        True
    """
    return frozenset(drivers)


#: The keywords of `File` itself.
_KEYWORDS = frozenset(
    "libver userblock_size swmr rdcc_nslots rdcc_nbytes rdcc_w0 track_order track_times fs_strategy fs_persist "
    "fs_threshold fs_page_size page_buf_size min_meta_keep min_raw_keep locking alignment_threshold "
    "alignment_interval meta_block_size durability skip_fill_chunks".split()
)


def keywords_of(plist: PropFAID) -> "dict[str, Any]":
    """Returns the keywords of `File` for the driver of a property list."""
    names = {"core": ("backing_store",), "family": ("memb_size",), "split": ("meta_ext", "raw_ext")}
    own = plist._values.get("driver", "sec2")
    return {name: plist._values["driver_values"][name] for name in names.get(own, ())}


def resolve(name: str, keywords: "dict[str, Any]") -> "str | None":
    """Returns the package's driver for a registered one, and None if the name is not registered.

    The keywords of the driver are replaced by those of the package's driver.
    """
    if name in _OWN or name not in drivers:
        return None
    plist: PropFAID = create(FILE_ACCESS)
    drivers[name](plist, **{key: keywords.pop(key) for key in list(keywords) if key not in _KEYWORDS})
    own = plist._values.get("driver", "sec2")
    keywords.update(keywords_of(plist))
    return str(own)


def make_fapl(driver: "str | None", libver: Any = None, **kwds: Any) -> PropFAID:
    """Returns a property list of access for a driver."""
    plist: PropFAID = create(FILE_ACCESS)
    if driver is not None:
        try:
            set_fapl = drivers[driver]
        except KeyError:
            raise ValueError(f"Unknown driver type {driver!r}") from None
        set_fapl(plist, **kwds)
    return plist
