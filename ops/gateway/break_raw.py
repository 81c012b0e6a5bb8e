"""Number 1 of ops/gateway-break: requests that break the grammar, and random changes of good ones, over 500 connections."""
import asyncio
import collections
import random
import time

from acceptance import expect, wait
from break_site import STATUS, ask
from checks_load import descriptors

CONNECTIONS, SECONDS = 500, 10
HOST = b"Host: a\r\n"
BODY = b'{"tileset":"small","area":{"bbox":[24.5,59.3,25.0,59.5]}}'

# What is asked for, and the statuses that it may have.
GOOD = [
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /catalog.json HTTP/1.1\r\n" + HOST + b"Accept-Encoding: gzip\r\n\r\n", {200}),
    (b"HEAD /packages/1/LI.mbtiles HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /packages/1/LI.mbtiles HTTP/1.1\r\n" + HOST + b"Range: bytes=0-99\r\n\r\n", {206}),
    (b"GET /packages/1/LI.mbtiles HTTP/1.1\r\n" + HOST + b"Range: bytes=0-9, 20-29 ,-5\r\nIf-Range: \"x\"\r\n\r\n", {200}),
    (b"GET /packages/1/LI.mbtiles HTTP/1.1\r\n" + HOST + b"Range: bytes=0-9,20-29,-5\r\n\r\n", {206}),
    (b"GET /packages/1/LI.mbtiles HTTP/1.1\r\n" + HOST + b"If-None-Match: *\r\n\r\n", {304}),
    (b"GET /tiles/LI/0/0/0.pbf HTTP/1.1\r\n" + HOST + b"Accept-Encoding: identity\r\n\r\n", {200}),
    (b"GET /tiles/~small/3/4/2 HTTP/1.1\r\n" + HOST + b"\r\n", {200, 204, 404}),
    (b"GET /v1/regions?q=eesti&lang=et HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /v1/packages?at=9.5,47.1 HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /world/0/0/0.pbf HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /carto/small/packages.json?update=0 HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    (b"GET /carto/small/wPDAQAAA.mbtiles HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    (b"OPTIONS /v1/jobs HTTP/1.1\r\n" + HOST + b"Origin: http://a\r\nAccess-Control-Request-Method: POST\r\n\r\n", {204}),
    (b"POST /v1/estimates HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY, {401}),
    (b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n%x;a=b\r\n" % len(BODY) + BODY + b"\r\n0\r\nX: y\r\n\r\n", {401}),
    (b"GET http://maps.example.com/healthz HTTP/1.1\r\n" + HOST + b"\r\n", {200}),
    # A server that does not change the protocol answers; it may close the connection then.
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", {200}),
]

# What no server may take for a request.
BAD = [
    b"GET /healthz HTTP/1.1\nHost: a\n\n",
    b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\n" + HOST + b"Content-Length: 0x5\r\n\r\nabcde",
    b"GET /health\0z HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + HOST + b"X : a\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    b"GET /healthz HTTP/1.1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


def mutated(chance):
    """A good request with one to four random changes."""
    data = bytearray(chance.choice(GOOD)[0])
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        to = min(len(data), at + chance.choice((1, 1, 2, 8, 40)))
        match chance.randrange(7):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at:to] = b""
            case 2:
                data[at:at] = data[at:to]
            case 3:
                data[at:at] = chance.choice((b"\r", b"\n", b"\r\n", b"\0", b" ", b":", b"%", b"%00", b"%2e%2e/", b"\xff", b"\\", b",", b"\t", b"-",
                b"\"",
                                             b"99999999999999999999", b"Upgrade", b"chunked", b"gzip", b"~", b"@", b"?", b"#", b"/"))
            case 4:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 30)))
            case 5:
                other = chance.choice(GOOD)[0]
                data[at:] = other[chance.randrange(len(other)):]
            case 6:
                data[at:at] = chance.choice((b"a", b"0", b"%41", b"\r\nX: y", b"../", b"bytes=", b"W/\"")) * chance.choice((1, 10, 300, 3_000))
        if not data:
            data = bytearray(b"\r\n")
    return bytes(data)


