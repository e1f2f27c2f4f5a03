"""`h5py._hl.selections2`: the dtype and the dataspaces of a read."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import h5s


def read_dtypes(dataset_dtype: "np.dtype[Any]", names: Sequence[str]) -> "tuple[np.dtype[Any], np.dtype[Any]]":
    """Returns the dtype of the result of a read of these fields, and that of the records."""
    if not names:
        return dataset_dtype, dataset_dtype
    if dataset_dtype.names is None or dataset_dtype.fields is None:
        raise ValueError("Field names only allowed for compound types")
    for name in names:
        if name not in dataset_dtype.names:
            raise ValueError(f"Field {name} does not appear in this type.")
    records = np.dtype([(name, dataset_dtype.fields[name][0]) for name in names])
    return (dataset_dtype.fields[names[0]][0] if len(names) == 1 else records), records


def read_selections_scalar(dsid: Any, args: "tuple[Any, ...]") -> "tuple[tuple[int, ...] | None, h5s.SpaceID]":
    """Returns the shape of a read of a scalar dataset (None for an element), and the selection."""
    if dsid.shape != ():
        raise RuntimeError("Illegal selection function for non-scalar dataset")
    if args == ():
        shape: tuple[int, ...] | None = None
    elif args == (Ellipsis,):
        shape = ()
    else:
        raise ValueError("Illegal slicing argument for scalar dataspace")
    space = dsid.get_space()
    space.select_all()
    return shape, space


class ScalarReadSelection:
    """The one step of a read of a scalar dataset."""

    def __init__(self, fspace: h5s.SpaceID, args: "tuple[Any, ...]") -> None:
        if args not in ((), (Ellipsis,)):
            raise ValueError("Illegal slicing argument for scalar dataspace")
        self.mshape = None if args == () else ()
        self.mspace, self.fspace = h5s.create(h5s.SCALAR), fspace

    def __iter__(self) -> Any:
        self.mspace.select_all()
        return iter([(self.fspace, self.mspace)])


def select_read(fspace: h5s.SpaceID, args: "tuple[Any, ...]") -> ScalarReadSelection:
    """Returns the steps of a read of a scalar dataset."""
    if fspace.shape != ():
        raise NotImplementedError("select_read is for scalar datasets")
    return ScalarReadSelection(fspace, args)
