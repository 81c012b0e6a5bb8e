"""Numbers 8 and 10 of ops/gateway-break: extracts through two gateways, and a coordinator that cannot be asked."""
import collections
import queue
import random
import shutil
import signal
import threading
import time

import ports
from acceptance import Wrong, expect, wait
from break_site import Incomplete, Wire, ask, head
from gateway_site import Gateway, sha256

MASKS, CLIENTS = 20, 48


def extracts(site):
    """500 requests of 20 masks through 2 gateways over one coordinator: all get the same bytes, and each mask has one job."""
    gateways = [site.make_gateway("--tileset", site.folder / "small.yaml") for _ in range(2)]
    masks = MASKS if not site.is_quick else 4
    # The second half is for the requests at the end.
    texts = [mask_of(site, 10 + 0.7 * (number % masks), 50.1 if number < masks else 46.1) for number in range(2 * masks)]
    before = newest(site)
    orders, findings, counts, digests = queue.Queue(), [], collections.Counter(), collections.defaultdict(set)
    rows = [(number % masks, None) for number in range(site.times(500) - 2 * masks)]
    random.Random(8).shuffle(rows)
    # For each mask, both gateways one after the other: the second is asked in the moment in which the first has the package.
    rows[:0] = [(number, 0) for number in range(masks)]
    for row in rows:
        orders.put(row)

    def fetch(mask, gateway, source):
        for _ in range(200):
            reply = ask(gateways[gateway], f"/carto/small/{texts[mask]}.mbtiles", source=source, seconds=120)
            counts[reply.status] += 1
            if reply.status != 503:
                break
            expect("retry-after" in reply.headers, "a 503 has no Retry-After")
            time.sleep(0.2)
        if reply.status != 200:
            findings.append(f"mask {mask} gave {reply.status}: {reply.body[:100]!r}")
            return
        digests[mask].add(sha256(reply.body))

    def client(number):
        chance, source = random.Random(number), f"127.11.{number}.1"
        while not orders.empty():
            try:
                mask, first = orders.get_nowait()
            except queue.Empty:
                return
            try:
                if first is None:
                    fetch(mask, chance.randrange(2), source)
                else:
                    fetch(mask, first, source)
                    fetch(mask, 1 - first, source)
            except (OSError, Incomplete, Wrong) as problem:
                findings.append(f"mask {mask}: {problem!r}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One gateway lags behind the other by up to half a second; a mask that only the first has served shows it.
    for number in range(masks, 2 * masks):
        for gateway in (number % 2, 1 - number % 2):
            fetch(number, gateway, "127.11.250.1")
    for gateway in gateways:
        gateway.kill()
    time.sleep(1.5)
    made = newest(site) - before
    expect(not findings, f"{len(findings)} findings: " + " | ".join(findings[:5]))
    mixed = [mask for mask, found in digests.items() if len(found) != 1]
    expect(not mixed, f"the masks {mixed} came with different bytes")
    expect(made == 2 * masks, f"{made} jobs were made for {2 * masks} masks; answers: {dict(counts)}")
    print(f"      {sum(counts.values())} requests, answers {dict(counts)}, {made} jobs for {2 * masks} masks", flush=True)


def mask_of(site, west, south):
    """The mask of a small box as it is in an address."""
    words = ["mask", f"bbox({west:.2f},{south},{west + 0.1:.2f},{south + 0.1})", "--zoom", "10", "--format", "url"]
    return site.run(*words).stdout.strip().partition(":")[0]


def newest(site):
    jobs = site.gateway.get("/v1/jobs?limit=1", role="viewer").json()["jobs"]
    return jobs[0]["job"] if jobs else 0


class Secure:
    """A coordinator with keys, and a gateway with a key of its own."""

    def __init__(self, site):
        self.site, self.keys = site, site.folder / "keys"
        site.run("keygen", "--cluster", self.keys)
        site.run("keygen", self.keys / "web.key", "--role", "operator")
        self.control, self.work = (f"tcp://127.0.0.1:{ports.take()}" for _ in range(2))
        self.allowed = self.keys / "authorized_keys.d/web.pub"
        self.coordinator = None
        self.start()
        self.gateway = Gateway(site, "--tokens", site.token_folder, "--coordinator", self.control, "--key", self.keys / "web.key", "--server-key",
                               self.keys / "coordinator.pub", "--tileset", site.folder / "demo.yaml")
        self.findings, self.reads, self.stop = [], 0, threading.Event()

    def start(self):
        self.coordinator = self.site.start("coordinator", "--data", self.site.folder / "secure", "--control", self.control, "--work", self.work,
                                           "--no-blob-endpoint", "--keys", self.keys)

    def away(self, what):
        """Every kind of question gets 503 with Retry-After in time."""
        # An answer is given again for a second.
        time.sleep(1.2)
        operator = f"Authorization: Bearer {self.site.tokens['operator']}"
        body = b'{"order":"pause"}'
        for path in ("/v1/jobs", "/v1/status", "/v1/workers", "/v1/events?after=0", "/v1/jobs/1/orders"):
            method = "POST" if path.endswith("orders") else "GET"
            began = time.monotonic()
            fields = [f"Content-Length: {len(body)}"] if method == "POST" else []
            reply = ask(self.gateway, path, operator, *fields, method=method, body=body if method == "POST" else b"")
            took = time.monotonic() - began
            if reply.status != 503 or "retry-after" not in reply.headers or reply.code() != "coordinator-away" or took > 4:
                self.findings.append(f"{what}: {method} {path} gave {reply.status} {reply.code()} after {took:.1f} s")

    def right(self, what):
        """All is right within five seconds."""
        began = time.monotonic()
        while self.status() != 200:
            if time.monotonic() - began > 30:
                break
            time.sleep(0.1)
        took = time.monotonic() - began
        if took > 5:
            self.findings.append(f"{what}: it was right after {took:.1f} s, not 5")

    def status(self, body=b""):
        operator = f"Authorization: Bearer {self.site.tokens['operator']}"
        if body:
            return ask(self.gateway, "/v1/jobs/1/orders", operator, f"Content-Length: {len(body)}", method="POST", body=body).status
        return ask(self.gateway, "/v1/jobs", operator).status

    def read(self):
        targets = ["/catalog.json", "/tiles/EE/0/0/0", "/world/0/0/0.pbf", "/healthz", "/readyz", "/v1/regions?q=eesti"]
        try:
            with Wire(self.gateway.port, "127.12.0.1") as wire:
                while not self.stop.is_set():
                    for target in targets:
                        wire.send(head(target))
                        status = wire.answer().status
                        self.reads += 1
                        if status != 200:
                            self.findings.append(f"{target} gave {status}")
                    time.sleep(0.005)
        except (OSError, Incomplete, Wrong) as problem:
            self.findings.append(f"a read: {problem!r}")


def coordinator_faults(site):
    """Unknown key, role removed, key removed, coordinator stopped or killed: 503 within 3 s, files are served, all is right 5 s after."""
    secure = Secure(site)
    readers = [threading.Thread(target=secure.read) for _ in range(2)]
    for reader in readers:
        reader.start()
    order = b'{"order":"pause"}'
    try:
        # The key is not among those that may connect.
        secure.away("unknown key")
        shutil.copy(secure.keys / "web.pub", secure.allowed)
        secure.right("unknown key")
        expect(secure.status(order) == 404, f"an order for an unknown job gave {secure.status(order)}")
        # The role is removed: it may still read.
        text = secure.allowed.read_text()
        secure.allowed.write_text(text.replace("operator", "viewer"))
        wait("403 for a key without its role", lambda: secure.status(order) == 403, 8)
        expect(secure.status() == 200, "a viewer's key may not read")
        secure.allowed.write_text(text)
        wait("the role again", lambda: secure.status(order) == 404, 8)
        secure.allowed.unlink()
        wait("503 for a removed key", lambda: secure.status() == 503, 8)
        secure.away("removed key")
        secure.allowed.write_text(text)
        secure.right("removed key")
        for round_ in range(3):
            secure.coordinator.send_signal(signal.SIGSTOP)
            secure.away("stopped coordinator")
            secure.coordinator.send_signal(signal.SIGCONT)
            secure.right("stopped coordinator")
            secure.coordinator.kill()
            secure.coordinator.wait()
            secure.away("killed coordinator")
            secure.start()
            secure.right("killed coordinator")
            if site.is_quick:
                break
    finally:
        secure.coordinator.send_signal(signal.SIGCONT)
        secure.stop.set()
        for reader in readers:
            reader.join()
    expect(secure.gateway.process.poll() is None, "the gateway ended")
    secure.gateway.kill()
    expect(not secure.findings, f"{len(secure.findings)} findings: " + " | ".join(secure.findings[:12]))
    print(f"      {secure.reads} reads without an error", flush=True)


ALL = {8: extracts, 10: coordinator_faults}
