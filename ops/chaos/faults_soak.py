"""Faults at a low rate for long: PACKHORSE_SOAK names the minutes (2; a night is 480)."""

import os
import signal
import time

import origin as origins
from case import fault
from harness import Trouble
from origin import Lie

MINUTES = float(os.environ.get("PACKHORSE_SOAK", "2"))
# What a warm coordinator may grow by, whatever the time: SQLite's cache and the allocator's slack.
MOST_GROWTH = 24 << 20


def resident(process):
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise Trouble("no VmRSS")


@fault(f"soak: faults at a low rate, {MINUTES:g} min", cases=1, limit=MINUTES * 60 + 120)
def soak(case):
    """One job after another during faults; every package is correct, and the coordinator's memory does not grow."""
    cluster = case.start(workers=2, lease=3, origin=origins.Origin(case.truth, latency=0.002))
    started, jobs, warm, last = time.monotonic(), 0, None, None
    while jobs < 3 or time.monotonic() - started < MINUTES * 60:
        job = cluster.submit(case.tileset(), options=["--request-id", f"soak-{jobs}"])
        strike(case, cluster)
        last = cluster.wait_end(job, 120)
        if last["state"] != "done" or last["failed"]:
            raise Trouble(f"job {job} ended {last['state']}: {last.get('reason')} {last['failures'][:3]}")
        jobs += 1
        if jobs == 3:
            warm = resident(cluster.coordinator)
        if time.monotonic() - started > MINUTES * 60 + 60:
            break
    grown = resident(cluster.coordinator) - warm
    hours = (time.monotonic() - started) / 3600
    case.notes.append(f"{jobs} jobs, coordinator {warm >> 20} MiB, grown by {grown / 2**20:.1f} MiB in {hours:.2f} h")
    case.finish(job)
    if grown > MOST_GROWTH:
        raise Trouble(f"the coordinator grew by {grown >> 20} MiB")


def strike(case, cluster):
    """One fault at a random moment of the job."""
    time.sleep(case.random.uniform(0, 2))
    what = case.random.choice(["nothing", "kill", "stop", "freeze", "lie"])
    if what == "kill":
        worker = case.random.choice(cluster.workers)
        worker.kill()
        cluster.restart_worker(worker)
    elif what in ("stop", "freeze"):
        victim = cluster.coordinator if what == "freeze" else case.random.choice(cluster.workers)
        victim.signal(signal.SIGSTOP)
        time.sleep(case.random.uniform(0.5, 4))
        victim.signal(signal.SIGCONT)
    elif what == "lie":
        case.origin.lies[:] = [Lie(case.random.choice(["500", "reset", "truncated"]), case.random.random(), share=0.02, times=1)]
