"""Shared by the golden scripts: creates reproducible files, writes datasets by formula, records them."""

import argparse
import contextlib
import ctypes
import glob
import hashlib
import itertools
import json
import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pattern as patterns

LIBVER = {
    "earliest": h5py.h5f.LIBVER_EARLIEST,
    "v108": h5py.h5f.LIBVER_V18,
    "v110": h5py.h5f.LIBVER_V110,
    "v112": h5py.h5f.LIBVER_V112,
    "v114": h5py.h5f.LIBVER_V114,
    "v200": h5py.h5f.LIBVER_V200,
    "latest": h5py.h5f.LIBVER_LATEST,
}
CHUNK_INDEX = {0: "btree1", 1: "single", 2: "implicit", 3: "fixed_array", 4: "extensible_array", 5: "btree2"}


def libhdf5():
    """Returns the libhdf5 inside h5py, for calls that h5py does not wrap."""
    site = Path(h5py.__file__).parent.parent
    found = glob.glob(str(site / "h5py.libs" / "libhdf5-*.so*"))
    lib = ctypes.CDLL(found[0])
    hid, size = ctypes.c_int64, ctypes.c_size_t
    for name, arguments in {
        "H5Pset_chunk_opts": [hid, ctypes.c_uint],
        "H5Pset_nbit": [hid],
        "H5Pset_istore_k": [hid, ctypes.c_uint],
        "H5Pset_shared_mesg_nindexes": [hid, ctypes.c_uint],
        "H5Pset_attr_phase_change": [hid, ctypes.c_uint, ctypes.c_uint],
        "H5Pset_shared_mesg_index": [hid, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint],
        "H5Pset_link_phase_change": [hid, ctypes.c_uint, ctypes.c_uint],
        "H5Pset_sym_k": [hid, ctypes.c_uint, ctypes.c_uint],
        "H5Dget_chunk_index_type": [hid, ctypes.POINTER(ctypes.c_int)],
        "H5Oset_comment": [hid, ctypes.c_char_p],
        "H5Dwrite": [hid, hid, hid, hid, hid, ctypes.c_void_p],
        "H5Tset_ebias": [hid, size],
        "H5Tset_fields": [hid, size, size, size, size, size],
    }.items():
        getattr(lib, name).argtypes = arguments
    return lib


LIB = libhdf5()


def call(name, *arguments):
    """Calls libhdf5 and raises an exception if the result is negative, which means failure."""
    result = getattr(LIB, name)(*arguments)
    if result < 0:
        raise RuntimeError(f"{name}{arguments} failed")
    return result


def spelled(dtype):
    """Returns the spelling of a type in the manifest, or None if the type has no formula."""
    dtype = np.dtype(dtype)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inner = spelled(base)
        return inner and f"({','.join(map(str, shape))}){inner}"
    if dtype.names is not None:
        fields = [(name, spelled(dtype[name])) for name in dtype.names]
        packed = sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize
        if not packed or any(inner is None for _, inner in fields):
            return None
        return "{" + ",".join(f"{name}:{inner}" for name, inner in fields) + "}"
    extended = dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16)
    if dtype.kind in "iufcSb" and not dtype.metadata and not extended:
        return dtype.str
    return None


class Topic:
    """The files of one script."""

    def __init__(self, out, script):
        self.out, self.script, self.files = Path(out), script, []
        self.out.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def file(self, name, libver="earliest", userblock=0, setup=None, **note):
        """Creates a file. `setup(fcpl)` may change its creation properties."""
        path = self.out / name
        path.unlink(missing_ok=True)
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        fcpl.set_obj_track_times(False)
        if userblock:
            fcpl.set_userblock(userblock)
        if setup:
            setup(fcpl)
        fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        fapl.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
        low, high = (libver, "latest") if isinstance(libver, str) else libver
        fapl.set_libver_bounds(LIBVER[low], LIBVER[high])
        handle = h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, fcpl, fapl))
        golden = GoldenFile(handle)
        with handle:
            yield golden
        self.foreign(path, golden.datasets, **note)

    def foreign(self, path, datasets=(), **note):
        """Records a file that another library wrote."""
        self.files.append({"name": Path(path).name, "script": self.script, **note, "dataset": list(datasets)})

    def finish(self):
        """Writes the records beside the files, for `all.py`."""
        for entry in self.files:
            content = (self.out / entry["name"]).read_bytes()
            entry["bytes"], entry["sha256"] = len(content), hashlib.sha256(content).hexdigest()
        (self.out / f"{self.script}.json").write_text(json.dumps(self.files, indent=1))


