"""A process that dies before or after its n-th write, flush, rename, link or unlink, or whose call fails: failpoint.c."""

import json
import shutil
import subprocess
import time
from pathlib import Path

from case import Skip, fault
from harness import Trouble

SOURCE = Path(__file__).with_name("failpoint.c")


def library(case, source=SOURCE):
    """A library to load before libc, compiled once for a case."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise Skip("no C compiler")
    built = case.folder / source.with_suffix(".so").name
    done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", built, source, "-ldl"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"{source.name} does not build: {done.stderr[:200]}")
    return built


# How often each call happens in a job of 2,836 tiles; numbers beyond that never come, which is no fault.
CALLS = {
    "coordinator": {"write": 400, "fsync": 150, "rename": 4, "link": 3, "unlink": 40},
    "worker": {"write": 500, "fsync": 120, "rename": 80},
    "merger": {"write": 40, "fsync": 3, "rename": 1},
}
ENDS = ["kill-before", "kill-after", "EIO", "ENOSPC", "EINTR"]


def orders(case, role):
    """An order for this case: kinds in turn, small numbers as often as large ones."""
    kinds = sorted(CALLS[role])
    kind = kinds[case.index % len(kinds)]
    most = CALLS[role][kind]
    number = min(most, max(1, round(most ** case.random.random())))
    return {"LD_PRELOAD": str(library(case)), "CHAOS_FAIL": f"{kind}:{number}:{case.random.choice(ENDS)}"}


def note(case, process):
    """Whether the order was carried out at all: a job may make fewer calls than its number."""
    case.notes.append("carried out" if "chaos: now" in process.log.read_text(errors="replace") else "never came")


def revive(case, process, start):
    """Starts a process again, without orders, when its orders ended it; a failed call may end it too, but never by a signal."""
    code = process.child.returncode
    if code not in (-9, 73, 74, 75):
        raise Trouble(f"{process.name} ended with {code}: {case.cluster.last_words(process)}")
    case.healed()
    start()


@fault("coordinator dies or fails at a call", cases=12)
def coordinator(case):
    cluster = case.start(workers=2, latency=0.002, grace=30)
    cluster.coordinator.stop()
    environment = orders(case, "coordinator")
    environment["CHAOS_ARMED"] = str(case.folder / "armed")
    case.notes.append(environment["CHAOS_FAIL"])
    cluster.start_coordinator(environment)
    (case.folder / "armed").touch()
    first = cluster.coordinator
    first.expected_end = True

    def mourn():
        if cluster.coordinator is first:
            revive(case, first, cluster.start_coordinator)

    # The last calls are those that remove blobs, after the job's end, and so may be the one that kills.
    cluster.mourn = mourn
    job = submit_again(case, first)
    end = time.monotonic() + 60
    while first.is_running and time.monotonic() < end:
        asked = cluster.ask("status", job, "--json", "--timeout", 2, check=False)
        if asked.returncode == 0 and json.loads(asked.stdout)["state"] in ("done", "failed"):
            # The calls after the end (blobs that go) have their orders too.
            time.sleep(1)
            break
    if not first.is_running:
        mourn()
    note(case, first)
    case.finish(job)


def submit_again(case, first):
    """Submits under one request id until it is accepted, as a careful client does."""
    cluster, tileset = case.cluster, case.tileset()
    words = ["submit", "EE", "--tileset", tileset, "--zoom", "0-12", "--request-id", "chaos", "--timeout", 5]
    for _ in range(20):
        done = cluster.ask(*words, check=False)
        if done.returncode == 0:
            return int(done.stdout.split()[0])
        if not first.is_running:
            cluster.mourn()
        elif done.returncode not in (69, 75):
            raise Trouble(f"submit: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        time.sleep(0.2)
    raise Trouble("the job was never accepted")


@fault("worker dies or fails at a call", cases=12, limit=180)
def worker(case):
    cluster = case.start(workers=1, latency=0.002)
    environment = orders(case, "worker")
    case.notes.append(environment["CHAOS_FAIL"])
    victim = cluster.start_worker(environment)
    victim.expected_end = True
    case.healed(leases_lost=True)
    job = case.submit()
    case.finish(job, limit=150)
    note(case, victim)
    if victim.child.poll() not in (None, -9):
        raise Trouble(f"the worker ended with {victim.child.returncode}: {cluster.last_words(victim)}")


@fault("merger dies or fails at a call", cases=8, limit=180)
def merger(case):
    """Armed when the fetching is done, so that the calls are the merge's own."""
    cluster = case.start(workers=0, latency=0)
    environment = orders(case, "merger")
    environment["CHAOS_ARMED"] = str(case.folder / "armed")
    case.notes.append(environment["CHAOS_FAIL"])
    victim = cluster.start_worker(environment)
    victim.expected_end = True
    job = case.submit()
    end = time.monotonic() + 60
    while (state := cluster.status(job)["state"]) == "fetching" and time.monotonic() < end:
        pass
    (case.folder / "armed").touch()
    cluster.start_worker()
    case.finish(job, limit=150)
    note(case, victim)
    if state == "fetching" or victim.child.poll() not in (None, -9):
        raise Trouble(f"the merger ended with {victim.child.returncode}: {cluster.last_words(victim)}")
