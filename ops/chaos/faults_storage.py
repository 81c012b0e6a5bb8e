"""Shards damaged before the merge, a state file torn or flipped, and disks that are full."""

import os
import shutil
import signal
import subprocess
import time

from case import Skip, blobs_left, fault
from harness import PROGRAM, Trouble, wait


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


@fault("every shard's bit flipped before the merge", cases=1, limit=180)
def rot(case):
    """Shards made again may have the very names of the damaged ones."""
    cluster, job = paused_before_merge(case)
    for file in blobs_left(cluster.blobs):
        damage(case, "bit flipped", file)
    case.healed()
    cluster.restart_worker(cluster.workers[0])
    case.finish(job, limit=150)


for kind, cases in [("deleted", 2), ("truncated", 2), ("emptied", 1), ("bit flipped", 3), ("swapped", 2)]:
    shard_damage(kind, cases)


@fault("merged package damaged before it is published", cases=2)
def package_damage(case):
    """The coordinator is held while a worker merges; the package is damaged in the blob store, then the commit is read."""
    cluster = case.start(workers=1, latency=0)
    job = case.submit()

    def begun():
        state = cluster.status(job)["state"]
        return state if state in ("merging", "publishing", "done") else None

    state = wait("the merge begins", begun, pause=0)
    cluster.coordinator.signal(signal.SIGSTOP)
    if state != "merging" or list((cluster.data / "catalog" / "packages").rglob("*.mbtiles")):
        # The coordinator had verified or published the package before it was stopped: damage would now change what is published.
        cluster.coordinator.signal(signal.SIGCONT)
        case.healed()
        case.finish(job)
        raise Skip("the coordinator was faster than this test")
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


