"""Checks every HDF5 file that a test leaves behind, with all its data, no matter which program wrote it.

A test that damages a file on purpose is marked `damages`. At least one of its files must be unsound.
"""

import importlib
import io
import os
from pathlib import Path

# With h5py in place of hyperslab (`HYPERSLAB_MODULE=h5py`) no files are checked.
hs = importlib.import_module(os.environ.get("HYPERSLAB_MODULE", "hyperslab"))


class Checks:
    """The checks of one run of the tests."""

    def __init__(self):
        self.files = 0
        """The number of files that were checked, with the expected result."""
        self.said = []
        """Lines for the end of the run, in which tests report how much they have tried."""
        self._seen = {}

    def changed(self, directory):
        """Yields the HDF5 files below a directory that are new or have changed since the last call."""
        for parent, _, names in os.walk(directory):
            for path in (Path(parent, name) for name in sorted(names)):
                state = path.stat() if path.is_file() else None
                now = state and (state.st_mtime_ns, state.st_size, state.st_ino)
                if now is not None and self._seen.get(path) != now and hs.is_hdf5(path):
                    self._seen[path] = now
                    yield path

    def directory(self, directory, is_damaged=False):
        """Checks the changed files below a directory.

        With `is_damaged` at least one must be unsound, otherwise none.
        """
        if not hasattr(hs, "check"):
            return
        found = {path: errors(path) for path in self.changed(directory)}
        unsound = {str(path): said for path, said in found.items() if said}
        self.files += len(found)
        if is_damaged:
            assert unsound, "the test is marked `damages`, but all its files are sound"
        else:
            assert not unsound, "\n".join(f"{path}: {line}" for path, said in unsound.items() for line in said)

    def image(self, image):
        """Checks the bytes of a file."""
        if hasattr(hs, "check"):
            found = errors(io.BytesIO(image))
            assert not found, "\n".join(found)
            self.files += 1


def errors(file):
    """Returns the errors of a file. The list is empty for a kind of file that is not checked."""
    try:
        found = hs.check(file, data=True)
    except NotImplementedError:
        return []
    except OSError as error:
        # One member of a file in several parts is no file of its own.
        if "driver should be used" in str(error) or "the first member of a family" in str(error):
            return []
        raise
    return [f"{f.message}, {f.structure} at {f.address} ({f.path})" for f in found if f.severity == "error"]


CHECKS = Checks()
