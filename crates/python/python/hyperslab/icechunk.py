"""References in Icechunk repositories, which Zarr reads with versions and transactions.

Icechunk's format is written by its Python package. kerchunk's formats, which `hyperslab refs` also writes,
need none.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlparse

import numpy as np

from ._optional import needed_by

with needed_by("hyperslab.icechunk"):
    import icechunk
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.group import GroupMetadata
    from zarr.core.sync import sync

    from . import _zarr
from ._references import columns


def write(
    source: "str | os.PathLike[str]",
    target: "str | os.PathLike[str] | icechunk.Storage",
    *,
    url: "str | None" = None,
    container: "Any" = None,
    embed: int = 1 << 20,
    split: int = 64 << 20,
    imagecodecs: bool = False,
    skip_unsupported: bool = False,
) -> icechunk.Repository:
    """Creates an Icechunk repository with references to the chunks of an HDF5 file, in one commit.

    Args:
        source: The path of the file.
        target: The folder of the repository, which must not exist, or a storage of Icechunk.
        url: The URL by which readers find the file; by default, that of its path.
        container: The store of the URL, as `icechunk.s3_store()` returns one; by default, the local file
            system or the web, as the URL says.
        embed: As for `hyperslab.references`.
        split: As for `hyperslab.references`.
        imagecodecs: As for `hyperslab.references`.
        skip_unsupported: Whether datasets that cannot be referenced are left out, with a warning.

    Returns:
        The repository. Who opens it again must allow it to read the file's folder, by the argument
        `authorize_virtual_chunk_access` of `icechunk.Repository.open`.

    Raises:
        ValueError: Datasets cannot be referenced, or the URL needs a container.
        FileExistsError: The folder exists.

    Example:
        >>> import hyperslab.icechunk
        >>> repository = hyperslab.icechunk.write("climate.h5", "climate.icechunk")
        >>> zarr.open_group(repository.readonly_session("main").store)["surface/t2m"].shape
        (4, 2, 3)
    """
    url = url or Path(source).absolute().as_uri()
    prefix = url.rsplit("/", 1)[0] + "/"
    store = container if container is not None else _container(prefix)
    groups, arrays = columns(
        source, url=url, embed=embed, split=split, imagecodecs=imagecodecs, skip_unsupported=skip_unsupported
    )
    if not isinstance(target, icechunk.Storage):
        if os.path.exists(target):
            raise FileExistsError(f"{os.fspath(target)} exists already: remove it, or give another name")
        target = icechunk.local_filesystem_storage(os.fspath(target))
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    access = icechunk.containers_credentials({prefix: None})
    repository = icechunk.Repository.create(target, config=config, authorize_virtual_chunk_access=access)
    repository.save_config()
    session = repository.writable_session("main")
    for path, attributes in groups.items():
        _put(session.store, path, GroupMetadata(attributes=json.loads(attributes), zarr_format=3))
    # A repository has whole seconds.
    now = datetime.now(UTC) + timedelta(seconds=1)
    for array in arrays:
        metadata = _zarr.metadata(array)
        _put(session.store, array.path, metadata)
        shape = _zarr.grid(metadata)
        urls = [PurePosixPath(found).as_uri() if found.startswith("/") else found for found in array.urls]
        chunks = [
            icechunk.VirtualChunkSpec(index, urls[which], offset, length, None, now)
            for index, which, offset, length in zip(
                _indexes(array.numbers, shape),
                array.which.tolist(),
                array.offsets.tolist(),
                array.lengths.tolist(),
                strict=True,
            )
        ]
        failed = session.store.set_virtual_refs(array.path, chunks) if chunks else None
        if failed:
            raise ValueError(f"{array.path}: parts of it are in a file outside {prefix}")
        for number, content in array.embedded:
            index = [str(at) for at in np.unravel_index(number, shape)] if shape else []
            _set(session.store, "/".join([array.path, "c", *index]), content)
    session.commit(f"references to {url}")
    return repository


def _indexes(numbers: "np.ndarray[Any, np.dtype[np.uint64]]", shape: "tuple[int, ...]") -> "list[list[int]]":
    """Returns the coordinates of chunks from their numbers in row-major order."""
    if not shape or not len(numbers):
        return [[] for _ in numbers]
    indexes: list[list[int]] = np.stack(np.unravel_index(numbers.astype("i8"), shape), axis=-1).tolist()
    return indexes


def _container(prefix: str) -> Any:
    scheme = urlparse(prefix).scheme
    if scheme == "file":
        return icechunk.local_filesystem_store(urlparse(prefix).path)
    if scheme in ("http", "https"):
        return icechunk.http_store()
    raise ValueError(
        f"Icechunk needs to know how {prefix} is read: give hyperslab.icechunk.write a container, such as "
        "icechunk.s3_store(region=...)"
    )


def _put(store: Any, path: str, metadata: Any) -> None:
    for name, content in metadata.to_buffer_dict(default_buffer_prototype()).items():
        _set(store, f"{path}/{name}" if path else name, content.to_bytes())


def _set(store: Any, key: str, content: bytes) -> None:
    sync(store.set(key, default_buffer_prototype().buffer.from_bytes(content)))
