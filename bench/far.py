"""A web server far away: it takes a while to answer, and sends slowly. `far.py FILE` prints its port."""

import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LATENCY = 0.020
"""The seconds before each answer."""
RATE = 100e6
"""The bytes per second of one connection."""
PIECE = 1 << 18


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    data = b""

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        begin = time.perf_counter() + LATENCY
        time.sleep(LATENCY)
        start, end = 0, len(self.data)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start = int(asked[1])
            end = min(end, int(asked[2]) + 1) if asked[2] else end
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(self.data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        if not with_body:
            return
        body = memoryview(self.data)[start:end]
        for at in range(0, len(body), PIECE):
            self.wfile.write(body[at : at + PIECE])
            late = begin + (at + PIECE) / RATE - time.perf_counter()
            if late > 0:
                time.sleep(late)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    Handler.data = Path(sys.argv[1]).read_bytes()
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