class Storm:
    """The requests of 500 tasks, which share a count."""

    def __init__(self, port, count, seed):
        self.port, self.left, self.chance = port, count, random.Random(seed)
        self.counts, self.findings = collections.Counter(), []

    def found(self, what, data):
        self.counts["findings"] += 1
        if len(self.findings) < 4:
            self.findings.append(f"{what}: {data[:300]!r}")

    async def run(self):
        await asyncio.gather(*[self.client(number) for number in range(CONNECTIONS)])

    async def client(self, number):
        connection = None
        while self.left > 0 and self.counts["findings"] < 20:
            self.left -= 1
            kind = self.chance.choices(("good", "drip", "bad", "mutated"), (45, 2, 15, 38))[0]
            data, wanted = self.chance.choice(GOOD) if kind in ("good", "drip") else (self.chance.choice(BAD), None)
            if kind == "mutated":
                data = mutated(self.chance)
            try:
                if connection is None:
                    connection = await asyncio.open_connection(
                        "127.0.0.1", self.port, local_addr=(f"127.{10 + number // 250}.{number % 250}.1", 0), limit=1 << 20)
                if wanted:
                    is_open = await asyncio.wait_for(self.good(connection, data, wanted, kind == "drip"), SECONDS)
                else:
                    await asyncio.wait_for(self.last(connection, data, kind), SECONDS)
                    is_open = False
                self.counts[kind] += 1
            except asyncio.TimeoutError:
                is_open = False
                self.found(f"no end within {SECONDS} s ({kind})", data)
            except (OSError, asyncio.IncompleteReadError) as problem:
                is_open = False
                if wanted:
                    self.found(f"{problem!r} ({kind})", data)
            if not is_open and connection:
                connection[1].close()
                connection = None
        if connection:
            connection[1].close()

    async def good(self, connection, data, wanted, is_drip):
        """Sends a good request and reads its answer; whether the connection may be used again."""
        reader, writer = connection
        for piece in [data[at:at + 1] for at in range(len(data))] if is_drip else [data]:
            writer.write(piece)
            if is_drip:
                await asyncio.sleep(0)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        if status not in wanted:
            self.found(f"status {status}, not {sorted(wanted)}", data)
        self.counts[status] += 1
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), None)
        if not data.startswith(b"HEAD") and status not in (204, 304):
            if length is None:
                self.found("an answer without a length", data)
                return False
            await reader.readexactly(length)
        return b"\r\nconnection: close\r\n" not in head

    async def last(self, connection, data, kind):
        """Sends what may be no request, ends the sending half, and reads all answers."""
        reader, writer = connection
        writer.write(data)
        writer.write_eof()
        answer = b""
        try:
            while piece := await reader.read(1 << 18):
                answer += piece if len(answer) < 1 << 18 else b""
        except ConnectionError:
            pass
        statuses = [int(status) for status in STATUS.findall(answer)]
        self.counts.update(statuses or ["no answer"])
        # 501: a Transfer-Encoding that is not "chunked" (RFC 9112, 6.1).
        if any(status >= 500 and status != 501 for status in statuses) or kind == "bad" and any(status != 400 for status in statuses):
            self.found(f"statuses {statuses} ({kind})", data)
        if kind == "bad" and len(statuses) > 1:
            self.found(f"{len(statuses)} answers ({kind})", data)


def raw_requests(site):
    """100,000 good, malformed and randomly changed requests over 500 connections: no crash, no hang over 10 s, no 5xx but 501."""
    folder = site.folder / "raw"
    site.publish(folder, "LI")
    gateway = site.gateway_of(folder, "--tokens", site.token_folder)
    pid = gateway.process.pid
    # The first requests open the files of tiles, which stay open.
    asyncio.run(Storm(gateway.port, 2_000, seed=1).run())
    time.sleep(3)
    before = descriptors(pid)
    storm = Storm(gateway.port, site.times(100_000), seed=20_260_700)
    asyncio.run(storm.run())
    expect(gateway.process.poll() is None, f"the gateway ended with {gateway.process.poll()}; {site.logs}")
    expect(ask(gateway, "/healthz").status == 200, "/healthz is not answered")
    sent = sum(storm.counts[kind] for kind in ("good", "drip", "bad", "mutated"))
    expect(not storm.findings, f"{storm.counts['findings']} findings after {sent} requests: " + " | ".join(storm.findings))
    wait("the end of all connections", lambda: descriptors(pid) <= before + 3, 20)
    gateway.kill()
    print("     ", dict(sorted(storm.counts.items(), key=str)), flush=True)


ALL = {1: raw_requests}
