"""The machines of the month: blobs and backups in a bucket, a small disk for the state, one for the catalogs, and two programs. Python's standard library only."""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OPS = Path(__file__).resolve().parents[1]
sys.path += [str(OPS / folder) for folder in ("lib", "year", "chaos")]
import harness
from acceptance import expect, wait
from faults_storage import fill
from world import World

PLACE = "s3://packhorse/cluster"
KEYS = {"AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"}


class Bucket:
    """OpenStack Swift with its S3 layer, on loopback; it ends with this process."""

    def __init__(self, folder):
        log = folder / "bucket.log"
        with log.open("wb") as errors:
            # Debian's own Python: the packages are its, whatever python3 comes first on PATH.
            words = ["/usr/bin/python3", str(OPS / "s3/serve.py"), str(folder / "bucket"), "--bucket", "packhorse"]
            self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        said = self.child.stdout.readline().split()
        if said[:1] != ["ready"]:
            raise harness.Trouble(f"the S3 server does not start: {log.read_text()[-300:]}; 'ops/s3-server install' installs it")
        self.url = said[1]

    def close(self):
        self.child.terminate()
        self.child.wait(30)


class Disk:
    """A file system of its own, which may be filled or lost; a folder where mounting is not allowed."""

    def __init__(self, folder, size):
        self.folder, self.size = folder, size
        folder.mkdir()
        self.is_mounted = self.mount()

    def mount(self):
        words = ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", self.folder]
        return os.geteuid() == 0 and subprocess.run(words, capture_output=True).returncode == 0

    def lose(self):
        """Everything on it is gone; an empty one is there."""
        if self.is_mounted:
            self.close()
            expect(self.mount(), f"{self.folder} cannot be mounted again")
        else:
            shutil.rmtree(self.folder)
            self.folder.mkdir()

    def fill(self):
        """Takes every free byte; returns the file that does."""
        return fill(self.folder)

    def used(self):
        """Bytes."""
        return shutil.disk_usage(self.folder).used

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.folder], check=False)


class Month(World):
    """The world of the year on machines that can be lost. `before` is the program of the first days, `program` that of the others."""

    def __init__(self, folder, chosen, builds):
        self.BUILDS = builds
        # A coordinator that stops makes a last backup in the bucket: the units of the Debian package give it 60 s.
        harness.PATIENCE = max(harness.PATIENCE, 3)
        os.environ.update(KEYS)
        os.environ.pop("AWS_SESSION_TOKEN", None)
        # Copies: the file of a program that runs is replaced as an installation does it.
        self.now, self.next = folder / "now", folder / "next"
        for place, program in ((self.now, chosen.before or chosen.program), (self.next, chosen.program)):
            place.mkdir()
            shutil.copy(program.resolve(), place / "packhorse")
        self.jobs, self.losses, self.closed_last = [], 0, []
        try:
            self.bucket = self.closes(Bucket(folder))
            self.state = self.closes(Disk(folder / "state", "64m"))
            self.maps = self.closes(Disk(folder / "catalogs", "256m"))
            super().__init__(folder, self.now / "packhorse", chosen)
        except BaseException:
            self.close()
            raise

    def catalogs(self):
        return self.maps.folder / "live", self.maps.folder / "staging"

    def make_cluster(self, options):
        server = ["--s3-endpoint", self.bucket.url]
        options += ["--blobs", PLACE, "--restore-from", PLACE, "--backup-every", "1s", *server]
        cluster = harness.Cluster(self.folder, data=self.state.folder / "data", options=options, worker_options=server)
        cluster.blobs = PLACE
        cluster.programs = dict.fromkeys(("coordinator", "w1", "w2"), self.program)
        return cluster

    def closes(self, thing):
        self.closed_last.append(thing)
        return thing

    def close(self):
        if hasattr(self, "sites"):
            super().close()
        elif hasattr(self, "cluster"):
            self.cluster.end()
        for thing in reversed(self.closed_last):
            thing.close()

    # What the days do

    def fire(self):
        job = super().fire()
        self.jobs.append(job)
        return job

    def firings(self):
        """The history of the schedule, the oldest firing first."""
        return json.loads(self.ask("schedule", "history", "monthly", "--json"))[::-1]

    def health(self):
        return json.loads(self.run("health", "--json", "--coordinator", self.cluster.control))

    def findings(self):
        return [finding["code"] for finding in self.health()["findings"]]

    def wait_for_backup(self):
        """Waits for a backup that shows what is done now."""
        now = time.time()
        wait("a backup", lambda: time.time() - self.health()["backup_age_seconds"] - 1 > now, 60 * harness.PATIENCE, 0.2)

    def lose_coordinator(self):
        """Its machine and its disk are gone; another one with an empty disk begins with the backups."""
        self.cluster.coordinator.kill()
        self.state.lose()
        self.losses += 1
        self.cluster.start_coordinator()

    def replace_program(self):
        """As an operator upgrades: the coordinator first, then the workers one by one."""
        new = self.next / "packhorse"
        self.program = harness.PROGRAM = new
        self.cluster.programs = dict.fromkeys(self.cluster.programs, new)
        self.cluster.coordinator.stop()
        self.cluster.start_coordinator()
        for worker in list(self.cluster.workers):
            worker.stop()
            self.cluster.restart_worker(worker)
        for process in (self.cluster.coordinator, *self.cluster.workers):
            wait(f"{process.name} runs the new program", lambda: Path(f"/proc/{process.pid}/exe").resolve() == new.resolve(), 60 * harness.PATIENCE)
