"""Steps after a job that die or fail at a call, buckets with faults, several publishers at once, a disk that is full for a promotion."""

import json
import os
import shutil
import subprocess
import threading
import time

from bucket import KEYS, NAME, Bucket
from case import fault
from faults_calls import library, note, revive
from faults_catalog import index, list_of, packhorse
from faults_storage import fill, mount
from harness import PROGRAM, Trouble, wait

# How often each call happens while the steps of these catalogs run; numbers beyond that never come, which is no fault.
CALLS = {"rename": 14, "link": 8, "fsync": 60, "unlink": 10, "mkdir": 8, "write": 120, "flock": 4, "any": 160}
ENDS = ["kill-before", "kill-after", "ENOSPC", "EIO"]


def order(case):
    """An end at a call: kinds and ends in turn, small numbers as often as large ones."""
    kind = sorted(CALLS)[case.index % len(CALLS)]
    number = min(CALLS[kind], max(1, round(CALLS[kind] ** case.random.random())))
    text = f"{kind}:{number}:{ENDS[case.index % len(ENDS)] if case.random.random() < 0.5 else case.random.choice(ENDS)}"
    case.notes.append(text)
    return {"LD_PRELOAD": str(library(case)), "CHAOS_FAIL": text, "CHAOS_ARMED": str(case.folder / "armed")}


def submit(case, zoom, *words):
    return int(case.cluster.ask("submit", "--packages", list_of(case), "--tileset", case.tileset(), "--zoom", zoom, "--timeout", 10, *words).stdout.split()[0])


def published(case, zoom, *words):
    """A job and its end."""
    status = case.cluster.wait_end(submit(case, zoom, *words), limit=120)
    if status["state"] != "done":
        raise Trouble(f"the job ended {status['state']}: {status.get('reason')}")
    return status


def wait_steps(case, job, limit=200, mourn=None):
    """The steps of a job when all are done; a failed one is a finding."""

    def over():
        if mourn and not case.cluster.coordinator.is_running:
            mourn()
        status = case.cluster.status(job)
        bad = [step for step in status["steps"] if step["state"] == "failed"]
        if bad:
            raise Trouble(f"step {bad[0]['step']} failed: {bad[0].get('cause')}: {bad[0].get('detail')}")
        return status["state"] == "done" and all(step["state"] == "done" for step in status["steps"]) and status

    return wait(f"the steps of job {job} are done", over, limit, pause=0.05)


def verify(folder):
    proven = packhorse("catalog", "verify", folder)
    if proven.returncode != 0:
        raise Trouble(f"verify {folder.name}: {proven.stdout[-300:]}{proven.stderr[-300:]}")


def same(first, second):
    """Both folders have the same lists, and the second all files that they name."""
    for name in ("catalog.json", "packages.json"):
        if (first / name).read_bytes() != (second / name).read_bytes():
            raise Trouble(f"{name} of {second.name} is not that of {first.name}")
    verify(second)


class Watch:
    """Reads the index of a catalog again and again, and keeps each that it has not seen."""

    def __init__(self, folder):
        self.folder, self.seen, self.ended = folder, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.is_set():
            if (self.folder / "catalog.json").exists() and (found := index(self.folder)) not in self.seen:
                self.seen.append(found)
            time.sleep(0.002)

    def close(self):
        self.ended.set()
        self.thread.join(10)
        return self.seen


@fault("steps die or fail at a call", cases=16, limit=300)
def steps(case):
    """Verified, pruned, promoted and pushed into a folder: devices see all packages of the job or none, and everything ends as without the fault."""
    live, www = case.folder / "live", case.folder / "www"
    cluster = case.start(workers=2, latency=0, grace=3, options=["--also-catalog", f"live={live}", "--push-to", www])
    case.watcher.close()
    published(case, "0-8", "--then", f"promote=live,push={www}")
    wait_steps(case, 1)
    old, new = index(live), {name: 2 for name in index(live)}
    cluster.coordinator.stop()
    cluster.start_coordinator(order(case))
    first = cluster.coordinator
    first.expected_end = True
    watches = [Watch(live), Watch(www)]

    def mourn():
        if cluster.coordinator is first:
            revive(case, first, cluster.start_coordinator)

    cluster.mourn = mourn
    job = submit(case, "0-10", "--then", f"verify,prune=1,promote=live,push={www}")
    wait("the packages are published", lambda: cluster.status(job)["state"] in ("done", "failed"), 120)
    (case.folder / "armed").touch()
    wait_steps(case, job, mourn=mourn)
    if not first.is_running:
        mourn()
    note(case, first)
    case.measure()
    for watch in watches:
        seen = watch.close()
        if any(found not in (old, new) for found in seen):
            raise Trouble(f"clients of {watch.folder.name} saw a part of the change: {seen}")
    if index(live) != new or index(cluster.catalog) != new:
        raise Trouble(f"live has {index(live)}, the main catalog {index(cluster.catalog)}")
    verify(live)
    same(live, www)
    left = [path.name for path in cluster.catalog.glob("packages/1/*")]
    if left:
        raise Trouble(f"pruning left {left}")


