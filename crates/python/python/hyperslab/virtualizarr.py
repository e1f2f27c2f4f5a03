"""A parser for VirtualiZarr, which opens HDF5 files as virtual datasets of xarray.

    from hyperslab.virtualizarr import Parser

    vds = virtualizarr.open_virtual_dataset(url, registry=registry, parser=Parser())

It takes the place of VirtualiZarr's own `HDFParser`, and finds the chunks of large files much faster.
"""

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

import numpy as np

from ._optional import needed_by

with needed_by("hyperslab.virtualizarr"):
    from obspec_utils.readers import BlockStoreReader
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import MemoryStore
    from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore

    from . import _zarr
from ._native import File, Group
from ._references import Columns, columns


class Parser:
    """Parses HDF5 files for VirtualiZarr: `virtualizarr.open_virtual_dataset(url, parser=Parser(), ...)`.

    Args:
        group: The group that becomes the root; by default, the root of the file.
        drop_variables: Names of members of the group to leave out.
        embed: As for `hyperslab.references`.
        split: As for `hyperslab.references`.
        imagecodecs: As for `hyperslab.references`.
        skip_unsupported: Whether datasets that cannot be referenced are left out, with a warning.

    Example:
        >>> from hyperslab.virtualizarr import Parser
        >>> from obspec_utils.registry import ObjectStoreRegistry
        >>> from obstore.store import LocalStore
        >>> url = Path("climate.h5").absolute().as_uri()
        >>> store = Parser(group="surface")(url, ObjectStoreRegistry({"file://": LocalStore()}))
        >>> store.to_virtual_dataset()["t2m"].shape
        (4, 2, 3)
    """

    def __init__(
        self,
        group: "str | None" = None,
        drop_variables: "Iterable[str] | None" = None,
        *,
        embed: int = 1 << 20,
        split: int = 64 << 20,
        imagecodecs: bool = False,
        skip_unsupported: bool = False,
    ) -> None:
        self.group = group or "/"
        self.drop_variables = frozenset(drop_variables or ())
        self.options: dict[str, Any] = {
            "embed": embed,
            "split": split,
            "imagecodecs": imagecodecs,
            "skip_unsupported": skip_unsupported,
        }

    def __call__(self, url: str, registry: ObjectStoreRegistry) -> ManifestStore:
        """Returns the arrays of a file.

        Args:
            url: The URL of the file. Files of the local file system are read without the registry.
            registry: The stores of URLs. Embedded chunks are in a store in memory, which is added to it.

        Raises:
            ValueError: Datasets cannot be referenced, for reasons that the message names.
            KeyError: There is no such group.
        """
        parsed = urlparse(url)
        if parsed.scheme == "file":
            source: Any = unquote(parsed.path)
        else:
            store, path = registry.resolve(url)
            source = BlockStoreReader(store, path)
        with File(source, "r") as file:
            group = file[self.group]
            if not isinstance(group, Group):
                raise KeyError(f"{self.group} is not a group")
            groups, arrays = columns(group, url=url, **self.options)
        memory = _Memory(registry)
        return ManifestStore(self._tree(groups, arrays, memory), registry=registry)

    def _tree(self, groups: "dict[str, str]", arrays: "list[Columns]", memory: "_Memory") -> ManifestGroup:
        below: dict[str, dict[str, Any]] = {path: {} for path in groups}
        members: dict[str, dict[str, Any]] = {path: {} for path in groups}
        for array in arrays:
            if not self._is_dropped(array.path):
                folder, _, name = array.path.rpartition("/")
                members[folder][name] = _manifest(array, memory)
        # Groups come before their members, so the reverse is from the inside out.
        for path in reversed(groups):
            found = ManifestGroup(arrays=members[path], groups=below[path], attributes=json.loads(groups[path]))
            if not path:
                return found
            folder, _, name = path.rpartition("/")
            if not self._is_dropped(path):
                below[folder][name] = found
        raise ValueError("no groups")

    def _is_dropped(self, path: str) -> bool:
        return PurePosixPath(path).parts[0] in self.drop_variables


class _Memory:
    """Embedded chunks, in a store of their own."""

    def __init__(self, registry: ObjectStoreRegistry) -> None:
        self.registry = registry
        self.store: MemoryStore | None = None
        self.url = f"memory://hyperslab-{uuid4()}"

    def put(self, path: str, content: bytes) -> str:
        """Keeps bytes, and returns their URL."""
        if self.store is None:
            self.store = MemoryStore()
            self.registry.register(self.url, self.store)
        self.store.put(path, content)
        return f"{self.url}/{path}"


def _manifest(array: Columns, memory: _Memory) -> ManifestArray:
    metadata = _zarr.metadata(array)
    shape = _zarr.grid(metadata)
    count = int(np.prod(shape, dtype="u8"))
    paths = np.full(count, "", dtype=np.dtypes.StringDType())
    offsets, lengths = np.zeros(count, "u8"), np.zeros(count, "u8")
    urls = np.array([_uri(url) for url in array.urls], dtype=np.dtypes.StringDType())
    if len(array.numbers):
        paths[array.numbers] = urls[0] if len(urls) == 1 else urls[array.which]
    offsets[array.numbers] = array.offsets
    lengths[array.numbers] = array.lengths
    for number, content in array.embedded:
        paths[number] = memory.put(f"{array.path}/{number}", content)
        lengths[number] = len(content)
    manifest = ChunkManifest.from_arrays(
        paths=paths.reshape(shape),
        offsets=offsets.reshape(shape),
        lengths=lengths.reshape(shape),
        validate_paths=False,
    )
    return ManifestArray(metadata=metadata, chunkmanifest=manifest)


def _uri(url: str) -> str:
    return PurePosixPath(url).as_uri() if url.startswith("/") else url
