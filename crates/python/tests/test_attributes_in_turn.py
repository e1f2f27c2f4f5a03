"""hyperslab and libhdf5 change the attributes of one object in turn: each goes on with the heap, and the list
of its free space, that the other has left.
"""

import random

import h5py
import numpy as np
import pytest
from support import hs

LENGTHS = [1, 2, 3, 5, 8, 30, 100]


def change(attrs, model, choice):
    """Removes, changes or adds an attribute."""
    name = f"a{choice.randrange(14)}"
    if choice.random() < 0.4 and name in model:
        del attrs[name], model[name]
        return
    value = np.arange(choice.choice(LENGTHS), dtype="i4")
    if name in model and len(model[name]) == len(value) and choice.random() < 0.5:
        attrs.modify(name, value)
    else:
        attrs[name] = value
    model[name] = value


# In these, one change by libhdf5 would fill the room of the list exactly if there was any room.
@pytest.mark.parametrize("seed", [138, 140, 260, *range(40)])
def test_both_libraries_change_attributes_in_turn(tmp_path, seed):
    path, choice, model = tmp_path / "t.h5", random.Random(seed), {}
    with hs.File(path, "w") as file:
        attrs = file.create_group("g").attrs
        for _ in range(choice.randrange(5, 40)):
            change(attrs, model, choice)
    for _ in range(4):
        library = choice.choice([hs, h5py])
        with library.File(path, "r+") as file:
            for _ in range(choice.randrange(1, 12)):
                change(file["g"].attrs, model, choice)
        for other in (hs, h5py):
            with other.File(path, "r") as file:
                found = dict(file["g"].attrs)
                assert found.keys() == model.keys()
                assert all(np.array_equal(found[name], value) for name, value in model.items())
    assert not [finding for finding in hs.check(path) if finding.severity == "error"]
