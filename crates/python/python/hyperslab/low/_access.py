"""Property lists of access: to files, datasets and links, and of copies and transfers.

hyperslab keeps every property. `h5f.open`, `h5d.open` and others use those that mean something here.
"""

from typing import Any

from ._objects import unsupported
from ._plists import PropInstanceID
from .h5ac import CacheConfig


class PropDXID(PropInstanceID):
    """Properties of a transfer."""

    def set_dxpl_mpio(self, xfer_mode: int) -> None:
        raise unsupported("set_dxpl_mpio", "there is no parallel HDF5")


class PropCopyID(PropInstanceID):
    """Properties of a copy of objects."""

    def set_copy_object(self, flags: int) -> None:
        self._values["flags"] = flags

    def get_copy_object(self) -> int:
        return int(self._get("flags", 0))


class PropDAID(PropInstanceID):
    """Properties of access to datasets."""

    def set_chunk_cache(self, rdcc_nslots: int, rdcc_nbytes: int, rdcc_w0: float) -> None:
        self._values["chunk_cache"] = (rdcc_nslots, rdcc_nbytes, rdcc_w0)

    def get_chunk_cache(self) -> "tuple[int, int, float]":
        cache: tuple[int, int, float] = self._get("chunk_cache", (8191, 8388608, 0.75))
        return cache

    def set_efile_prefix(self, prefix: bytes) -> None:
        self._values["efile_prefix"] = prefix

    def get_efile_prefix(self) -> bytes:
        prefix: bytes = self._get("efile_prefix", b"")
        return prefix

    def set_virtual_prefix(self, prefix: bytes) -> None:
        self._values["virtual_prefix"] = prefix

    def get_virtual_prefix(self) -> bytes:
        prefix: bytes = self._get("virtual_prefix", b"")
        return prefix

    def set_virtual_view(self, view: int) -> None:
        self._values["virtual_view"] = view

    def get_virtual_view(self) -> int:
        return int(self._get("virtual_view", 1))

    def set_virtual_printf_gap(self, gap_size: int = 0) -> None:
        self._values["printf_gap"] = gap_size

    def get_virtual_printf_gap(self) -> int:
        return int(self._get("printf_gap", 0))


class PropLAID(PropInstanceID):
    """Properties of access to links."""

    def set_nlinks(self, nlinks: int) -> None:
        self._values["nlinks"] = nlinks

    def get_nlinks(self) -> int:
        return int(self._get("nlinks", 16))

    def set_elink_prefix(self, prefix: bytes) -> None:
        self._values["prefix"] = prefix

    def get_elink_prefix(self) -> bytes:
        prefix: bytes = self._get("prefix", b"")
        return prefix

    def set_elink_fapl(self, fapl: "PropFAID") -> None:
        self._values["fapl"] = fapl.copy()

    def get_elink_fapl(self) -> "PropFAID":
        fapl = self._get("fapl", None)
        return PropFAID() if fapl is None else fapl.copy()

    def set_elink_acc_flags(self, flags: int) -> None:
        self._values["flags"] = flags

    def get_elink_acc_flags(self) -> int:
        return int(self._get("flags", 65535))