# Pushes


def generations(case):
    """Four states of one signed catalog as folders: one, two and three publications, and the first with a package withdrawn."""
    key = case.folder / "catalog.key"
    packhorse("catalog", "keygen", key)
    cluster = case.start(workers=2, latency=0, options=["--signing-key", key])
    case.watcher.close()
    folders = []
    for number, zoom in enumerate(("0-7", "0-8", "0-9"), 1):
        published(case, zoom)
        folders.append(case.folder / f"state-{number}")
        shutil.copytree(cluster.catalog, folders[-1])
    cluster.check_alive()
    cluster.coordinator.stop()
    other = case.folder / "withdrawn"
    shutil.copytree(folders[0], other)
    done = packhorse("catalog", "remove", other, "east", "--signing-key", key)
    if done.returncode != 0:
        raise Trouble(f"remove: {done.stderr[-300:]}")
    return [*folders, other]


def open_bucket(case, **options):
    bucket = Bucket(**options)
    case.cleanups.append(bucket.close)
    return bucket


def push(folder, bucket):
    """The process of a push."""
    words = ["catalog", "push", folder, f"s3://{NAME}/live", "--s3-endpoint", bucket.url]
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", str(PROGRAM), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, **KEYS})  # fmt: skip


def pushed(folder, bucket, codes=(0,)):
    """The exit code of a push, which must be one of those."""
    process = push(folder, bucket)
    said = process.communicate(timeout=240)
    if process.returncode not in codes:
        raise Trouble(f"push {folder.name}: exit {process.returncode}: {said[1].strip()[-400:]}")
    return process.returncode


def at_rest(bucket, folder):
    """The bucket has the catalog of the folder, and nothing was ever mixed."""
    with bucket.lock:
        found = bucket.troubles + bucket.faults("live/", at_rest=True)
        left = [name for name in ("live/push.json", "live/push-check") if name in bucket.objects]
        if bucket.objects.get("live/catalog.json") != (folder / "catalog.json").read_bytes():
            found.append(f"catalog.json is not that of {folder.name}")
    if found or left:
        raise Trouble(f"{len(found)} faults in the bucket, such as {found[:2]}; left: {left}")


@fault("push into a bucket killed at a request", cases=2, limit=300)
def killed(case):
    """At each request in turn, before it is carried out or after it: clients find a whole catalog, and the next push completes it."""
    first, second = generations(case)[:2]
    bucket = open_bucket(case)
    pushed(first, bucket)
    before, count = dict(bucket.objects), bucket.number
    pushed(second, bucket)
    requests = bucket.number - count
    victim, killed = [], []
    moment = ("before", "after")[case.index % 2]
    for number in range(1, requests + 1):
        with bucket.lock:
            bucket.objects, start = dict(before), bucket.number

        def kill(when):
            if when == moment and victim:
                victim[0].kill()
                victim[0].wait(60)
                killed.append(number)

        bucket.fate = lambda method, name, at, kill=kill, due=start + number: kill if at == due else None
        victim[:] = [push(second, bucket)]
        victim[0].communicate(timeout=240)
        bucket.fate = lambda *_: None
        pushed(second, bucket)
        at_rest(bucket, second)
    case.notes.append(f"{len(killed)} of {requests} requests, {moment}")
    if len(killed) < requests / 2:
        raise Trouble(f"only {len(killed)} of {requests} kills came")


