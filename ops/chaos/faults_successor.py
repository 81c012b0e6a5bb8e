"""A coordinator that was frozen or cut off, and wakes beside the one that was restored from its backups."""

import signal
import time

import ports
from case import fault
from harness import Trouble, wait


def begin(case, **options):
    """A cluster whose coordinator backs up each second, and whose worker knows where a successor will be."""
    case.place = case.folder / "place"
    case.place.mkdir()
    # The way of the first coordinator to the place; it can be cut.
    case.way = case.folder / "way"
    case.way.symlink_to(case.place)
    case.second = f"tcp://127.0.0.1:{ports.take()}", f"tcp://127.0.0.1:{ports.take()}"
    cluster = case.start(
        workers=1, latency=0.05, worker_options=["--connect", case.second[1]],
        options=["--backup-to", case.way, "--backup-every", "1s"], **options,
    )  # fmt: skip
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0.02, 0.2))
    before = backups(case)
    # One may have been begun before the job was submitted.
    wait("two backups are made", lambda: len(backups(case) - before) >= 2, 120)
    return cluster, job


def backups(case):
    return {file.name for file in (case.place / "state-backups/index").glob("*")}


def succeed(case):
    """Starts a coordinator from the backups, over the same blobs and catalog; returns the old one."""
    cluster, old = case.cluster, case.cluster.coordinator
    old.expected_end = True
    cluster.options = ["--restore-from", case.place, "--backup-every", "1s"]
    cluster.options += ["--blobs", cluster.blobs, "--catalog", cluster.catalog]
    cluster.data = case.folder / "data-2"
    cluster.control, cluster.work = case.second
    cluster.start_coordinator()
    return old


def has_ended(case, old):
    """The old coordinator ends by itself with 78, and says that it was replaced."""
    wait("the old coordinator ends", lambda: not old.is_running, 60)
    words = case.cluster.last_words(old)
    if old.child.returncode != 78 or "higher epoch" not in words:
        raise Trouble(f"the old coordinator ended with {old.child.returncode}: {words}")


def lists(case):
    return {name: (case.cluster.catalog / name).read_bytes() for name in ("packages.json", "catalog.json")}


@fault("coordinator frozen, wakes beside its successor", cases=3, limit=420)
def frozen(case):
    """It wakes while the successor works (even numbers), or when it has published (odd ones)."""
    cluster, job = begin(case)
    cluster.coordinator.signal(signal.SIGSTOP)
    old = succeed(case)
    case.healed()
    if case.index % 2:
        cluster.wait_end(job, 200)
    else:
        time.sleep(case.random.uniform(0, 40))
    before, done = lists(case), cluster.status(job)["state"] == "done"
    old.signal(signal.SIGCONT)
    has_ended(case, old)
    if done and lists(case) != before:
        raise Trouble("the catalog was changed by a coordinator that was replaced")
    case.finish(job, limit=200)


@fault("coordinator cut off, and its successor beside it", cases=2, limit=420)
def cut_off(case):
    """It reaches catalog, blobs and a worker of its own, and not the place of the backups: the catalog tells it."""
    cluster, job = begin(case)
    # One worker stays with each.
    alone = cluster.workers[0]
    alone.kill()
    cluster.worker_options = []
    own = cluster.restart_worker(alone)
    case.way.unlink()
    time.sleep(case.random.uniform(0, 5))
    old = succeed(case)
    case.healed()
    has_ended(case, old)
    own.kill()
    cluster.start_worker(name="w-new")
    case.finish(job, limit=200)
