"""What a user sees of `submit EE DE --wait` while things are killed, paused and restarted: progress that is true and ends."""

import json
import signal
import subprocess
import threading
import time

import origin as origins
from case import fault
from harness import PROGRAM, Trouble, wait

JOB = ["EE", "DE", "--zoom", "0-11"]


class AnyTile(dict):
    """A truth that holds a small vector tile under every path."""

    def __contains__(self, path):
        return True

    def get(self, path, default=None):
        name = path.encode()
        layer = b"\x0a" + bytes([len(name)]) + name + b"\x12\x07\x18\x01\x22\x03\x09\x32\x22\x28\x80\x20\x78\x02"
        return 200, {"Content-Type": "application/vnd.mapbox-vector-tile"}, b"\x1a" + bytes([len(layer)]) + layer


class Wait:
    """`submit --wait` as a process of its own, and its progress lines."""

    def __init__(self, case, *options):
        words = [str(PROGRAM), "submit", *JOB, "--tileset", str(case.tileset()), "--wait", "--progress", "json"]
        words += ["--timeout", "20", "--coordinator", case.cluster.control, *options]
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.findings = [], []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for text in self.child.stderr:
            self.lines.append(text)
            if text.startswith("{"):
                check(json.loads(text), self.findings)

    def end(self, code):
        out, _ = self.child.stdout.read(), self.child.wait(120)
        self.reader.join(10)
        if self.child.returncode != code:
            raise Trouble(f"submit --wait ended with {self.child.returncode}, not {code}: {''.join(self.lines[-3:])}{out[-300:]}")
        if self.findings:
            raise Trouble("; ".join(self.findings[:3]))


def check(status, findings):
    """Progress is true: parts add up, and nothing is above the whole."""
    tiles, settled = status["tiles"], status["settled"]
    if settled > tiles or status["batches_done"] > status["batches"]:
        findings.append(f"above 100 %: {settled} of {tiles} tiles, {status['batches_done']} of {status['batches']} batches")
    # What workers have under way counts as settled before its batch is committed.
    if status["stored"] + status["empty"] + status["failed"] > settled:
        findings.append(f"{status['stored']} stored + {status['empty']} empty + {status['failed']} failed > {settled} settled")


def start(case):
    case.start(workers=2, origin=origins.Origin(AnyTile(), latency=0.01), lease=3, grace=3)
    return case.cluster


def knows(command):
    said = subprocess.run([str(PROGRAM), "--help"], capture_output=True, text=True).stdout
    return f"\n  {command} " in said


def follow(case, until, findings):
    """Polls the job until the moment, checking what it says; returns the last status."""
    def look():
        status = case.cluster.status(1)
        check(status, findings)
        return status if until(status) else None

    return wait("the job moves on", look, 60, pause=0.05)


@fault("user: submit EE DE --wait; kill, restart, pause, resume", cases=3, limit=180)
def submit_and_wait(case):
    cluster, findings = start(case), []
    user = Wait(case)
    wait("the job is there", lambda: cluster.ask("status", 1, check=False).returncode == 0)
    steps = ["worker", "coordinator", "stop"] + (["pause"] if knows("pause") else [])
    case.random.shuffle(steps)
    for number, step in enumerate(steps, 1):
        share = number * 0.8 / (len(steps) + 1)
        follow(case, lambda status: status["settled"] >= share * status["tiles"] or status["state"] != "fetching", findings)
        if step == "worker":
            cluster.workers[0].kill()
            cluster.restart_worker(cluster.workers[0])
        elif step == "coordinator":
            cluster.coordinator.kill()
            time.sleep(case.random.uniform(0, 2))
            cluster.start_coordinator()
        elif step == "stop":
            cluster.workers[1].signal(signal.SIGSTOP)
            time.sleep(2)
            cluster.workers[1].signal(signal.SIGCONT)
        else:
            paused(case, findings)
        case.notes.append(step)
    case.healed()
    user.end(0)
    follow(case, lambda status: status["state"] == "done", findings)
    case.measure()
    undisturbed_again(case)
    if findings:
        raise Trouble("; ".join(findings[:3]))


def paused(case, findings):
    """After 5 s and a request's time no more requests are made; resumed, the job goes on."""
    cluster = case.cluster
    cluster.ask("pause", 1)
    time.sleep(2)
    before = len(case.origin.requests)
    time.sleep(1.5)
    asked = len(case.origin.requests) - before
    check(cluster.status(1), findings)
    cluster.ask("resume", 1)
    if asked:
        raise Trouble(f"{asked} requests were made while the job was paused")


def undisturbed_again(case):
    """The same job once more without faults makes the same bytes: both packages are unchanged."""
    cluster = case.cluster
    job = cluster.submit(case.tileset(), area=JOB[:2], zoom=JOB[3])
    status = cluster.wait_end(job)
    states = {package["id"]: package["state"] for package in status["packages"]}
    if status["state"] != "done" or set(states.values()) != {"unchanged"}:
        raise Trouble(f"without faults other bytes came: {states}")
    case.check_after(job, status)


@fault("user: cancel in the middle", cases=2)
def cancel(case):
    cluster, findings = start(case), []
    user = Wait(case)
    wait("the job is there", lambda: cluster.ask("status", 1, check=False).returncode == 0)
    follow(case, lambda status: status["settled"] >= 0.3 * status["tiles"], findings)
    if case.index % 2:
        cluster.coordinator.kill()
        cluster.start_coordinator()
    cluster.ask("cancel", 1)
    user.end(65)
    time.sleep(2)
    before = len(case.origin.requests)
    time.sleep(1.5)
    if len(case.origin.requests) != before:
        raise Trouble("a cancelled job still asks the origin")
    status = cluster.status(1)
    check(status, findings)
    if status["state"] != "cancelled" or findings:
        raise Trouble(f"{status['state']}: {findings[:3]}")
    case.check_after(1, status)
