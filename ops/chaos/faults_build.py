"""`packhorse build`: its children are killed at any moment, and the disk of its state fills up."""

import os
import signal
import threading
import time
from pathlib import Path

import origin as origins
from case import fault
from faults_storage import fill, mount
from harness import PROGRAM, Process, Trouble, wait
from oracle import sha256


class Build:
    """One build of Estonia, as the other faults build it."""

    def __init__(self, case, *options):
        case.origin = case.origin or origins.Origin(case.truth, latency=0.01)
        self.case, self.file = case, case.folder / "EE.mbtiles"
        words = ["build", "EE", "--zoom", "0-12", "--tileset", case.tileset(), "-o", self.file, "--workers", "2", "--progress", "none", *options]
        self.process = Process("build", words, case.folder / "build.log")
        case.cleanups.append(self.process.kill)

    def child(self, role):
        """The id of a child by its command, as soon as there is one."""
        found = []

        def look():
            for list_ in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
                try:
                    children = list_.read_text().split()
                except (FileNotFoundError, ProcessLookupError):
                    continue  # the thread has just ended; another one has its children
                found.extend(int(pid) for pid in children if command(int(pid)) == role)
            return found or not self.process.is_running

        wait(f"a {role} of the build", look, pause=0.001)
        if not found:
            raise Trouble(f"the build ended before its {role} was there: {self.said}")
        return found[0]

    def kill(self, role, after):
        pid = self.child(role)
        time.sleep(after)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            self.case.notes.append(f"the {role} had ended after {after:.2f} s")

    @property
    def said(self):
        return self.process.log.read_text(errors="replace")[-500:]

    def end(self, limit=100):
        wait("the build ends", lambda: not self.process.is_running, limit)
        code = self.process.child.returncode
        if code != 0:
            raise Trouble(f"the build ended with {code}: {self.said}")
        if sha256(self.file) != self.case.reference:
            raise Trouble(f"the file has other bytes than the undisturbed one: {self.said}")


def command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1].decode()
    except (OSError, IndexError):
        return None


@fault("build: its coordinator killed in its first half second", cases=12)
def kill_early(case):
    """At every moment of its start, of the planning of the job, and of the answer. No request waits for the dead one."""
    build = Build(case)
    build.kill("coordinator", case.index * 0.04 + case.random.uniform(0, 0.04))
    build.end(limit=50)


@fault("build: a worker killed in its first second", cases=3)
def kill_worker(case):
    build = Build(case)
    build.kill("worker", case.random.uniform(0, 1))
    build.end()


@fault("build: children killed five times", cases=2)
def kill_often(case):
    build = Build(case)
    for _ in range(5):
        build.kill(case.random.choice(["coordinator", "worker"]), case.random.uniform(0, 0.6))
        if not build.process.is_running:
            break
    build.end()


def free(place, ballast, after):
    def body():
        time.sleep(after)
        ballast.unlink()

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread


@fault("build: the disk of its state is full", cases=4, limit=180)
def full_state(case):
    """From the start, with room for the empty state file only, or in the middle: it waits, and says which disk."""
    place = case.folder / "small"
    mount(case, place, "64m")
    moment = ["start", "little", "middle", "impatient"][case.index % 4]
    if moment == "middle":
        build = Build(case, "--state", place / "state")
        wait("tiles are fetched", lambda: any(place.glob("state/cluster/blobs/??/*")) or not build.process.is_running)
        ballast = fill(place)
    else:
        ballast = fill(place)
        # Room for the files of the command itself; "little" also for an empty state file.
        room = case.random.randrange(100, 240) if moment == "little" else case.random.randrange(8, 60)
        os.truncate(ballast, ballast.stat().st_size - room * 1024)
        build = Build(case, "--state", place / "state", "--patience", "5s" if moment == "impatient" else "2min")
    if moment == "impatient":
        wait("the build gives up", lambda: not build.process.is_running, 40)
        if build.process.child.returncode != 75 or "free space on" not in build.said:
            raise Trouble(f"ended with {build.process.child.returncode}, without the disk: {build.said}")
        ballast.unlink()
        Build(case, "--state", place / "state").end()
        return
    # Longer than the minute after which every request was given up.
    waiting = free(place, ballast, 70 if moment == "little" else 8)
    waiting.join()
    build.end()


@fault("build: SIGTERM and SIGINT while its coordinator hangs", cases=2)
def signals(case):
    """A signal ends a build whose coordinator does not answer, and takes the children along."""
    build = Build(case)
    coordinator = build.child("coordinator")
    time.sleep(case.random.uniform(0, 0.5))
    os.kill(coordinator, signal.SIGSTOP)
    time.sleep(1)
    os.kill(build.process.pid, [signal.SIGTERM, signal.SIGINT][case.index % 2])
    wait("the build ends", lambda: not build.process.is_running, 10)
    if build.process.child.returncode != 130:
        raise Trouble(f"ended with {build.process.child.returncode}: {build.said}")
    wait("its coordinator is gone", lambda: command(coordinator) is None, 5)
    Build(case).end()