class GoldenFile:
    """An open file and the records of its datasets."""

    def __init__(self, handle):
        self.h5, self.datasets = handle, []

    def dataset(
        self, path, shape, dtype, *, index, pattern="mix", written=None, box=None, spell=None, data=None, **options
    ):
        """Creates a dataset that must have chunk index or layout `index`, and fills it by formula.

        `written`: coordinates of the chunks to write (default all). `box`: only elements below this corner
        are written.
        """
        if pattern != "fill":
            values = patterns.array(pattern, dtype, shape) if data is None else data
        stored_type = options.pop("stored_type", dtype)
        if shape == () and "dcpl" in options:  # h5py ignores the properties of a scalar dataset
            d = self.low(path, h5py.h5t.py_create(np.dtype(stored_type), logical=True), shape, options["dcpl"])
        else:
            d = self.h5.create_dataset(path, shape, stored_type, **options)
        if written is not None:
            for at in written:
                corner = [slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(at, d.chunks, shape)]
                d[tuple(corner)] = values[tuple(corner)]
        elif box is not None:
            corner = tuple(slice(0, n) for n in box)
            d[corner] = values[corner]
        elif pattern != "fill" and values.size:
            d[()] = values
        note = {"written": [list(map(int, at)) for at in written]} if written is not None else {}
        if box is not None:
            note["box"] = list(box)
        return self.note(d, index, pattern, spell or (spelled(dtype) if data is None else None), **note)

    def low(self, path, type_id, shape, plist=None, maxshape=None):
        """Creates a dataset with a low-level type and exactly these properties, without writing elements."""
        if maxshape is not None:
            maxshape = tuple(h5py.h5s.UNLIMITED if n is None else n for n in maxshape)
        space = h5py.h5s.create_simple(shape, maxshape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
        return h5py.Dataset(h5py.h5d.create(self.h5.id, path.encode(), type_id, space, plist or dcpl()))

    def note(self, d, index, pattern="", spell=None, **note):
        """Records the properties of dataset `d`, after checking its layout or chunk index with libhdf5."""
        found = layout_of(d.id)
        if found != index:
            raise AssertionError(f"{d.name}: expected {index}, but libhdf5 created {found}")
        entry = {"path": d.name, "shape": list(map(int, d.shape or ())), "index": index, **note}
        if d.chunks:
            entry["chunks"] = list(map(int, d.chunks))
        numeric = d.dtype.kind in "iufb"
        if spell and pattern and (numeric or pattern != "fill"):
            entry.update(dtype=spell, pattern=pattern)
            fill = np.asarray(filling(d)).ravel()
            if fill.size and fill.dtype.kind in "iufb" and fill[0] != 0:
                entry["fill"] = float(fill[0]) if fill.dtype.kind == "f" else int(fill[0])
        self.datasets.append(entry)
        return d


def filling(d):
    """Returns the fill value, or an empty list if NumPy cannot hold it."""
    try:
        return d.fillvalue if d.dtype.kind in "iufb" else []
    except (TypeError, RuntimeError):
        return []


def layout_of(dataset_id):
    """Returns the layout that libhdf5 reports, or the chunk index of a chunked dataset."""
    plist = dataset_id.get_create_plist()
    layout = plist.get_layout()
    if layout == h5py.h5d.CHUNKED:
        kind = ctypes.c_int(-1)
        call("H5Dget_chunk_index_type", dataset_id.id, ctypes.byref(kind))
        return CHUNK_INDEX[kind.value]
    if layout == h5py.h5d.CONTIGUOUS and plist.get_external_count():
        return "external"
    return {h5py.h5d.COMPACT: "compact", h5py.h5d.CONTIGUOUS: "contiguous", h5py.h5d.VIRTUAL: "virtual"}[layout]


def grid(shape, chunks, every=1):
    """Returns the coordinates of every `every`-th chunk, in row-major order."""
    counts = [-(-n // c) for n, c in zip(shape, chunks)]
    return list(itertools.product(*map(range, counts)))[::every]


def dcpl(alloc=None, fill_time=None, fill=None, chunk_opts=None, chunk=None, attributes=None, filters=()):
    """Returns dataset creation properties that have no argument in `create_dataset`."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    if chunk is not None:
        plist.set_chunk(chunk)
    if alloc is not None:
        plist.set_alloc_time(alloc)
    if fill_time is not None:
        plist.set_fill_time(fill_time)
    if fill is not None:
        plist.set_fill_value(np.asarray(fill))
    if chunk_opts is not None:
        call("H5Pset_chunk_opts", plist.id, chunk_opts)
    if attributes is not None:
        plist.set_attr_phase_change(*attributes)
    for add in filters:
        add(plist)
    return plist


def main(script, make):
    """Runs a golden script from the command line: `python golden/make/X.py OUT_DIR`."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("out", help="directory to write the files into")
    topic = Topic(parser.parse_args().out, script)
    make(topic)
    topic.finish()
