"""Packages that parts of hyperslab use and that are not installed with it."""

from collections.abc import Iterator
from contextlib import contextmanager

#: How to install each package. `docs/start.md` lists what needs it.
INSTALL = {
    "dask": '`pip install "dask[array]"` for arrays, `pip install "dask[dataframe]"` for tables',
    "duckdb": "`pip install duckdb`",
    "icechunk": "`pip install icechunk`",
    "imagecodecs": "`pip install imagecodecs`",
    "matplotlib": "`pip install matplotlib`",
    "obspec_utils": "`pip install obspec-utils`",
    "obstore": "`pip install obstore`",
    "pandas": "`pip install pandas`",
    "pyarrow": "`pip install pyarrow`",
    "virtualizarr": "`pip install virtualizarr`",
    "xarray": "`pip install xarray`",
    "zarr": "`pip install zarr`",
}


@contextmanager
def needed_by(what: str) -> "Iterator[None]":
    """Says how to install a package that is imported in this block and is missing.

    Raises:
        ModuleNotFoundError: One of these packages is missing, which `what` needs.
    """
    try:
        yield
    except ModuleNotFoundError as cause:
        package = (cause.name or "").partition(".")[0]
        # Others are missing in what is imported, or ours.
        if package not in INSTALL:
            raise
        text = f"{what} needs {package}, which is not installed: {INSTALL[package]}"
        raise ModuleNotFoundError(text, name=cause.name) from cause
