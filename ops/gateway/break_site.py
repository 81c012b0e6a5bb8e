"""The site of ops/gateway-break, and clients of raw sockets that know exactly where an answer ends.

Python's standard library only.
"""
import json
import re
import socket

from acceptance import Wrong
from gateway_site import Gateway, Site

# A status line at the start of an answer.
STATUS = re.compile(rb"HTTP/1\.[01] (\d\d\d) ")


class Incomplete(Exception):
    """The connection ended inside of an answer, or before one."""


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def code(self):
        """The code of a problem document; empty for other bodies."""
        try:
            return json.loads(self.body).get("code", "")
        except (ValueError, AttributeError):
            return ""


class Wire:
    """A connection; `answer` reads one answer and nothing behind it."""

    def __init__(self, port, source="127.0.0.1", seconds=15):
        self.socket, self.rest = socket.socket(), b""
        self.socket.settimeout(seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket.bind((source, 0))
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))

    def answer(self, has_body=True):
        """The next answer. Raises Incomplete when the connection ends first, Wrong when nothing says where the body ends."""
        while True:
            head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            status = int(head[0].split(" ")[1])
            if status >= 200:
                break
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        if not has_body or status in (204, 304):
            return Reply(status, headers, b"")
        if "content-length" in headers:
            return Reply(status, headers, self._exactly(int(headers["content-length"])))
        if headers.get("transfer-encoding") != "chunked":
            raise Wrong(f"an answer {status} says neither its length nor that it is chunked: {headers}")
        parts = []
        while size := int(self._until(b"\r\n"), 16):
            parts.append(self._exactly(size))
            self._exactly(2)
        self._until(b"\r\n")
        return Reply(status, headers, b"".join(parts))

    def all(self):
        """What comes until the other side closes; raises TimeoutError when it does not."""
        data, self.rest = [self.rest], b""
        try:
            while piece := self.socket.recv(1 << 16):
                data.append(piece)
        except ConnectionError:
            pass
        return b"".join(data)

    def _more(self):
        try:
            piece = self.socket.recv(1 << 18)
        except TimeoutError as problem:
            raise Wrong("no byte came in time") from problem
        except ConnectionError as problem:
            raise Incomplete(str(problem)) from problem
        if not piece:
            raise Incomplete("the connection ended")
        return piece

    def _until(self, mark):
        while mark not in self.rest:
            self.rest += self._more()
        found, _, self.rest = self.rest.partition(mark)
        return found

    def _exactly(self, count):
        pieces, have = [self.rest], len(self.rest)
        while have < count:
            pieces.append(self._more())
            have += len(pieces[-1])
        data = b"".join(pieces)
        self.rest = data[count:]
        return data[:count]


def head(target, *fields, method="GET"):
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: a", *fields, "", ""])


def ask(gateway, target, *fields, method="GET", body=b"", source="127.0.0.1", seconds=15):
    """One request on a connection of its own, byte for byte."""
    with Wire(gateway.port, source, seconds) as wire:
        wire.send(head(target, "Connection: close", *fields, method=method).encode("latin-1") + body)
        return wire.answer(has_body=method != "HEAD")


class BreakSite(Site):
    """A site that also has small packages, and knows whether a tenth of the counts is enough."""

    def __init__(self, folder, program, is_quick):
        super().__init__(folder, program)
        self.is_quick, self.made = is_quick, {}
        (self.folder / "small.yaml").write_text(
            f"id: small\nurl: {self.serve('demo-origin', '--port', '0')}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-10\n"
            "attribution: Demo\npoliteness:\n  contact: maps@example.com\n")

    def times(self, count):
        return max(1, count // 10) if self.is_quick else count

    def small(self, region, last):
        """A package of a few kilobytes, built once."""
        target = self.folder / f"small-{region}-{last}.mbtiles"
        if not target.exists():
            self.run("build", region, "--tileset", self.folder / "small.yaml", "--zoom", f"0-{last}", "-o", target, "--progress", "none")
        return target

    def publish(self, folder, package, region="LI", last=7, key=None):
        """Puts a small package into a catalog of its own as the next version."""
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / "packages.json").write_text('{"packages":[]}')
        signed = ["--signing-key", key] if key else []
        self.run("catalog", "import", folder, self.small(region, last), "--id", package, "--tileset", "small", "--rewrite", "--replace-area",
                 "--allow-shrink", *signed)

    def gateway_of(self, catalog, *options):
        """A gateway without a coordinator over another catalog."""
        return Gateway(_Part(self, catalog), *options)


class _Part:
    """What a gateway needs of its site, with another catalog."""

    def __init__(self, site, catalog):
        self.catalog, self.logs, self.tokens, self.start = catalog, site.logs, site.tokens, site.start
