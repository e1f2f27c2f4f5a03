"""The modules of h5py's `_hl`, from which packages import the classes of h5py."""

MODULES = (
    "attrs",
    "base",
    "compat",
    "dataset",
    "datatype",
    "dims",
    "files",
    "filters",
    "group",
    "selections",
    "selections2",
    "vds",
)
