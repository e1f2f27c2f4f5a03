"""Programs that use libhdf5, natively and through the plug-in. Every call is a process of its own."""

import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import data
import numpy as np
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target, Timed, scaled

TITLE = "libhdf5 with the plug-in and without: 200 MB of float32, gzip 4 + shuffle in chunks (1,500,500)"
THREADS = (1, 2)

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = REPOSITORY / "target" / "vol-tools" / "bin"
OPTIONS = {"chunks": data.GZIP_CHUNK, "compression": "gzip", "compression_opts": 4, "shuffle": True}
FIRST = "import sys, time, h5py, numpy as np\n"


def count():
    return scaled(50, 2)


@cache
def values():
    return data.gzip_values(count())


def total(array):
    return int(np.ascontiguousarray(array).view("u4").sum(dtype="u8"))


def h5py_file():
    return data.made("vol.h5", data.hdf5(values, **OPTIONS))


def plugin_file(name):
    import hdf5plugin

    options = {"blosc2": hdf5plugin.Blosc2(cname="zstd", clevel=5), "zstd": hdf5plugin.Zstd(3)}[name]
    return data.made(f"vol-{name}.h5", data.hdf5(values, chunks=data.GZIP_CHUNK, **options))


def netcdf_file():
    def make(path):
        import netCDF4

        with netCDF4.Dataset(path, "w") as file:
            for name, length in zip(("time", "y", "x"), values().shape):
                file.createDimension(name, length)
            options = {"zlib": True, "complevel": 4, "shuffle": True, "chunksizes": data.GZIP_CHUNK}
            file.createVariable("d", "f4", ("time", "y", "x"), **options)[:] = values()

    return data.made("vol.nc", make)


def small_file():
    def make(path):
        import h5py

        with h5py.File(path, "w") as file:
            file.create_dataset("plain", data=np.arange(1_000_000, dtype="f4"))
            file.create_dataset("chunked", data=np.arange(1_000_000, dtype="f4"), chunks=(100_000,), compression="gzip")
            for number in range(scaled(10_000, 10)):
                if number % 100 == 0:
                    group = file.create_group(f"g{number // 100}")
                group.attrs[f"a{number}"] = number

    return data.made("vol-small.h5", make)


def environment(through, threads):
    found = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    found["HYPERSLAB_THREADS"] = str(threads)
    if through:
        found |= {"HDF5_VOL_CONNECTOR": "hyperslab", "HDF5_PLUGIN_PATH": str(REPOSITORY / "target" / "vol")}
    return found


def pair(run, threads):
    """Returns the contestants for `run(environment, name)`, which returns the answer or a `Timed`."""

    def call_of(name, through):
        def call(state, turn):
            return run(environment(through, threads), name)

        return call

    for name, through, kind in ((OUR_NAME, True, OURS), ("native", False, PEER)):
        call = call_of(name, through)
        yield Contestant(name, call, kind=kind, threads="" if through else "1 (it has no more)")


def program(code, *arguments):
    """Returns a function that runs a program in Python, which prints its seconds and an answer."""

    def run(env, name):
        return timed([sys.executable, "-c", FIRST + code, *map(str, arguments)], env)

    return run


