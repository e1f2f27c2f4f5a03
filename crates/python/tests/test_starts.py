"""How the commands begin: interrupts while Python imports the package, and programs that are not there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = "from hyperslab._cli import main; main()"
COMMANDS = {"the script": ["hyperslab"], "the module": ["-m", "hyperslab"]}


@pytest.mark.parametrize("how", COMMANDS)
def test_an_interrupt_while_the_package_is_imported_ends_the_command_quietly(tmp_path, how):
    (tmp_path / "hyperslab").write_text(SCRIPT)
    (tmp_path / "path").mkdir()
    # In place of NumPy, which takes most of the time.
    (tmp_path / "path" / "numpy.py").write_text("import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(60)\n")
    command = [sys.executable, *COMMANDS[how], "ls", "no.h5"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "path")}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE)
    try:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, said) == (-signal.SIGINT, b"")


def test_other_programs_keep_their_interrupts():
    text = "import hyperslab, signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no.py"], 2, "cannot open the script 'no.py': No such file or directory"),
        (["folder"], 2, "cannot open the script 'folder': the folder has no __main__.py"),
        (["-m", "nomodule"], 1, "no module named 'nomodule'"),
    ],
)
def test_a_program_that_is_not_there_is_one_line(tmp_path, arguments, code, said):
    Path(tmp_path, "folder").mkdir()
    command = [sys.executable, "-m", "hyperslab.as_h5py", *arguments]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (code, f"python -m hyperslab.as_h5py: {said}\n")
