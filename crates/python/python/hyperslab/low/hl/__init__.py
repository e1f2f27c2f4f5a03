"""The modules of h5py's `_hl`, from which packages import the classes: names of the package, no code of their own."""

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