def timed(command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    seconds, answer = done.stdout.split()
    return Timed(int(answer), float(seconds))


READ_H5PY = """
with h5py.File(sys.argv[1]) as file:
    out = np.full(file["d"].shape, 9, "f4")
    begin = time.perf_counter()
    file["d"].read_direct(out)
    seconds = time.perf_counter() - begin
print(seconds, out.view("u4").sum(dtype="u8"))
"""
READ_PLUGIN = "import hdf5plugin\n" + READ_H5PY
READ_NETCDF = """
import netCDF4
with netCDF4.Dataset(sys.argv[1]) as file:
    file["d"].set_auto_mask(False)
    begin = time.perf_counter()
    out = file["d"][:]
    seconds = time.perf_counter() - begin
print(seconds, np.ascontiguousarray(out).view("u4").sum(dtype="u8"))
"""
WRITE_H5PY = """
values = np.load(sys.argv[1])
begin = time.perf_counter()
with h5py.File(sys.argv[2], "w") as file:
    file.create_dataset("d", data=values, chunks=(1, 500, 500), compression="gzip", compression_opts=4, shuffle=True)
seconds = time.perf_counter() - begin
print(seconds, values.view("u4").sum(dtype="u8"))
"""
ELEMENTS = """
with h5py.File(sys.argv[1]) as file:
    dataset = file[sys.argv[2]]
    places = np.random.default_rng(1).integers(0, 100_000, 1000)
    begin = time.perf_counter()
    out = [dataset[place] for place in places]
    seconds = time.perf_counter() - begin
print(seconds, int(sum(map(float, out))))
"""
ATTRIBUTES = """
begin = time.perf_counter()
total = 0
with h5py.File(sys.argv[1]) as file:
    for name, group in file.items():
        if name[0] == "g":
            total += sum(int(value) for value in group.attrs.values())
seconds = time.perf_counter() - begin
print(seconds, total)
"""
OPENINGS = """
begin = time.perf_counter()
total = 0
for turn in range(300):
    with h5py.File(sys.argv[1]) as file:
        total += len(file["plain"])
seconds = time.perf_counter() - begin
print(seconds, total)
"""


def c_program():
    """Compiles the program in C, and returns its path."""
    source = REPOSITORY / "bench" / "vol.c"
    out = data.ROOT / "vol-c"
    subprocess.run([TOOLS / "h5cc1.14", "-O2", "-o", out, source], check=True)
    return out


def copies(command):
    """Returns a function that times a program that writes a file, and reads that file natively."""

    def run(env, name):
        import h5py

        out = data.ROOT / f"vol-out-{name}.h5"
        out.unlink(missing_ok=True)
        begin = time.perf_counter()
        subprocess.run([*map(str, command), out], env=env, check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        with h5py.File(out) as file:
            answer = total(file["d"][:])
        out.unlink()
        return Timed(answer, seconds)

    return run


def writes(path):
    def run(env, name):
        out = data.ROOT / f"vol-out-{name}.h5"
        found = program(WRITE_H5PY, path, out)(env, name)
        import h5py

        with h5py.File(out) as file:
            found.answer = total(file["d"][:])
        out.unlink()
        return found

    return run


def groups(threads: int):
    subprocess.run([sys.executable, REPOSITORY / "scripts" / "vol_tools.py"], check=True)
    size = 4 * count() * 1000 * 1000
    array = data.made("vol.npy", lambda path: np.save(open(path, "wb"), values()))
    fast = threads == 2

    def group(name, run, ratio, expected, files, work_bytes=size, operations=1):
        targets = [Target("native", ratio)] if fast or ratio < 1 else []
        contestants = list(pair(run, threads))
        more = {"work_bytes": work_bytes, "operations": operations, "files": files, "memory": False}
        return Group(name, contestants, targets, expected, **more)

    def answer():
        return total(values())

    source, netcdf, small = h5py_file(), netcdf_file(), small_file()
    reader = c_program()
    yield group("whole read, h5py", program(READ_H5PY, source), 6, answer, [source])
    yield group("whole read, netCDF4-python", program(READ_NETCDF, netcdf), 6, answer, [netcdf])
    yield group("whole read, C", lambda env, name: timed([reader, source, "d"], env), 6, answer, [source])
    for name in ("blosc2", "zstd"):
        path = plugin_file(name)
        yield group(f"whole read, {name} of hdf5plugin", program(READ_PLUGIN, path), 4, answer, [path])
    yield group("write, h5py", writes(array), 5, answer, [])
    yield group("h5repack GZIP=1", copies([TOOLS / "h5repack", "-f", "GZIP=1", source]), 6, answer, [source])
    yield group("nccopy -d 4 -s", copies([TOOLS / "nccopy", "-d", "4", "-s", netcdf]), 3, answer, [netcdf])
    places = np.random.default_rng(1).integers(0, 100_000, 1000)
    for name in ("plain", "chunked"):
        run = program(ELEMENTS, small, name)
        yield group(f"1,000 elements, {name}", run, 0.9, lambda: int(places.sum()), [small], 0, 1000)
    attributes = scaled(10_000, 10)

    def total_of_attributes():
        return sum(range(attributes))

    yield group("10,000 attributes", program(ATTRIBUTES, small), 0.9, total_of_attributes, [small], 0, attributes)
    yield group("opening", program(OPENINGS, small), 0.9, lambda: 300 * 1_000_000, [small], 0, 300)
