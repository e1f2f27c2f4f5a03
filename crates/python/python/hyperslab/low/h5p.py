"""Property lists: how objects are made and opened."""

from typing import Any

import numpy as np

from .._native import Dataset, File, Group, _object_facts, _order_facts
from ._access import PropCopyID as PropCopyID
from ._access import PropDAID as PropDAID
from ._access import PropDXID as PropDXID
from ._access import PropFAID as PropFAID
from ._access import PropLAID as PropLAID
from ._mappings import mappings_of
from ._plists import CRT_ORDER_INDEXED as CRT_ORDER_INDEXED
from ._plists import CRT_ORDER_TRACKED as CRT_ORDER_TRACKED
from ._plists import PropClassID as PropClassID
from ._plists import PropCreateID as PropCreateID
from ._plists import PropDCID as PropDCID
from ._plists import PropFCID as PropFCID
from ._plists import PropGCID as PropGCID
from ._plists import PropID as PropID
from ._plists import PropInstanceID as PropInstanceID
from ._plists import PropLCID as PropLCID
from ._plists import PropOCID as PropOCID
from ._plists import PropTCID as PropTCID

DEFAULT = None

NO_CLASS = PropClassID("no class")
OBJECT_CREATE = PropClassID("object create")
FILE_CREATE = PropClassID("file create")
FILE_ACCESS = PropClassID("file access")
DATASET_CREATE = PropClassID("dataset create")
DATASET_ACCESS = PropClassID("dataset access")
DATASET_XFER = PropClassID("data transfer")
GROUP_CREATE = PropClassID("group create")
LINK_CREATE = PropClassID("link create")
LINK_ACCESS = PropClassID("link access")
OBJECT_COPY = PropClassID("object copy")

_LISTS: "dict[PropClassID, type[PropInstanceID]]" = {
    OBJECT_CREATE: PropOCID,
    FILE_CREATE: PropFCID,
    FILE_ACCESS: PropFAID,
    DATASET_CREATE: PropDCID,
    DATASET_ACCESS: PropDAID,
    DATASET_XFER: PropDXID,
    GROUP_CREATE: PropGCID,
    LINK_CREATE: PropLCID,
    LINK_ACCESS: PropLAID,
    OBJECT_COPY: PropCopyID,
}
for _class, _list in _LISTS.items():
    _list._property_class = _class


def create(cls: PropClassID) -> Any:
    """Creates a property list of a class, with the defaults of HDF5."""
    try:
        return _LISTS[cls]()
    except (KeyError, TypeError):
        raise TypeError(f"a class of property lists is needed, not {cls!r}") from None


def create_list_of(object_: Any) -> Any:
    """Returns the property list that an object was created with."""
    if isinstance(object_, Dataset):
        made: Any = _creation_of_dataset(object_)
    elif isinstance(object_, File):
        made = PropFCID(userblock=object_.userblock_size)
        identifier: Any = object_.id
        *space, page_size = identifier._space
        made.set_file_space_strategy(*space)
        made.set_file_space_page_size(page_size)
    else:
        made = PropGCID() if isinstance(object_, Group) else PropTCID()
    tracks, indexes, phase_change, tracks_links = _order_facts(object_)
    if tracks:
        made._values["attribute_order"] = CRT_ORDER_TRACKED | (CRT_ORDER_INDEXED if indexes else 0)
    if tracks_links:
        made._values["link_order"] = CRT_ORDER_TRACKED | CRT_ORDER_INDEXED
    made._values["phase_change"] = phase_change
    return made


def _creation_of_dataset(dataset: Dataset) -> PropDCID:
    identifier: Any = dataset.id
    layout, allocation, fill_time, fill = identifier._storage
    made = PropDCID(layout=layout, alloc_time=allocation, fill_time=fill_time)
    if dataset.chunks is not None:
        made._values["chunk"] = dataset.chunks
    if fill is not None:
        made._values["fill"] = False if fill is False else np.array(dataset.fillvalue, dtype=dataset.dtype.base)
    made._values["filters"] = [
        (code, flags, tuple(values), (name or "").encode()) for code, flags, name, values in identifier._pipeline
    ]
    if dataset.is_virtual:
        made._values["virtual"] = mappings_of(dataset)
    made.set_obj_track_times(_object_facts(dataset)[4] is not None)
    if layout == 1 and dataset.external:
        made._values["external"] = [(name.encode(), offset, size) for name, offset, size in dataset.external]
    return made
