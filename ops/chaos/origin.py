"""A tile server that replays the truth and lies on request.

The truth is what the demo world answers: recorded once, then served from memory. Every request is noted with its time.
"""

import gzip
import http.client
import pickle
import socket
import struct
import threading
import time
import zlib

KINDS = [
    "500", "502", "503", "429", "silence", "slow-loris", "truncated", "short-length", "long-length", "wrong-type",
    "html", "json", "redirect-loop", "gzip-bomb", "reset", "reset-midway", "garbage", "endless-headers", "smuggled",
    "chunked-cut",
]  # fmt: skip


class Lie:
    """What is said instead of the truth: by kind, about which share of the tiles, how often or until when."""

    def __init__(self, kind, seed, share=1.0, times=None, seconds=None, only=None):
        self.kind, self.seed, self.share, self.times, self.seconds, self.only = kind, seed, share, times, seconds, only
        self.told, self.first, self.last, self.lock = {}, None, None, threading.Lock()

    def covers(self, path):
        """Whether this path is lied about at all; the same for the same seed."""
        if path == "/loop":
            return True
        if self.only is not None:
            return path in self.only
        return zlib.crc32(f"{self.seed} {path}".encode()) < self.share * 2**32

    def applies(self, path):
        """Whether this very request is lied to."""
        if not self.covers(path):
            return False
        with self.lock:
            now = time.time()
            self.first = self.first or now
            if self.seconds is not None and now - self.first > self.seconds:
                return False
            if path == "/loop":
                return True
            if self.times is not None and self.told.get(path, 0) >= self.times:
                return False
            self.told[path] = self.told.get(path, 0) + 1
            self.last = now
            return True


class Origin:
    """Serves `truth` (path -> status, headers, body); fetches what is not in it from `upstream`."""

    def __init__(self, truth, upstream=None, latency=0.0, listener=None):
        self.truth, self.upstream, self.latency = truth, upstream, latency
        self.lies, self.requests, self.open = [], [], 0
        self.most_open, self.lock, self.closed = 0, threading.Lock(), threading.Event()
        self.listener = listener or socket.create_server(("127.0.0.1", 0), backlog=256)
        self.host, self.port = self.listener.getsockname()[:2]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def template(self):
        return f"http://{self.host}:{self.port}/tiles/{{z}}/{{x}}/{{y}}.pbf"

    def counts(self):
        """Requests by path."""
        with self.lock:
            counts = {}
            for _, path in self.requests:
                counts[path] = counts.get(path, 0) + 1
            return counts

    def close(self):
        self.closed.set()
        self.listener.close()

    def _accept(self):
        while not self.closed.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(60)
        with connection, connection.makefile("rb") as reader:
            try:
                while not self.closed.is_set() and self._answer_one(connection, reader):
                    pass
            except (OSError, ValueError):
                pass

    def _answer_one(self, connection, reader):
        line = reader.readline(8192).decode("latin-1").split()
        if len(line) < 3:
            return False
        asked = {}
        while (field := reader.readline(8192)) not in (b"\r\n", b"\n", b""):
            name, _, value = field.decode("latin-1").partition(":")
            asked[name.lower()] = value.strip()
        path = line[1]
        with self.lock:
            self.requests.append((time.time(), path))
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            if self.latency:
                time.sleep(self.latency)
            for lie in self.lies:
                if lie.applies(path):
                    return self._lie(lie.kind, connection, path, asked)
            return self._tell_truth(connection, path, asked)
        finally:
            with self.lock:
                self.open -= 1

    def _tell_truth(self, connection, path, asked):
        return send(connection, *self._answer(path, asked))

    def _lie(self, kind, connection, path, asked):
        return tell(kind, connection, self._answer(path, asked), self.closed)

    def _answer(self, path, asked):
        """Status, headers and body of a true answer; `asked` are the request's headers in lower case."""
        return self._truth(path)

    def _truth(self, path):
        if path not in self.truth and self.upstream:
            upstream = http.client.HTTPConnection(self.upstream, timeout=30)
            upstream.request("GET", path, headers={"Accept-Encoding": "gzip"})
            answer = upstream.getresponse()
            kept = {k: v for k, v in answer.getheaders() if k.lower() in ("content-type", "content-encoding", "etag")}
            self.truth[path] = (answer.status, kept, answer.read())
            upstream.close()
        return self.truth.get(path, (404, {}, b""))


def head(status, headers):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} said\r\n{lines}\r\n".encode()


def send(connection, status, headers, body, length=None):
    """Says an answer; True when the connection can go on."""
    if status != 204:
        headers = {**headers, "Content-Length": len(body) if length is None else length}
    connection.sendall(head(status, headers) + body)
    return True


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


BOMB = gzip.compress(bytes(256 << 20), 9)


def tell(kind, connection, truth, closed):
    """Says one lie; True when the connection can go on."""
    status, headers, body = truth
    body = body or b"x" * 100
    if kind in ("500", "502", "503"):
        return send(connection, int(kind), {"Content-Type": "text/plain"}, b"out of order")
    if kind == "429":
        return send(connection, 429, {"Retry-After": "1"}, b"slow down")
    if kind == "silence":
        closed.wait(30)
        return False
    if kind == "slow-loris":
        connection.sendall(head(200, {**headers, "Content-Length": len(body)}))
        for byte in body[:40]:
            connection.sendall(bytes([byte]))
            if closed.wait(0.5):
                break
        return False
    if kind == "truncated":
        connection.sendall(head(200, {**headers, "Content-Length": len(body)}) + body[: len(body) // 2])
        return False
    if kind == "short-length":
        return send(connection, 200, headers, body, length=len(body) // 2)
    if kind == "long-length":
        send(connection, 200, headers, body, length=len(body) + 50)
        return False
    if kind == "wrong-type":
        return send(connection, 200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + bytes(60))
    if kind == "html":
        return send(connection, 200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><title>Please sign in</title>")
    if kind == "json":
        return send(connection, 200, {"Content-Type": "application/json"}, b'{"error":"quota exceeded"}')
    if kind == "redirect-loop":
        return send(connection, 302, {"Location": "/loop"}, b"")
    if kind == "gzip-bomb":
        return send(connection, 200, {"Content-Encoding": "gzip"}, BOMB)
    if kind == "reset":
        return reset(connection)
    if kind == "reset-midway":
        connection.sendall(head(200, {**headers, "Content-Length": len(body)}) + body[: len(body) // 2])
        return reset(connection)
    if kind == "garbage":
        connection.sendall(b"\x00\xff\x13 not HTTP at all\r\n\r\n" + bytes(64))
        return False
    if kind == "endless-headers":
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for number in range(20_000):
            connection.sendall(b"X-Filler-%d: %s\r\n" % (number, b"y" * 200))
        return False
    if kind == "smuggled":
        # Two answers to one request: the second must not become the next one
        connection.sendall(head(503, {"Content-Length": 0}) + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
        return False
    if kind == "chunked-cut":
        chunk = body[: len(body) // 2]
        connection.sendall(head(200, {**headers, "Transfer-Encoding": "chunked"}) + b"%x\r\n" % len(chunk) + chunk)
        return False
    raise ValueError(kind)


def save(truth, file):
    file.write_bytes(pickle.dumps(truth))


def load(file):
    return pickle.loads(file.read_bytes())