class PropFAID(PropInstanceID):
    """Properties of access to files."""

    # Drivers

    def _driver(self, name: str, **values: Any) -> None:
        self._values.update(driver=name, driver_values=values)

    def set_fapl_core(self, block_size: int = 65536, backing_store: bool = True) -> None:
        self._driver("core", block_size=block_size, backing_store=bool(backing_store))

    def get_fapl_core(self) -> "tuple[int, bool]":
        if self._get("driver", "sec2") != "core":
            raise ValueError("Incorrect vfl driver (incorrect VFL driver)")
        values = self._values["driver_values"]
        return values["block_size"], values["backing_store"]

    def set_fapl_family(self, memb_size: int = 2147483647, memb_fapl: Any = None) -> None:
        self._driver("family", memb_size=memb_size, memb_fapl=memb_fapl)

    def get_fapl_family(self) -> "tuple[int, PropFAID]":
        if self._get("driver", "sec2") != "family":
            raise ValueError("Incorrect vfl driver (incorrect VFL driver)")
        values = self._values["driver_values"]
        member = values["memb_fapl"]
        return values["memb_size"], PropFAID() if member is None else member.copy()

    def set_fapl_log(self, logfile: bytes, flags: int, buf_size: int) -> None:
        raise unsupported("set_fapl_log", "the log is libhdf5's; Dataset.plan shows what a read does")

    def set_fapl_sec2(self) -> None:
        self._driver("sec2")

    def set_fapl_stdio(self) -> None:
        self._driver("stdio")

    def set_fapl_split(
        self,
        meta_ext: bytes = b"-m.h5",
        meta_plist_id: Any = None,
        raw_ext: bytes = b"-r.h5",
        raw_plist_id: Any = None,
    ) -> None:
        self._driver("split", meta_ext=meta_ext, raw_ext=raw_ext)

    def set_driver(self, driver_id: int) -> None:
        from . import h5fd

        names = {number: name for name, number in h5fd.numbers().items()}
        if driver_id not in names:
            raise ValueError(f"Unknown driver {driver_id}")
        self._driver(names[driver_id])

    def set_fileobj_driver(self, driver_id: int, fileobj: Any) -> None:
        self._driver("fileobj", fileobj=fileobj)

    def get_driver(self) -> int:
        from . import h5fd

        return h5fd.numbers()[self._get("driver", "sec2")]

    def set_file_image(self, image: Any) -> None:
        self._values["image"] = image

    # Caches and buffers

    def set_cache(self, mdc: int, rdcc: int, rdcc_nbytes: int, rdcc_w0: float) -> None:
        self._values["cache"] = (mdc, rdcc, rdcc_nbytes, rdcc_w0)

    def get_cache(self) -> "tuple[int, int, int, float]":
        cache: tuple[int, int, int, float] = self._get("cache", (0, 8191, 8388608, 0.75))
        return cache

    def set_sieve_buf_size(self, size: int) -> None:
        self._values["sieve"] = size

    def get_sieve_buf_size(self) -> int:
        return int(self._get("sieve", 65536))

    def set_meta_block_size(self, size: int) -> None:
        self._values["meta_block"] = size

    def get_meta_block_size(self) -> int:
        return int(self._get("meta_block", 2048))

    def set_page_buffer_size(self, buf_size: int, min_meta_per: int = 0, min_raw_per: int = 0) -> None:
        self._values["page_buffer"] = (buf_size, min_meta_per, min_raw_per)

    def get_page_buffer_size(self) -> "tuple[int, int, int]":
        sizes: tuple[int, int, int] = self._get("page_buffer", (0, 0, 0))
        return sizes

    def get_mdc_config(self) -> CacheConfig:
        config = CacheConfig()
        vars(config).update(self._get("mdc", {}))
        return config

    def set_mdc_config(self, config: CacheConfig) -> None:
        defaults = vars(CacheConfig())
        self._values["mdc"] = {name: value for name, value in vars(config).items() if value != defaults.get(name)}

    # Other properties

    def set_fclose_degree(self, close_degree: int) -> None:
        self._values["close_degree"] = close_degree

    def get_fclose_degree(self) -> int:
        return int(self._get("close_degree", 0))

    def set_libver_bounds(self, low: int, high: int) -> None:
        if low > high:
            raise ValueError("Invalid (low,high) combination of library version bound")
        self._values["libver"] = (low, high)

    def get_libver_bounds(self) -> "tuple[int, int]":
        bounds: tuple[int, int] = self._get("libver", (1, 5))
        return bounds

    def set_alignment(self, threshold: int, alignment: int) -> None:
        if alignment < 1:
            raise ValueError("Alignment must be positive (alignment must be positive)")
        self._values["alignment"] = (threshold, alignment)

    def get_alignment(self) -> "tuple[int, int]":
        alignment: tuple[int, int] = self._get("alignment", (1, 1))
        return alignment

    def set_file_locking(self, use_file_locking: bool, ignore_when_disabled: bool) -> None:
        self._values["locking"] = (bool(use_file_locking), bool(ignore_when_disabled))

    def get_file_locking(self) -> "tuple[bool, bool]":
        locking: tuple[bool, bool] = self._get("locking", (True, True))
        return locking
