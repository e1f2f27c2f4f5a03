"""Reads chunks of a medium that takes 2 ms for each request and serves 16 at once."""

import atexit
import subprocess
from functools import cache

from common import HERE, LIMIT, OURS, PEER, Contestant, Group, Target, Timed

TITLE = "1,000 chunks of a medium that takes 2 ms for each request"
THREADS = (1,)
REQUESTS, SECONDS, AT_ONCE = 1000, 0.002, 16


@cache
def program() -> subprocess.Popen:
    """Returns the running example `depth`, which has the medium."""
    command = ["cargo", "run", "--release", "--locked", "--quiet", "-p", "hyperslab-testkit", "--example", "depth"]
    running = subprocess.Popen(
        command, cwd=HERE.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    atexit.register(running.communicate)
    return running


def reading(name: str, at_once: int, kind: str, readers: int = 1) -> Contestant:
    def call(running: subprocess.Popen, turn: int) -> Timed:
        running.stdin.write(f"{at_once} {readers}\n")
        answer = running.stdout.readline()
        if not answer:
            raise RuntimeError(f"the example `depth` ended with status {running.wait()}")
        return Timed(None, float(answer))

    return Contestant(name, call, program, kind=kind)


def groups(threads: int):
    limit = Contestant(
        "2 ms for every 16", lambda state, turn: Timed(None, -(-REQUESTS // AT_ONCE) * SECONDS), kind=LIMIT
    )
    for what, readers in (("one call", 1), (f"a call for each chunk, {AT_ONCE} threads of the program", AT_ONCE)):
        yield Group(
            what,
            [
                reading("hyperslab, 16 at once", AT_ONCE, OURS, readers),
                reading("one at a time", 1, PEER, readers),
                limit,
            ],
            [Target("one at a time", 12.0, "hyperslab, 16 at once")],
            None,
            operations=REQUESTS,
            memory=False,
        )
