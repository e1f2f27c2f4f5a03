"""A running `hyperslab view`, and requests to it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

COMMAND = [sys.executable, "-m", "hyperslab", "view"]


class Answer:
    """The answer to a request."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)

    @property
    def message(self):
        return self.json()["message"]


class Viewer:
    """A server of files, which ends with the block."""

    def __init__(self, *files, options=(), browser=None):
        options = [*options] if browser else ["--no-browser", *options]
        environment = os.environ | ({"BROWSER": str(browser)} if browser else {})
        command = [*COMMAND, *options, *map(str, files)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self.address = self.process.stdout.readline().strip()
        assert self.address, f"the viewer did not start: {self.process.wait(timeout=60)}"
        parts = urlsplit(self.address)
        self.port, self.base = parts.port, parts.path.rstrip("/")

    def get(self, name, method="GET", headers=None, **arguments):
        """Returns the answer to a request of `name` with these arguments."""
        return self.ask(f"{self.base}/{name}?{urlencode(arguments, doseq=True)}", method, headers)

    def ask(self, target, method="GET", headers=None):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, target, headers=headers or {})
            return Answer(connection.getresponse())

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def resident(self):
        """Returns the most memory that the process ever had, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGINT)
        assert self.process.wait(timeout=60) == 0
        self.process.stdout.close()
