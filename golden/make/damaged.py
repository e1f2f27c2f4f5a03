"""Bit flips, overwritten words and truncations of other golden files, from a fixed seed.

Reading a damaged file must give an error or the right data, and never a panic, a hang or unbounded memory.
Files with a superblock of version 2 or later have checksums on all metadata. In older files a flipped bit may
also change data.
"""

import random

from common import main

VICTIMS = (
    "libver_earliest.h5",
    "libver_latest.h5",
    "btree1.h5",
    "fixed_array_latest.h5",
    "extensible_array_full_v110.h5",
    "btree2_latest.h5",
    "attributes_earliest.h5",
    "attributes_latest.h5",
    "links_latest_40.h5",
    "composed_earliest.h5",
    "texts_latest.h5",
    "symbol_table_300.h5",
    "pytables_blosc2.h5",
    "filters_latest.h5",
)
SEED = 20240607


def damage(content, rng, kind):
    """Returns a copy of `content` with one kind of damage.

    Early bytes, which have metadata, are hit more often.
    """
    out = bytearray(content)
    span = len(out) if rng.random() < 0.5 else min(len(out), 4096)
    if kind == "flip":
        for _ in range(rng.choice((1, 1, 4, 32))):
            out[rng.randrange(span)] ^= 1 << rng.randrange(8)
    elif kind == "word":
        at = rng.randrange(max(span - 8, 1))
        out[at : at + 8] = rng.choice((b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, rng.randbytes(8)))
    elif kind == "cut":
        del out[rng.randrange(len(out)) :]
    else:
        at = rng.randrange(span)
        out[at : at + 64] = rng.randbytes(min(64, len(out) - at))
    return bytes(out)


def variants(content, name, count):
    """Yields `count` damaged copies, reproducible from the name of the file."""
    rng = random.Random(f"{SEED}/{name}")
    for i in range(count):
        kind = ("flip", "word", "cut", "noise")[i % 4]
        yield f"{kind}{i:03}", damage(content, rng, kind)


def make(topic):
    """Damages files that must be in the output directory already: `all.py` runs this script last."""
    for name in VICTIMS:
        content = (topic.out / name).read_bytes()
        for label, bad in variants(content, name, 4):
            path = topic.out / f"damaged_{name.rsplit('.', 1)[0]}_{label}.h5"
            path.write_bytes(bad)
            topic.foreign(path, damaged=True)


if __name__ == "__main__":
    main("damaged", make)
