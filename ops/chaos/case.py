"""One case: a seed, a folder, an origin, a cluster, and the question whether its job ended as without faults."""

import os
import random
import subprocess
import time
from datetime import datetime

import origin as origins
from harness import PROGRAM, Cluster, Trouble, wait
from oracle import Judgement, Watcher, sha256

FAULTS = {}


class Skip(Exception):
    """The machine cannot do this; the words say why."""


def fault(name, cases=1, limit=120):
    """Registers a fault: a function of a case. Its job is done by `case.finish`."""

    def register(body):
        FAULTS[name] = (body, cases, limit)
        return body

    return register


class Case:
    def __init__(self, name, index, seed, folder, truth, reference):
        self.name, self.index, self.folder, self.reference = name, index, folder, reference
        self.truth = truth
        self.random = random.Random(f"{name} {index} {seed}")
        self.regrant = None
        self.recovery, self.lost, self.wrong, self.notes = None, 0, 0, []
        self._healed, self._leases_lost = None, False
        self.origin, self.cluster, self.watcher, self.cleanups = None, None, None, []
        folder.mkdir(parents=True)

    # Setting up

    def start(self, workers=2, latency=0.02, origin=None, programs=None, **options):
        """An origin and a cluster with a watched catalog; `programs` by process name where they are other builds."""
        self.origin = origin or origins.Origin(self.truth, latency=latency)
        self.cluster = Cluster(self.folder, **options)
        self.cluster.programs = programs or {}
        self.watcher = Watcher(self.cluster.catalog)
        self.cluster.start(workers)
        return self.cluster

    def tileset(self, template=None, stall=2):
        """A tileset file over the origin, with short patience."""
        file = self.folder / "truth.yaml"
        file.write_text(
            f"id: truth\nurl: {template or self.origin.template}\nformat: pbf\nzoom: 0-14\n"
            f"timeouts: {{connect: 2, total: 10, stall: {stall}}}\n"
        )
        return file

    def submit(self, **options):
        return self.cluster.submit(self.tileset(**options))

    def close(self):
        if self.watcher:
            self.watcher.closed.set()
        if self.cluster:
            self.cluster.end()
        for cleanup in reversed(self.cleanups):
            cleanup()

    # Recovery

    def healed(self, since=None, leases_lost=False):
        """The fault ended at `since` (now); recovery lasts until the next accepted result, or until the lost leases run again."""
        self._healed, self._leases_lost = since or time.time(), leases_lost

    def measure(self):
        """Reads the recovery from the coordinators' logs."""
        if self._healed is None:
            return
        lines = [line for process in self.cluster.everything for line in self.cluster.log_lines(process)]
        for line in lines:
            line["at"] = seconds(line["time"])
        if self._leases_lost:
            self.recovery = self._until_granted_again(lines)
            return
        accepted = [
            line["at"] for line in lines
            if "done" in (line.get("packhorse.batch.state"), line.get("packhorse.job.state")) and line["at"] >= self._healed
        ]  # fmt: skip
        self.recovery = min(accepted, default=self._healed) - self._healed
        leased = [
            line["at"] for line in lines
            if line.get("packhorse.batch.state") == "leased" and line["at"] >= self._healed
        ]  # fmt: skip
        self.regrant = min(leased, default=self._healed) - self._healed

    def _until_granted_again(self, lines):
        """Until the last batch that was leased at the fault is leased a second time."""
        first, latest = {}, self._healed
        for line in lines:
            if line.get("packhorse.batch.state") == "leased":
                index = line["packhorse.batch.index"]
                if index not in first:
                    first[index] = line["at"]
                elif first[index] <= self._healed < line["at"]:
                    latest = max(latest, line["at"])
        return latest - self._healed

    # Judging

    def finish(self, job, limit=90, honest=(), state="done"):
        """Waits for the end and compares everything with the undisturbed world."""
        status = self.cluster.wait_end(job, limit)
        self.measure()
        if status["state"] != state:
            why = status.get("reason") or status.get("packages")
            raise Trouble(f"job ended {status['state']}, not {state}: {why} {status['failures'][:3]}")
        named = {"/tiles/" + failure["tile"] + ".pbf" for failure in status["failures"]}
        if named != set(honest):
            raise Trouble(f"failures named: {sorted(named)[:5]}, told: {sorted(honest)[:5]} ({len(named)}, {len(honest)})")
        if state == "done":
            self.compare(status, honest)
        self.check_after(job, status)
        return status

    def compare(self, status, honest=()):
        for package in status["packages"]:
            file = self.cluster.catalog / "packages" / str(package["version"]) / f"{package['id']}.mbtiles"
            digest = sha256(file)
            if digest != package["sha256"]:
                raise Trouble(f"{file.name} has {digest}, the job says {package['sha256']}")
            if digest == self.reference and not honest:
                continue
            judgement = Judgement(self.truth, file, honest)
            self.lost, self.wrong = self.lost + judgement.lost, self.wrong + judgement.wrong
            if not honest:
                raise Trouble(f"{file.name}: {judgement.lost} tiles lost, {judgement.wrong} wrong, bytes differ")

    def check_after(self, job, status):
        """After a last restart the job is as it was, the catalog verified, and no shard is left."""
        cluster = self.cluster
        cluster.check_alive()
        self.watcher.close()
        cluster.coordinator.stop()
        # Leftovers of late results are removed at an idle start, one hour after their last write.
        for file in blobs_left(cluster.blobs):
            os.utime(file, (0, 0))
        cluster.start_coordinator()
        again = cluster.status(job)
        for key in ("state", "stored", "empty", "failed", "tiles", "batches_done"):
            if again[key] != status[key]:
                raise Trouble(f"after a restart {key} is {again[key]}, was {status[key]}")
        # A failed job keeps its blobs for a retry.
        if status["state"] != "failed":
            wait("the blobs of the ended job are gone", lambda: not blobs_left(cluster.blobs), 20)
        if any(cluster.catalog.glob("packages/*/*")):
            done = subprocess.run([str(PROGRAM), "verify", str(cluster.catalog)], capture_output=True, text=True)
            if done.returncode != 0:
                raise Trouble(f"verify: {done.stdout}{done.stderr}")


def blobs_left(folder):
    return [file for file in folder.glob("??/*") if file.is_file()]


def seconds(text):
    """Seconds since 1970 of a log line's time."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
