"""The publisher's web server in the fault table: ops/chaos/origin.py with ranges, a rate, and a record of every byte that it sent."""

import dataclasses
import socket
import threading
import time

import origin as origins

# What the server of a file can do wrong besides origin.KINDS.
FILE_KINDS = ["cut", "slow", "stalled", "reset-midway", "200-to-range", "416-to-range", "changed", "captive-portal"]
# Bodies that are no part of the file, or are one that the device must throw away: its bytes are not counted as a download.
PIECE = 16 << 10


@dataclasses.dataclass
class Answer:
    """An answer as far as it was sent: `count` bytes of the file from `start`."""

    time: float
    path: str
    start: int
    count: int = 0
    lie: str = ""


class CatalogOrigin(origins.Origin):
    """Serves what fault_world recorded; sends at most `rate` bytes a second in each answer where it is set."""

    def __init__(self, truth, port=0, listener=None):
        listener = listener or socket.create_server(("127.0.0.1", port), backlog=64)
        # What lies in buffers when a device dies counts as sent: keep it small.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        self.rate, self.answers, self.is_up = None, [], True
        super().__init__(truth, listener=listener)

    @property
    def url(self):
        return f"http://{self.host}:{self.port}/"

    def close(self):
        """Also wakes the thread that accepts, so that the port is free for the next one."""
        self.closed.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def _answer(self, path, asked):
        status, headers, body = self.truth.get(path, (404, {}, b""))
        if status != 200:
            return status, headers, body
        if asked.get("if-none-match") == headers.get("ETag"):
            return 304, headers, b""
        start = first_byte(asked)
        if start is None:
            return 200, headers, body
        if start >= len(body):
            return 416, {**headers, "Content-Range": f"bytes */{len(body)}"}, b""
        return 206, {**headers, "Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}, body[start:]

    def _tell_truth(self, connection, path, asked):
        return self._send(connection, path, asked, *self._answer(path, asked))

    def _note(self, path, asked, lie=""):
        answer = Answer(time.time(), path, first_byte(asked) or 0, lie=lie)
        with self.lock:
            self.answers.append(answer)
        return answer

    def _send(self, connection, path, asked, status, headers, body, end=None, rate=None, lie=""):
        """Sends the head, and the body up to `end`; True when the connection can go on."""
        answer = self._note(path, asked, lie)
        answer.start = answer.start if status == 206 else 0
        connection.sendall(origins.head(status, {**headers, "Content-Length": len(body)}))
        wanted = body if end is None else body[:end]
        for place in range(0, len(wanted), PIECE):
            piece = wanted[place : place + PIECE]
            connection.sendall(piece)
            answer.count += len(piece) if status in (200, 206) else 0
            pace = rate or self.rate
            if pace and self.closed.wait(len(piece) / pace):
                return False
        return len(wanted) == len(body)

    def _lie(self, kind, connection, path, asked):
        status, headers, body = self._answer(path, asked)
        own = {
            "cut": lambda: self._send(connection, path, asked, status, headers, body, end=len(body) // 2, lie=kind),
            "slow": lambda: self._send(connection, path, asked, status, headers, body, rate=max(20_000, len(body) // 3), lie=kind),
            "stalled": lambda: self._stall(connection, path, asked, status, headers, body),
            "200-to-range": lambda: self._send(connection, path, asked, *self.truth.get(path, (404, {}, b"")), lie=kind),
            "416-to-range": lambda: self._send(connection, path, asked, 416, {"Content-Range": "bytes */1"}, b"", lie=kind),
            "changed": lambda: self._send(connection, path, asked, status, {**headers, "ETag": '"other"'}, other(body), lie=kind),
            "captive-portal": lambda: self._send(
                connection, path, asked, 200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><title>Please sign in</title>", lie=kind),
        }  # fmt: skip
        if kind in own:
            return own[kind]()
        answer = self._note(path, asked, kind)
        if kind in ("truncated", "reset-midway", "chunked-cut", "short-length"):
            answer.count = len(body) // 2
        return origins.tell(kind, connection, (status, headers, body), self.closed)

    def _stall(self, connection, path, asked, status, headers, body):
        """Half of the body, and then nothing for longer than a device waits."""
        self._send(connection, path, asked, status, headers, body, end=len(body) // 2, lie="stalled")
        self.closed.wait(45)
        return False

    # What was asked and sent

    def since(self, moment):
        with self.lock:
            return [answer for answer in self.answers if answer.time >= moment]

    def sent(self):
        """Bytes that were sent of each path."""
        sums = {}
        with self.lock:
            for answer in self.answers:
                sums[answer.path] = sums.get(answer.path, 0) + answer.count
        return sums


class Turns(origins.Lie):
    """Lies in turn about one path: `kinds` for its first requests, then the truth. `None` in it is a true answer."""

    def __init__(self, path, kinds):
        super().__init__(kinds[0], 0, only={path})
        self.path, self.kinds, self.lock = path, list(kinds), threading.Lock()

    def applies(self, path):
        if path == "/loop":
            return bool(self.told)
        if path != self.path:
            return False
        with self.lock:
            if not self.kinds:
                return False
            kind = self.kinds.pop(0)
            self.told[path] = self.told.get(path, 0) + 1
        if kind is None:
            return False
        self.kind = kind
        return True


def first_byte(asked):
    """Where a request's range begins; None without a range."""
    words = asked.get("range", "")
    return int(words.removeprefix("bytes=").split("-")[0]) if words.startswith("bytes=") else None


def other(body):
    """A file of the same size in which every kilobyte has another byte."""
    changed = bytearray(body)
    for place in range(0, len(changed), 1024):
        changed[place] ^= 1
    return bytes(changed)
