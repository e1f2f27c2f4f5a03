"""What no caller is left to learn goes to Python's `logging`."""

import gc
import io
import logging
import subprocess
import sys
import threading

import pytest
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("libhdf5 has no logger", allow_module_level=True)

LOST = "what was changed since the last flush is lost"


class Medium(io.BytesIO):
    """A file object that can become full."""

    is_full = False

    def write(self, data):
        if self.is_full:
            raise OSError(28, "No space left on device")
        return super().write(data)


def changed():
    """Returns a file with changes that cannot be written."""
    medium = Medium()
    file = hs.File(medium, "w")
    file["a"] = 1
    medium.is_full = True
    return file


def test_a_dropped_file_whose_last_commit_fails_is_logged(caplog):
    file = changed()
    del file
    gc.collect()
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("hyperslab", logging.ERROR)
    assert LOST in record.getMessage() and "No space left" in record.getMessage()


def test_a_file_that_another_thread_drops_is_logged_on_the_main_thread(caplog):
    files = [changed()]
    thread = threading.Thread(target=files.clear)
    thread.start()
    thread.join()
    gc.collect()
    (record,) = caplog.records
    assert LOST in record.getMessage() and record.threadName == "MainThread"


def test_a_logger_that_raises_does_not_raise_in_the_program(caplog):
    def refuse(_):
        raise ValueError("a filter that fails")

    logger, shown, hook = logging.getLogger("hyperslab"), [], sys.unraisablehook
    logger.addFilter(refuse)
    sys.unraisablehook = lambda raised: shown.append(raised.exc_type)
    try:
        file = changed()
        del file
        gc.collect()
    finally:
        logger.removeFilter(refuse)
        sys.unraisablehook = hook
    assert shown == [ValueError] and not caplog.records


def test_an_error_that_close_raises_is_not_logged(caplog):
    file = changed()
    with pytest.raises(OSError, match="No space left"):
        file.close()
    del file
    gc.collect()
    assert not caplog.records


DROPPED = """
import resource, signal, sys
import hyperslab as hs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = hs.File(sys.argv[1], "w")
f.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
f.create_group("a")
if sys.argv[2] == "del":
    del f
elif sys.argv[2] == "thread":
    import threading, time
    files = [f]
    del f
    threading.Thread(target=lambda: (time.sleep(0.2), files.clear()), daemon=True).start()
    time.sleep(0.5)
elif sys.argv[2] == "atexit":
    import atexit
    files = [f]
    del f
    atexit.register(files.clear)
"""


@pytest.mark.process
@pytest.mark.parametrize("when", ["del", "thread", "atexit", "exit"])
def test_without_a_configuration_it_is_printed(tmp_path, when):
    command = [sys.executable, "-c", DROPPED, tmp_path / "x.h5", when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.count(LOST) == 1 and "x.h5" in done.stderr, done.stderr
