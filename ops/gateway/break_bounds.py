"""Number 2 of ops/gateway-break: each bound of the gateway, at its last allowed value and one beyond."""
import json
import threading
import time

from acceptance import expect, wait
from break_site import Incomplete, Wire, ask, head

KIB = 1 << 10
AREA = {"tileset": "demo", "area": {"bbox": [24.5, 59.3, 25.0, 59.5]}}


class Bounds:
    """The cases: each is a name, a function of the value, the value, and what the value and the next one give."""

    def __init__(self, site):
        self.site, self.gateway = site, site.gateway
        self.operator = f"Authorization: Bearer {site.tokens['operator']}"
        self.path = "/" + site.file("LI")[0]
        self.findings, self.count = [], 0

    def case(self, name, value, at, beyond, function):
        """Compares what the function gives for the last allowed value and for the next one."""
        self.count += 1
        for number, wanted in ((value, at), (value + 1, beyond)):
            try:
                found = function(number)
            except Incomplete:
                found = "cut"
            if found not in (wanted if isinstance(wanted, (set, tuple)) else (wanted,)):
                self.findings.append(f"{name} {number}: {found}, not {wanted}")

    def get(self, target, *fields, **more):
        return ask(self.gateway, target, *fields, **more).status

    def post(self, target, body, *fields):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return ask(self.gateway, target, self.operator, f"Content-Length: {len(data)}", *fields, method="POST", body=data)

    def heads(self):
        self.case("bytes of the target", 8_192, 404, 414, lambda n: self.get("/" + "a" * (n - 1)))
        # ask() sends two fields of its own.
        self.case("header fields", 64, 200, 431, lambda n: self.get("/healthz", *[f"X-{i}: y" for i in range(n - 2)]))
        own = sum(len(line) + 2 for line in ("Host: a", "Connection: close"))
        self.case("bytes of a head", 16 * KIB, 200, 431, lambda n: self.get(
            "/healthz", *["X: " + "y" * 4_000] * 3, "X: " + "y" * (n - own - 3 * 4_005 - 5)))
        self.case("bytes of one field", 16 * KIB - own - 5, 200, 431, lambda n: self.get("/healthz", "X: " + "y" * n))

    def bodies(self):
        def padded(count):
            return b'{"order":"none"}'.ljust(count)

        self.case("bytes of a JSON body", 1 << 20, 422, 413, lambda n: self.post("/v1/jobs/1/orders", padded(n)).status)
        area = json.dumps(AREA).encode()
        self.case("bytes of an area", 4 << 20, 200, 413, lambda n: self.post("/v1/estimates", area.ljust(n)).status)
        self.case("bytes of a chunked body", 4 << 20, 200, (413, "cut"), lambda n: self.chunked("/v1/estimates", area.ljust(n)))
        # An unknown member gets 400 at any depth, with another text.
        self.case("depth of JSON", 64, False, True, lambda n: "nested deeper" in self.post(
            "/v1/estimates", area[:-1] + b',"x":' + b"[" * (n - 1) + b"]" * (n - 1) + b"}").body.decode())
        self.case("regions of a submission", 500, False, True, lambda n: "1 to 500" in self.post(
            "/v1/estimates", {"tileset": "demo", "area": {"regions": ["LI"] * n}}).body.decode())
        self.case("bytes of a mask in a body", 100_000, False, True, lambda n: "longer than" in self.post(
            "/v1/estimates", {"tileset": "demo", "area": {"mask": "A" * n}}).body.decode())
        self.case("jobs of an order", 1_000, 200, 400, lambda n: self.post("/v1/jobs/orders", {"order": "resume", "jobs": [1] * n}).status)
        # The box has too many tiles, so that no job is made.
        world = {"tileset": "demo", "area": {"bbox": [-179, -80, 179, 80]}}
        self.case("bytes of an idempotency key", 100, 422, 400, lambda n: self.post("/v1/jobs", world, f'Idempotency-Key: "{"k" * n}"').status)

    def chunked(self, target, body):
        with Wire(self.gateway.port) as wire:
            try:
                wire.send(head(target, self.operator, "Connection: close", "Transfer-Encoding: chunked", method="POST"))
                for at in range(0, len(body), 65_536):
                    piece = body[at:at + 65_536]
                    wire.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                wire.send("0\r\n\r\n")
            except ConnectionError as problem:
                raise Incomplete("cut while sending") from problem
            return wire.answer().status

    def values(self):
        def limits(path, most):
            self.case(f"limit of {path}", most, 200, 400, lambda n: self.get(f"{path}?limit={n}", self.operator))

        limits("/v1/jobs", 1_000)
        limits("/v1/events", 1_000)
        limits("/v1/failed", 1_000)
        self.case("bytes of a search", 200, 200, 400, lambda n: self.get("/v1/regions?q=" + "a" * n))
        self.case("zoom of an outline", 14, 200, 400, lambda n: self.get(f"/v1/regions/LI/outline?zoom={n}"))
        self.case("bytes of an edition", 100, 404, 400, lambda n: self.get(f"/tiles/EE.json?edition={'a' * n}"))
        self.case("zoom of a tile", 22, 404, 400, lambda n: self.get(f"/tiles/EE/{n}/0/0"))
        self.case("column of a tile", 7, (204, 404), 400, lambda n: self.get(f"/tiles/EE/3/{n}/0"))
        self.case("version of a package", 2**31 - 1, 404, 404, lambda n: self.get(f"/packages/{n}/EE.mbtiles"))
        self.case("ranges", 100, 206, 200, lambda n: self.get(
            self.path, "Range: bytes=" + ",".join(f"{2 * i}-{2 * i}" for i in range(n))))
        self.case("bytes of a mask", 512, False, True, lambda n: b"too long" in ask(self.gateway, f"/carto/demo/{'A' * n}.mbtiles").body)

    def counts(self):
        """Bounds that count: connections, streams, held requests, tiles."""
        def mask(area, form="url"):
            return self.site.run("mask", area, "--zoom", "10", "--format", form).stdout.strip()

        text, most = mask("LI").partition(":")[0], int(mask("LI", "counts").split()[-1])

        def tiles(number):
            gateway = self.site.make_gateway("--extract-tiles", number, "--max-connections", 30)
            try:
                return ask(gateway, f"/carto/crawling/{text}.mbtiles", method="HEAD").status
            finally:
                gateway.kill()

        # One tile less than the mask has is too few.
        self.case("tiles of an extract", most - 1, 406, 404, tiles)
        few = self.site.make_gateway("--max-connections", 30)
        self.case("connections in all", 30, 200, "cut", lambda n: self.held(few, n, "", lambda i: f"127.3.{i}.1"))
        few.kill()
        wait("the end of other connections", lambda: ask(self.gateway, "/healthz").status == 200)
        self.case("connections of an address", 64, 200, "cut", lambda n: self.held(self.gateway, n, "", lambda i: "127.4.0.1"))
        events = head("/v1/events", self.operator, "Accept: text/event-stream")
        self.case("event streams of a client", 16, 200, 429, lambda n: self.held(self.gateway, n, events, lambda i: "127.5.0.1"))
        box = mask("bbox(24.9,59.1,25.0,59.2)").partition(":")[0]
        asked = head(f"/carto/crawling/{box}.mbtiles")
        # The fourth one is still held after a second.
        self.case("held requests of a client", 4, "held", 503, lambda n: self.held(self.gateway, n, asked, lambda i: "127.6.0.1", seconds=1))

    def held(self, gateway, count, request, source, seconds=10):
        """Opens connections with the same request; the status of the last one, or `held` when it gets no answer."""
        wires = []
        try:
            for number in range(count):
                wires.append(Wire(gateway.port, source(number), seconds))
                if request:
                    wires[-1].send(request)
                if number < count - 1:
                    time.sleep(0.02)
            if not request:
                wires[-1].send(head("/healthz"))
            try:
                if "text/event-stream" in request:
                    time.sleep(0.5)
                    return int(wires[-1]._until(b"\r\n\r\n").split(b" ")[1])
                return wires[-1].answer().status
            except Exception as problem:
                if "no byte came" in str(problem):
                    return "held"
                raise
            finally:
                wires[-1].socket.settimeout(10)
        finally:
            for wire in wires:
                wire.socket.close()
            # The server sees the ends a moment later.
            time.sleep(0.5)

    def times(self):
        """Deadlines, each at its own time in a thread of its own."""
        target = self.path if self.site.is_quick else "/" + self.site.file("EE")[0]
        rows = [("head", 8, 13, self.slow_head), ("body without bytes", 3, 10, self.slow_body)]
        if not self.site.is_quick:
            rows += [("idle", 68, 85, self.idle), ("reader", 50, 80, lambda seconds: self.reader(target, seconds))]
        found = {}

        def run(name, seconds, function):
            try:
                found[name, seconds] = function(seconds)
            except (OSError, Incomplete):
                found[name, seconds] = "cut"
            except Exception as problem:
                found[name, seconds] = repr(problem)

        threads = [threading.Thread(target=run, args=(name, seconds, function)) for name, *both, function in rows for seconds in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, inside, beyond, _ in rows:
            self.count += 1
            if (found[name, inside], found[name, beyond]) != (200, "cut"):
                self.findings.append(f"{name}: after {inside} s {found[name, inside]}, after {beyond} s {found[name, beyond]}")

    def slow_head(self, seconds):
        with Wire(self.gateway.port, "127.7.0.1") as wire:
            wire.send("GET /healthz HTTP/1.1\r\nHost: ")
            time.sleep(seconds)
            wire.send("a\r\n\r\n")
            return wire.answer().status

    def slow_body(self, seconds):
        body = json.dumps(AREA).encode()
        with Wire(self.gateway.port, "127.7.0.2") as wire:
            wire.send(head("/v1/estimates", self.operator, f"Content-Length: {len(body)}", method="POST"))
            time.sleep(seconds)
            wire.send(body)
            return wire.answer().status

    def idle(self, seconds):
        with Wire(self.gateway.port, "127.7.0.3") as wire:
            for pause in (0, seconds):
                time.sleep(pause)
                wire.send(head("/healthz"))
                status = wire.answer().status
            return status

    def reader(self, target, seconds):
        with Wire(self.gateway.port, "127.7.0.4", 30) as wire:
            wire.send(head(target))
            time.sleep(seconds)
            return wire.answer().status


def bounds(site):
    """Each bound: the last allowed value is served, the next one is refused (32 cases)."""
    cases = Bounds(site)
    for part in (cases.heads, cases.bodies, cases.values, cases.counts, cases.times):
        part()
    expect(site.gateway.process.poll() is None, "the gateway ended")
    expect(not cases.findings, f"{len(cases.findings)} findings in {cases.count} cases: " + " | ".join(cases.findings))
    print(f"      {cases.count} cases", flush=True)


ALL = {2: bounds}
