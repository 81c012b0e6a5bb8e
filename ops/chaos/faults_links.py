"""The links between workers and coordinator, and between workers and origin, through a harmful proxy."""

import subprocess
import time

from case import fault
from harness import PATIENCE, PROGRAM, Trouble
from proxy import Proxy


def start(case, link, keys=False, **options):
    """A cluster whose workers reach the coordinator or the origin through a proxy only; returns the proxy and the job."""
    proxies = []

    def through(work):
        if link != "coordinator":
            return work
        if not proxies:
            proxies.append(Proxy(("127.0.0.1", int(work.rsplit(":", 1)[1])), case.random.random()))
        return proxies[0].endpoint

    if keys:
        options |= with_keys(case)
    case.start(workers=2, work_through=through, **{"lease": 4, **options})
    template = None
    if link == "origin":
        proxies.append(Proxy((case.origin.host, case.origin.port), case.random.random()))
        proxies[0].only_bodies = True
        template = case.origin.template.replace(str(case.origin.port), str(proxies[0].port))
    return proxies[0], case.submit(template=template)


def with_keys(case):
    """CURVE on both sides."""
    keys = case.folder / "keys"
    subprocess.run([str(PROGRAM), "keygen", "--cluster", str(keys)], check=True, capture_output=True)
    return {"options": ["--keys", keys], "worker_options": ["--keys", keys], "cli_options": ["--keys", keys]}


for keys in (False, True):
    how = "CURVE" if keys else "plain"

    @fault(f"link to coordinator, {how}: bytes flipped", cases=2, limit=180)
    def flipped(case, keys=keys):
        proxy, job = start(case, "coordinator", keys)
        proxy.corrupt_every = case.random.choice([2_000, 8_000, 30_000])
        time.sleep(6)
        proxy.heal()
        case.healed()
        case.finish(job, limit=150)
        if not proxy.corrupted:
            raise Trouble("nothing was flipped")

    @fault(f"link to coordinator, {how}: cut again and again", cases=1)
    def cut(case, keys=keys):
        proxy, job = start(case, "coordinator", keys)
        for _ in range(15):
            time.sleep(case.random.uniform(0, 0.5))
            proxy.cut()
        case.healed()
        case.finish(job)


@fault("link to coordinator: delay 300 ms, jitter 300 ms", cases=1)
def delayed(case):
    proxy, job = start(case, "coordinator")
    proxy.delay, proxy.jitter = 0.3, 0.3
    case.finish(job)


@fault("link to coordinator: 4 KB/s for 8 s", cases=1)
def slow(case):
    proxy, job = start(case, "coordinator")
    proxy.bytes_per_second = 4_000
    time.sleep(8)
    proxy.heal()
    case.healed()
    case.finish(job)


for direction in ("up", "down", "both"):

    @fault(f"link to coordinator: silence 8 s, {direction}", cases=1, limit=180)
    def silence(case, direction=direction):
        """Half open: the connection stands, nothing passes; what was said meanwhile is lost."""
        proxy, job = start(case, "coordinator")
        case.cluster.wait_middle(job, case.random.uniform(0, 0.4))
        proxy.silent = {"up", "down"} if direction == "both" else {direction}
        time.sleep(8)
        proxy.heal()
        case.healed()
        case.finish(job, limit=150)


@fault("link to coordinator: refused 12 s", cases=1)
def refused(case):
    proxy, job = start(case, "coordinator", grace=30)
    case.cluster.wait_middle(job, 0.2)
    proxy.refuses = True
    proxy.cut()
    time.sleep(12)
    proxy.heal()
    case.healed()
    case.finish(job)
    if case.recovery > 5 * PATIENCE:
        raise Trouble(f"recovery took {case.recovery:.1f} s")


@fault("link to origin: bodies flipped", cases=2)
def flipped_bodies(case):
    proxy, job = start(case, "origin")
    proxy.corrupt_every = 400_000
    case.finish(job)
    if not proxy.corrupted:
        raise Trouble("nothing was flipped")


@fault("link to origin: cut again and again", cases=2)
def cut_origin(case):
    proxy, job = start(case, "origin")
    for _ in range(10):
        time.sleep(case.random.uniform(0, 0.5))
        proxy.cut()
    case.healed()
    case.finish(job)


@fault("link to origin: delay 200 ms, jitter 400 ms", cases=1)
def delayed_origin(case):
    proxy, job = start(case, "origin")
    proxy.delay, proxy.jitter = 0.1, 0.2
    time.sleep(5)
    proxy.heal()
    case.healed()
    case.finish(job)


@fault("link to origin: silence 6 s", cases=2, limit=180)
def silent_origin(case):
    proxy, job = start(case, "origin")
    case.cluster.wait_middle(job, case.random.uniform(0, 0.4))
    proxy.silent = {"up", "down"}
    time.sleep(6)
    proxy.heal()
    proxy.cut()
    case.healed()
    case.finish(job, limit=150)
