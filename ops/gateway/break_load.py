"""Number 9 of ops/gateway-break: very many idle and refused connections beside active ones."""
import collections
import selectors
import socket
import threading
import time

from acceptance import Wrong, expect, wait
from break_site import Incomplete, Wire, ask, head
from checks_load import descriptors, idle_connections, memory
from gateway_site import Gateway

IDLE, REFUSED, ACTIVE = 10_000, 20_000, 100


class Active:
    """Threads that keep a connection each and ask for tiles, ranges and lists without a pause longer than a tenth of a second."""

    def __init__(self, site, port, count):
        self.port, self.path, self.stop = port, "/" + site.file("EE")[0], threading.Event()
        self.counts, self.findings, self.ready = collections.Counter(), [], threading.Barrier(count + 1)
        self.threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def _ask(self, number):
        rows = [("/healthz", [], 200), (self.path, ["Range: bytes=1000-1999"], 206), ("/catalog.json", [], 200), ("/world/0/0/0.pbf", [], 200)]
        try:
            with Wire(self.port, f"127.200.{number // 50}.{number % 50 + 1}", 30) as wire:
                wire.send(head("/healthz"))
                wire.answer()
                self.ready.wait(60)
                while not self.stop.is_set():
                    for target, fields, wanted in rows:
                        wire.send(head(target, *fields))
                        status = wire.answer().status
                        self.counts[status] += 1
                        if status != wanted:
                            self.findings.append(f"{target} gave {status}")
                    self.stop.wait(0.1)
        except (OSError, Incomplete, Wrong, threading.BrokenBarrierError) as problem:
            self.findings.append(repr(problem))
            self.ready.abort()


def refused_connections(port, count):
    """Opens connections that are one too many, 200 at a time; how many were closed without an answer."""
    closed = answered = left = 0
    for start in range(0, count, 200):
        with selectors.DefaultSelector() as selector:
            for number in range(start, min(start + 200, count)):
                one = socket.socket()
                one.setblocking(False)
                one.bind((f"127.{150 + number // 10_000}.{number // 50 % 200}.{1 + number % 50}", 0))
                one.connect_ex(("127.0.0.1", port))
                selector.register(one, selectors.EVENT_WRITE)
            end = time.monotonic() + 20
            while selector.get_map() and time.monotonic() < end:
                for key, event in selector.select(1):
                    one = key.fileobj
                    if event & selectors.EVENT_WRITE:
                        try:
                            one.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                        except OSError:
                            pass
                        selector.modify(one, selectors.EVENT_READ)
                        continue
                    try:
                        got = one.recv(100)
                    except OSError:
                        got = b""
                    closed, answered = closed + (not got), answered + bool(got)
                    selector.unregister(one)
                    one.close()
            for key in list(selector.get_map().values()):
                left += 1
                key.fileobj.close()
    return closed, answered, left


def many_connections(site):
    """10,000 idle and 20,000 refused connections beside 100 active ones: no error of an active one, no descriptor lost."""
    count = site.times(IDLE)
    gateway = Gateway(site, "--max-connections", str(count + ACTIVE))
    pid = gateway.process.pid
    expect(ask(gateway, "/tiles/EE/0/0/0").status == 200, "there is no tile")
    before, idle, active = descriptors(pid), [], Active(site, gateway.port, ACTIVE)
    try:
        active.ready.wait(60)
        idle = idle_connections(gateway.port, count)
        expect(len(idle) == count, f"only {len(idle)} idle connections were taken")
        wait("all connections", lambda: descriptors(pid) >= before + count + ACTIVE, 20)
        closed, answered, left = refused_connections(gateway.port, site.times(REFUSED))
        worst = memory(pid)
        expect(answered == left == 0, f"of {site.times(REFUSED)} connections too many {closed} were closed, {answered} answered, {left} left open")
        # One that goes makes room for one.
        idle.pop().close()
        wait("room for a connection", lambda: reaches(gateway), 10)
    finally:
        active.stop.set()
        for thread in active.threads:
            thread.join()
        for connection in idle:
            connection.close()
    wait("the end of all connections", lambda: descriptors(pid) <= before + 3, 75)
    expect(ask(gateway, "/healthz").status == 200, "/healthz is not answered")
    gateway.kill()
    expect(not active.findings, f"{len(active.findings)} findings: " + " | ".join(active.findings[:5]))
    expect(worst <= 256 << 20, f"the gateway had {worst >> 20} MiB")
    print(f"      {count} idle, {closed} refused, {sum(active.counts.values())} answers to {ACTIVE} active ones, {worst >> 20} MiB", flush=True)


def reaches(gateway):
    try:
        return ask(gateway, "/healthz", source="127.201.0.1").status == 200
    except (Incomplete, OSError):
        return False


ALL = {9: many_connections}
