"""A web server on this machine, of files for tests."""

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A server of the files in a dict, which counts requests."""

    daemon_threads = True
    request_queue_size = 200

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.fails, self.requests, self.delay = {}, [], [], 0.0
        self.together = None
        self.waiting = threading.Semaphore(0)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def add(self, path):
        self.files["/" + path.name] = path.read_bytes()
        return self.url(path.name)


class Handler(BaseHTTPRequestHandler):
    """Answers requests for ranges of bytes, as servers of files do."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server, name = self.server, self.path.partition("?")[0]
        server.requests.append(self.headers["Range"])
        server.waiting.release()
        time.sleep(server.delay)
        if server.together is not None:
            server.together.wait()
        if server.fails or name not in server.files:
            with contextlib.suppress(ConnectionError):
                self.send_error(server.fails.pop() if server.fails else 404)
            return
        data = server.files[name]
        tag = f'"{hash(data)}"'
        if self.headers.get("If-Match", tag) != tag:
            self.send_error(412)
            return
        start, last = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
        part = data[start : last + 1]
        self.send_response(206)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(part)
