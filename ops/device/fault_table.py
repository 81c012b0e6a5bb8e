"""Runs the cases of the fault table: the prepared world, a pool of processes, a time limit, a table of results."""

import concurrent.futures
import ctypes
import dataclasses
import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import traceback
from pathlib import Path

import fault_world
import scenarios
from case import Skip
from fault_case import FAULTS, Case
from harness import PATIENCE, Trouble
from properties import Watch
from store_folder import State

NEW_NETWORK, NEW_MOUNTS = 0x4000_0000, 0x2_0000


@dataclasses.dataclass
class Plan:
    """What every case knows."""

    place: Path
    program: Path
    port: int
    seed: int
    is_short: bool
    files: dict = dataclasses.field(default_factory=dict)
    packs: list = dataclasses.field(default_factory=list)
    tiles_port: int = 0
    references: dict = dataclasses.field(default_factory=dict)
    failpoint: Path | None = None
    clock: Path | None = None


def own_namespaces():
    """A network and mounts of this process alone, so that all of them can use one port of 127.0.0.1, and leave no mount; False where
    that is not allowed."""
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(NEW_NETWORK | NEW_MOUNTS) != 0:
        return False
    # What lies in the buffers of a device that dies was sent for nothing: at most this much.
    Path("/proc/sys/net/ipv4/tcp_rmem").write_text("4096 65536 131072")
    steps = (["ip", "link", "set", "lo", "up"], ["mount", "--make-rprivate", "/"])
    return all(subprocess.run(step, capture_output=True).returncode == 0 for step in steps)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_plan(folder, program, seed, is_short):
    """Publishes the catalogs, prepares a store for each scenario, and runs each scenario without a fault."""
    plan = Plan(folder / "world", program, free_port(), seed, is_short)
    world = fault_world.make(plan.place, program)
    plan.files, plan.tiles_port = world.files(), int(world.tiles.rsplit(":", 1)[1])
    for name in ("failpoint", "clock"):
        (folder / name).mkdir()
        setattr(plan, name, scenarios.library(folder / name, f"{name}.c"))
    for name in scenarios.SCENARIOS:
        device = scenarios.Device(plan.place, folder / "prepared" / name, plan.port, program)
        try:
            scenarios.prepare(name, device, plan.place / "templates" / name)
            plan.references[name] = scenarios.undisturbed(name, device, plan.failpoint, measuring)
            if name == "packs":
                plan.packs = sorted({answer.path for answer in device.origin.answers if answer.path.endswith(".mbtiles")})
        finally:
            device.close()
    return plan


def measuring(store, _):
    """The undisturbed run is only measured, not judged."""
    return Watch(store, State(), {})


# In the pool

PLAN = None


def begin_process(plan):
    global PLAN
    PLAN = plan
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own_namespaces()


def run_one(name, index, seed, folder, sabotage=None, body=None):
    """One case; a verdict as a dictionary."""
    began = time.monotonic()
    registered, _, _, limit = FAULTS[name]
    verdict = {"name": name, "index": index, "ok": False, "words": "", "notes": []}

    def hung(*_):
        raise Trouble("the case itself hung")

    signal.signal(signal.SIGALRM, hung)
    signal.alarm(int(limit * PATIENCE) + 60)
    case = None
    try:
        case = Case(name, index, seed, folder, PLAN)
        case.sabotage = sabotage or {}
        (body or registered)(case)
        verdict["ok"] = True
    except Skip as skip:
        verdict["skip"] = str(skip)
    except Trouble as trouble:
        verdict["words"] = str(trouble)
        verdict["number"] = getattr(trouble, "number", None)
    except Exception:
        verdict["words"] = traceback.format_exc()[-1500:]
    finally:
        signal.alarm(0)
        if case:
            verdict["notes"] = case.notes
            case.close()
    if verdict["ok"] or "skip" in verdict:
        shutil.rmtree(folder, ignore_errors=True)
    verdict["seconds"] = time.monotonic() - began
    return verdict


# In front

def cases_of(name, plan):
    """The indexes that this run takes."""
    _, nightly, short, _ = FAULTS[name]
    count = short if plan.is_short else nightly(plan) if callable(nightly) else nightly
    return range(count)


def pool(plan, jobs):
    """Processes with a network of their own each."""
    fork = multiprocessing.get_context("fork")
    return concurrent.futures.ProcessPoolExecutor(jobs, mp_context=fork, initializer=begin_process, initargs=(plan,))


def run_all(plan, folder, only, jobs, minutes, report, number=None):
    """Runs the wanted cases in a mixed order until all have ended or the time is over; returns the verdicts by fault."""
    wanted = [(name, index) for name in FAULTS if any(words in name for words in only) for index in cases_of(name, plan) if number in (None, index)]
    random.Random(plan.seed).shuffle(wanted)
    verdicts = {name: [] for name, _ in wanted}
    end = time.monotonic() + minutes * 60
    with pool(plan, jobs) as workers:
        pending, left = set(), iter(wanted)
        while True:
            while len(pending) < jobs * 2 and time.monotonic() < end and (one := next(left, None)):
                name, index = one
                place = folder / f"{name.replace(' ', '-').replace(',', '').replace('%', '')}-{index}"
                pending.add(workers.submit(run_one, name, index, plan.seed, place))
            if not pending:
                return verdicts, len(wanted)
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                verdict = future.result()
                verdicts[verdict["name"]].append(verdict)
                report(verdict)


def table(verdicts, plan):
    width = max(len(name) for name in verdicts)
    print(f"\n{'fault':{width}}  planned  ran  held  skipped")
    for name, group in sorted(verdicts.items(), key=lambda entry: list(FAULTS).index(entry[0])):
        ran = [verdict for verdict in group if "skip" not in verdict]
        held = sum(verdict["ok"] for verdict in ran)
        print(f"{name:{width}}  {len(cases_of(name, plan)):7}  {len(ran):3}  {held:4}  {len(group) - len(ran):7}")
