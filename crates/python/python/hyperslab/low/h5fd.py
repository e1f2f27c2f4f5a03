"""The numbers of drivers."""

MEM_DEFAULT, MEM_SUPER, MEM_BTREE, MEM_DRAW, MEM_GHEAP, MEM_LHEAP, MEM_OHDR, MEM_NTYPES = range(8)

LOG_LOC_READ, LOG_LOC_WRITE, LOG_LOC_SEEK, LOG_LOC_IO = 0x2, 0x4, 0x8, 0xE
LOG_FILE_READ, LOG_FILE_WRITE, LOG_FILE_IO, LOG_FLAVOR = 0x10, 0x20, 0x30, 0x40
LOG_NUM_READ, LOG_NUM_WRITE, LOG_NUM_SEEK, LOG_NUM_IO = 0x80, 0x100, 0x200, 0x780
LOG_TIME_OPEN, LOG_TIME_READ, LOG_TIME_WRITE = 0x800, 0x2000, 0x4000
LOG_TIME_SEEK, LOG_TIME_CLOSE, LOG_TIME_IO = 0x8000, 0x20000, 0x3F800
LOG_ALLOC, LOG_ALL = 0x40000, 0xFFFFF
MPIO_INDEPENDENT, MPIO_COLLECTIVE = 0, 1

_FIRST = 0x0800000000000000
CORE, FAMILY, LOG, MULTI, _SPLIT, SEC2, _NULL, STDIO, fileobj_driver = (_FIRST + number for number in range(9))
DIRECT = MPIO = MPIPOSIX = ROS3D = WINDOWS = -1


def numbers() -> "dict[str, int]":
    """Returns the numbers of the drivers by their names."""
    return {
        "core": CORE,
        "family": FAMILY,
        "log": LOG,
        "multi": MULTI,
        "split": _SPLIT,
        "sec2": SEC2,
        "stdio": STDIO,
        "fileobj": fileobj_driver,
    }