@fault("state file: the WAL's tail torn", cases=4)
def torn_wal(case):
    """The last transaction half on disk, as a power cut leaves it: before its commit was acknowledged.

    Cutting deeper takes back what was acknowledged; such a disk error is not detected, but the job still ends correctly.
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


def flip_pages(case, state, whole):
    """One, 16 or 256 bits of one page."""
    damaged = bytearray(whole)
    page = case.random.randrange(len(whole) // 4096)
    for _ in range(case.random.choice([1, 16, 256])):
        damaged[page * 4096 + case.random.randrange(4096)] ^= 1 << case.random.randrange(8)
    for rest in state.parent.glob("state.sqlite-*"):
        rest.unlink()
    state.write_bytes(damaged)
    # The file is older than the last start, whose claims would refuse it: they go, as the hint of that refusal says.
    for claim in (case.cluster.data / "catalog" / ".lock", case.cluster.blobs / "coordinator-claim"):
        claim.unlink(missing_ok=True)
    return page


def starts(case):
    """Whether the coordinator serves; when not, it must have said that its state is damaged."""
    cluster = case.cluster
    try:
        cluster.start_coordinator()
        return cluster.status(1, limit=10) is not None
    except Trouble as trouble:
        code = cluster.coordinator.child.poll()
        said = cluster.coordinator.log.read_text()
        cluster.coordinator.kill()
        if code is None or code <= 0 or "damaged" not in said:
            raise Trouble(f"a flipped page ended the coordinator with {code}: {said[-500:]} ({trouble})")
        return False


@fault("state file: a page flipped, job ended", cases=2)
def flipped_page(case):
    """A damaged file is refused at the start, serves the truth, or is found by `packhorse state check`; never a silent fourth."""
    cluster = case.start(workers=2)
    job = case.submit()
    status = cluster.wait_end(job)
    case.watcher.closed.set()
    cluster.coordinator.stop()
    state = cluster.data / "state.sqlite"
    whole, refused = state.read_bytes(), 0
    for _ in range(12):
        page = flip_pages(case, state, whole)
        words = [str(PROGRAM), "state", "check", "--data", str(cluster.data)]
        found = subprocess.run(words, capture_output=True, text=True).returncode
        if not starts(case):
            refused += 1
            continue
        if found == 65:
            case.notes.append(f"page {page}: found by state check")
            cluster.coordinator.kill()
            continue
        again = cluster.status(job)
        for key in ("state", "packages", "stored", "empty", "failed", "tiles"):
            if again[key] != status[key]:
                raise Trouble(f"page {page} flipped: {key} is {again[key]}, was {status[key]}")
        cluster.coordinator.kill()
    case.notes.append(f"{refused} of 12 refused")


def refuses_as_damaged(cluster):
    """Whether the coordinator ended with 65, the name of the file and the way out; another end is a finding."""
    code = cluster.coordinator.child.poll()
    if code is None:
        return False
    said, state = cluster.coordinator.log.read_text()[-2000:], cluster.data / "state.sqlite"
    if code != 65 or not all(word in said for word in ("damaged", str(state), "state check", "state restore")):
        raise Trouble(f"a flipped page ended the coordinator with {code}: {said[-700:]}")
    return True


@fault("state file: a page flipped, job running", cases=3, limit=180)
def flipped_page_running(case):
    """Refused at the start or when the page is read, or the job ends with the right bytes, or fails and says why."""
    cluster = case.start(workers=2, grace=1)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0.1, 0.6))
    for worker in cluster.workers:
        worker.kill()
    cluster.coordinator.stop()
    state = cluster.data / "state.sqlite"
    kept = case.folder / "kept"
    shutil.copytree(cluster.data, kept)
    for _ in range(4):
        shutil.rmtree(cluster.data)
        shutil.copytree(kept, cluster.data)
        page = flip_pages(case, state, (kept / "state.sqlite").read_bytes())
        if not starts(case):
            continue
        for worker in list(cluster.workers):
            cluster.restart_worker(worker)
        try:
            status = cluster.wait_end(job)
        except Trouble:
            if not refuses_as_damaged(cluster):
                raise
            case.notes.append(f"page {page}: 65 when it was read")
            status = None
        if status and status["state"] == "done":
            case.compare(status)
        elif status and not (status["reason"] or status["failures"]):
            raise Trouble(f"page {page} flipped: the job failed and does not say why: {status}")
        for process in [cluster.coordinator, *cluster.workers]:
            process.kill()


@fault("state file: pages flipped below a running coordinator", cases=3, limit=180)
def flipped_below(case):
    """Whoever reads a flipped page: the coordinator goes on, or ends with 65, the name of the file and the way out."""
    cluster = case.start(workers=2, grace=1)
    cluster.wait_end(case.submit())
    case.watcher.closed.set()
    # A new start has no page in memory but those that it reads itself.
    cluster.coordinator.stop()
    cluster.start_coordinator()
    state = cluster.data / "state.sqlite"
    for _ in range(40):
        with state.open("r+b") as file:
            place = case.random.randrange(os.path.getsize(state))
            file.seek(place)
            byte = file.read(1)[0] ^ 1 << case.random.randrange(8)
            file.seek(place)
            file.write(bytes([byte]))
        for words in (["events", "--json"], ["jobs"], ["status", "1"], ["failed", "list"], ["backup"]):
            cluster.ask(*words, check=False)
        if refuses_as_damaged(cluster):
            case.notes.append(f"byte {place}: 65")
            break
    cluster.coordinator.kill()


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


# Disks that go away


def read_only(place):
    @fault(f"disk read-only 4 s: {place}", cases=2, limit=180)
    def body(case):
        folder = case.folder / "data" / place
        mount(case, folder, "64m")
        cluster = case.start(workers=2, latency=0.01 if case.index else 0)
        job = case.submit()
        cluster.wait_middle(job, 0.2)
        # A file that is open for writing keeps the mount busy for a moment.
        wait("the mount is read-only", lambda: remount(folder, "ro"), 20)
        time.sleep(4)
        wait("the mount is writable", lambda: remount(folder, "rw"), 20)
        case.healed()
        case.finish(job, limit=150)


def remount(folder, how):
    return subprocess.run(["mount", "-o", f"remount,{how}", folder], capture_output=True).returncode == 0


read_only("blobs")
read_only("catalog")


@fault("blob folder away 5 s", cases=2, limit=180)
def away(case):
    """As when a network mount drops and comes back."""
    cluster = case.start(workers=2, latency=0.01)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0.1, 0.6))
    gone = cluster.blobs.rename(cluster.data / "away")
    if case.index % 2:
        cluster.blobs.mkdir()  # The empty mount point.
    time.sleep(5)
    if case.index % 2:
        shutil.rmtree(cluster.blobs)
    gone.rename(cluster.blobs)
    case.healed()
    case.finish(job, limit=150)