@fault("bucket with faults", cases=8, limit=300)
def faulty(case):
    """Refusals, waits, lost answers, cut connections, and conditions that are called false without a reason: pushes are repeated until they come through."""
    states = generations(case)[:3]
    kinds = [[503], [500, 503], ["lost"], ["closed"], [412], [0.3, 0.05], [403], [503, "lost", "closed", 412, 0.1]][case.index % 8]
    case.notes.append(f"{kinds}")
    bucket = open_bucket(case, compares=case.index % 3 != 2)
    share = case.random.uniform(0.1, 0.4)

    def fate(method, name, _):
        # Nothing calls a condition false but a put.
        kind = case.random.choice(kinds)
        return None if case.random.random() > share or (kind == 412 and method != "PUT") else kind

    for state in states:
        bucket.fate = fate
        for _ in range(case.random.randrange(2, 5)):
            # 65: a file that is called there already cannot be compared.
            if pushed(state, bucket, codes=(0, 65, 69, 75, 77)) == 0:
                break
        with bucket.lock:
            if bucket.troubles:
                raise Trouble(f"{len(bucket.troubles)} faults in the bucket, such as {bucket.troubles[:2]}")
        bucket.fate = lambda *_: None
        pushed(state, bucket)
        at_rest(bucket, state)


@fault("publishers of one place at once", cases=6, limit=300)
def several(case):
    """Pushes of different states of a catalog run together: one is there as a whole, whatever the others end with."""
    states = generations(case)
    bucket = open_bucket(case)
    pushed(states[0], bucket)
    bucket.fate = lambda *_: case.random.uniform(0, 0.03)
    for _ in range(3):
        chosen = [case.random.choice(states[1:]) for _ in range(case.random.choice([2, 2, 3]))]
        running = [push(state, bucket) for state in chosen]
        for process, state in zip(running, chosen):
            said = process.communicate(timeout=240)
            if process.returncode not in (0, 65, 75):
                raise Trouble(f"push {state.name}: exit {process.returncode}: {said[1].strip()[-400:]}")
            words = {0: "", 65: "other-catalog", 75: "pushed-by-another"}[process.returncode]
            case.notes.append(f"{state.name} {words}".strip())
        with bucket.lock:
            found = bucket.troubles + bucket.faults("live/", at_rest=True)
        if found:
            raise Trouble(f"{len(found)} faults in the bucket, such as {found[:2]}")
    bucket.fate = lambda *_: None
    pushed(states[2], bucket)
    at_rest(bucket, states[2])


@fault("step pushes to a bucket that is away", cases=2, limit=300)
def away(case):
    """The bucket refuses or is not there when the job ends; it comes back, and the step goes on by itself."""
    bucket = open_bucket(case)
    place = f"s3://{NAME}/live"
    cluster = case.start(workers=2, latency=0, options=["--push-to", place, "--s3-endpoint", bucket.url])
    case.watcher.close()
    cluster.coordinator.stop()
    cluster.start_coordinator(KEYS)
    bucket.fate = lambda *_: 503 if case.index % 2 else "closed"
    job = submit(case, "0-8", "--then", f"push={place},verify")

    def failed():
        return any(step["attempts"] > 0 for step in cluster.status(job)["steps"])

    wait("an attempt fails", failed, 120, pause=0.1)
    bucket.fate = lambda *_: None
    case.healed()
    status = wait_steps(case, job)
    case.measure()
    at_rest(bucket, cluster.catalog)
    case.notes.append(f"{status['steps'][0]['attempts']} attempts failed")


@fault("disk full at a promotion", cases=2, limit=300)
def full(case):
    """The live catalog is on a disk that is full when a step promotes into it: nothing of it changes, and the step goes on when there is space."""
    live = case.folder / "live"
    mount(case, live, "48m")
    cluster = case.start(workers=2, latency=0, options=["--also-catalog", f"live={live}"])
    case.watcher.close()
    published(case, "0-8", "--then", "promote=live")
    wait_steps(case, 1)
    old, before = index(live), (live / "catalog.json").read_bytes()
    watch = Watch(live)
    ballast = fill(live)
    if case.index % 2:
        # Space for a part of the files.
        os.truncate(ballast, max(0, ballast.stat().st_size - 200_000))
    job = submit(case, "0-11", "--then", "promote=live,verify")
    wait("an attempt fails", lambda: any(step["attempts"] > 0 for step in cluster.status(job)["steps"]), 120, pause=0.1)
    step = cluster.status(job)["steps"][0]
    if step["exit_code"] != 73 or (live / "catalog.json").read_bytes() != before:
        raise Trouble(f"a full disk ended the step with {step}")
    ballast.unlink()
    case.healed()
    wait_steps(case, job)
    case.measure()
    new = {name: 2 for name in old}
    seen = watch.close()
    if index(live) != new or any(found not in (old, new) for found in seen):
        raise Trouble(f"live has {index(live)}; clients saw {seen}")
    verify(live)
