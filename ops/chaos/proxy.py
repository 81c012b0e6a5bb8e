"""A TCP proxy that harms what passes: delay, jitter, a narrow pipe, flipped bytes, cuts, silence, in one direction or both."""

import random
import socket
import struct
import threading
import time


class Proxy:
    """Listens on a port of its own and connects on to `target` (host, port). Its knobs may be turned at any time."""

    def __init__(self, target, seed=0, listener=None):
        self.target, self.random = target, random.Random(seed)
        self.delay = self.jitter = 0.0
        self.bytes_per_second = None
        self.corrupt_every = None
        self.only_bodies = False
        self.silent = set()  # of "up" (towards the target), "down"
        self.refuses = False
        self.pairs, self.lock, self.corrupted = set(), threading.Lock(), 0
        self.listener = listener or socket.create_server(("127.0.0.1", 0), backlog=256)
        self.host, self.port = self.listener.getsockname()[:2]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoint(self):
        return f"tcp://{self.host}:{self.port}"

    def cut(self):
        """Resets every connection that stands."""
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for end in pair:
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RDWR)
                    end.close()
                except OSError:
                    pass

    def heal(self):
        self.delay = self.jitter = 0.0
        self.bytes_per_second = self.corrupt_every = None
        self.silent, self.refuses = set(), False

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.refuses:
                near.close()
                continue
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near):
        try:
            far = socket.create_connection(self.target, timeout=10)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.pairs.add((near, far))
        threading.Thread(target=self._pump, args=(near, far, "up"), daemon=True).start()
        self._pump(far, near, "down")

    def _pump(self, source, sink, direction):
        try:
            while data := source.recv(16384):
                due = time.monotonic() + self.delay + self.random.random() * self.jitter
                if self.bytes_per_second:
                    due += len(data) / self.bytes_per_second
                time.sleep(max(0, due - time.monotonic()))
                if direction in self.silent:
                    continue  # Lost for good: the connection looks alive and never says anything again.
                sink.sendall(self._harm(data))
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _harm(self, data):
        """Flips a bit once in `corrupt_every` bytes; inside gzip bodies only, where asked: an HTTP head has no checksum."""
        if not self.corrupt_every or self.random.random() > len(data) / self.corrupt_every:
            return data
        low = data.find(b"\x1f\x8b\x08") + 10 if self.only_bodies else 0
        if (self.only_bodies and low < 10) or low >= len(data):
            return data
        harmed = bytearray(data)
        harmed[self.random.randrange(low, len(data))] ^= 1 << self.random.randrange(8)
        self.corrupted += 1
        return bytes(harmed)
