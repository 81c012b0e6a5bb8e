"""Shards damaged before the merge, a state file torn or flipped, and disks that are full."""

import json
import os
import shutil
import subprocess
import time

from case import Skip, blobs_left, fault
from harness import Trouble, wait


def paused_before_merge(case):
    """A job whose fetching is done and whose merge has no worker yet: the workers die with the last batch held back."""
    cluster = case.start(workers=1, latency=0, lease=2, grace=1)
    job = case.submit()

    def nearly():
        status = cluster.status(job)
        if status["state"] != "fetching":
            raise Trouble("the merge began before the shards could be damaged")
        return status["batches_done"] > 20

    wait("shards are there", nearly, pause=0)
    cluster.workers[0].kill()
    return cluster, job


def damage(case, kind, file):
    size = file.stat().st_size
    if kind == "deleted":
        file.unlink()
    elif kind == "truncated":
        os.truncate(file, case.random.randrange(size))
    elif kind == "emptied":
        os.truncate(file, 0)
    elif kind == "bit flipped":
        with file.open("r+b") as handle:
            at = case.random.randrange(size)
            handle.seek(at)
            byte = handle.read(1)[0]
            handle.seek(at)
            handle.write(bytes([byte ^ 1 << case.random.randrange(8)]))
    elif kind == "swapped":
        other = case.random.choice([other for other in blobs_left(case.cluster.blobs) if other != file])
        shutil.copyfile(other, file)


def shard_damage(kind, cases):
    @fault(f"shard {kind} before the merge", cases=cases, limit=180)
    def body(case):
        cluster, job = paused_before_merge(case)
        shards = sorted(blobs_left(cluster.blobs))
        for file in case.random.sample(shards, case.random.choice([1, 1, 2, 5])):
            damage(case, kind, file)
        case.healed()
        cluster.restart_worker(cluster.workers[0])
        case.finish(job, limit=150)


for kind, cases in [("deleted", 2), ("truncated", 3), ("emptied", 1), ("bit flipped", 4), ("swapped", 2)]:
    shard_damage(kind, cases)


@fault("merged package damaged before it is published", cases=2)
def package_damage(case):
    """The coordinator is held while a worker merges; the package is damaged in the blob store, then the commit is read."""
    import signal

    cluster = case.start(workers=1, latency=0)
    job = case.submit()
    wait("the merge begins", lambda: cluster.status(job)["state"] in ("merging", "publishing", "done"), pause=0)
    cluster.coordinator.signal(signal.SIGSTOP)
    time.sleep(0.7)
    flipped = 0
    for file in blobs_left(cluster.blobs):
        if file.stat().st_size > 1_000_000:
            damage(case, "bit flipped", file)
            flipped += 1
    case.notes.append(f"{flipped} flipped")
    cluster.coordinator.signal(signal.SIGCONT)
    case.healed()
    case.finish(job)


# The state file


def stopped_in_the_middle(case):
    cluster = case.start(workers=2, grace=30)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0.1, 0.6))
    cluster.coordinator.kill()
    return cluster, job


@fault("state file: the WAL's tail torn", cases=6)
def torn_wal(case):
    """The last transaction half on disk, as a power cut leaves it: before its commit was acknowledged to anybody.

    Cutting deeper takes back what was acknowledged; a disk that lies so is found by nobody, but the job still ends right.
    """
    cluster, job = stopped_in_the_middle(case)
    wal = cluster.data / "state.sqlite-wal"
    size = wal.stat().st_size
    os.truncate(wal, max(32, size - case.random.randrange(1, 3 * 4120)))
    if case.random.random() < 0.5:
        with wal.open("ab") as handle:
            handle.write(case.random.randbytes(case.random.randrange(1, 5000)))
    cluster.start_coordinator()
    case.healed()
    case.finish(job)


@fault("state file: a page flipped", cases=8)
def flipped_page(case):
    """A damaged copy is refused at the start or serves the truth; never a silent third."""
    cluster, job = stopped_in_the_middle(case)
    cluster.start_coordinator()
    case.healed()
    status = cluster.wait_end(job)
    cluster.coordinator.stop()
    state = cluster.data / "state.sqlite"
    whole = state.read_bytes()
    refused = 0
    for _ in range(10):
        damaged = bytearray(whole)
        page = case.random.randrange(len(whole) // 4096)
        for _ in range(case.random.choice([1, 16, 256])):
            damaged[page * 4096 + case.random.randrange(4096)] ^= 1 << case.random.randrange(8)
        state.write_bytes(damaged)
        try:
            cluster.start_coordinator()
        except Trouble:
            said = cluster.coordinator.log.read_text()
            if cluster.coordinator.child.returncode < 0:
                raise Trouble(f"a flipped page {page} crashed the coordinator: {said[-500:]}")
            if "damaged" not in said:
                case.notes.append(said[-300:])
            cluster.coordinator.expected_end = True
            refused += 1
        else:
            again = cluster.status(job)
            if again["packages"] != status["packages"] or again["state"] != status["state"]:
                raise Trouble(f"page {page}: served {again['state']} {again['packages']}")
            cluster.coordinator.kill()
        for rest in cluster.data.glob("state.sqlite*"):
            rest.unlink()
        state.write_bytes(whole)
    case.notes.append(f"{refused} of 10 refused")
    cluster.start_coordinator()
    case.finish(job)


# Full disks


def mount(case, place, size):
    if os.geteuid() != 0:
        raise Skip("mounting small disks needs root")
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"cannot mount: {done.stderr.strip()}")
    case.cleanups.append(lambda: subprocess.run(["umount", "-l", place], check=False))


def fill(place):
    """Takes every free byte; returns the ballast."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as handle:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    handle.write(bytes(size))
            except OSError:
                pass
    return ballast


def full_disk(name, places):
    @fault(f"disk full: {name}", cases=3, limit=180)
    def body(case):
        data = case.folder / "data"
        for place in places:
            mount(case, data / place, "24m")
        cluster = case.start(workers=2, latency=0.01)
        job = case.submit()
        moments = ["now", "middle", "late"]
        if moments[case.index % 3] == "middle":
            cluster.wait_middle(job, 0.3)
        elif moments[case.index % 3] == "late":
            wait("nearly done", lambda: (s := cluster.status(job))["batches_done"] >= 0.95 * s["batches"], pause=0)
        ballast = [fill(data / place) for place in places]
        time.sleep(case.random.uniform(2, 5))
        for file in ballast:
            file.unlink()
        case.healed()
        case.finish(job, limit=150)


full_disk("everything", ["."])
full_disk("blobs", ["blobs"])
full_disk("catalog", ["catalog"])
