"""A cluster of real processes in one folder, on ports of its own, ended by their own ids."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports

PROGRAM = Path(os.environ.get("PACKHORSE", Path(__file__).resolve().parents[2] / ".build/release/packhorse"))


# Every limit is multiplied by it: how much slower this machine is just now than a quiet one of two cores.
PATIENCE = float(os.environ.get("PACKHORSE_CHAOS_PATIENCE", "1"))


class Trouble(Exception):
    """A case did not end as it must; the words say how."""


class PortTaken(Exception):
    """Another process listens on a port of the coordinator."""


def wait(what, condition, limit=60.0, pause=0.02):
    """The first true value of `condition`."""
    end = time.monotonic() + limit * PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise Trouble(f"not within {limit:g} s: {what}")


class Process:
    """One process with its log; knows whether it was ended by us."""

    def __init__(self, name, arguments, log, environment=None, prefix=(), program=PROGRAM):
        self.name, self.log = name, log
        self.expected_end = False
        self.out = log.with_suffix(".out")
        command = ["setpriv", "--pdeathsig", "KILL", *prefix, str(program), *map(str, arguments)]
        with log.open("ab") as errors, self.out.open("wb") as output:
            self.child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env={**os.environ, **(environment or {})}
            )

    @property
    def pid(self):
        return self.child.pid

    @property
    def is_running(self):
        return self.child.poll() is None

    def signal(self, number):
        if self.is_running:
            self.child.send_signal(number)

    def kill(self):
        """SIGKILL, also to a stopped process; returns when it is gone."""
        self.expected_end = True
        self.signal(signal.SIGKILL)
        self.child.wait(60)

    def stop(self, limit=20):
        self.expected_end = True
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.child.wait(limit * PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Trouble(f"{self.name} did not end within {limit} s of SIGTERM")

    def ended_by_itself(self):
        return not self.is_running and not self.expected_end


class Cluster:
    """A coordinator and workers over a data folder."""

    def __init__(self, folder, data=None, lease=4, grace=6, options=(), work_through=None, worker_options=(), cli_options=(),
                 host="127.0.0.1", prefixes=None):  # fmt: skip
        self.folder, self.data = folder, data or folder / "data"
        self.lease, self.grace, self.options = lease, grace, list(options)
        self.work_through, self.worker_options = work_through, list(worker_options)
        self.cli_options = list(cli_options)
        self.blobs, self.catalog = self.data / "blobs", self.data / "catalog"
        self.coordinator, self.workers, self.everything = None, [], []
        self.control = self.work = None
        self.host, self.prefixes = host, prefixes or {}
        # Called when the coordinator is found dead whose death was ordered, at whatever moment that comes true.
        self.mourn = None
        self.programs = {}  # by process name, where it is not PROGRAM
        (folder / "logs").mkdir(parents=True, exist_ok=True)

    # Starting

    def start_coordinator(self, environment=None, limit=30):
        """Starts it, on the same ports when it is a restart; returns when it is bound.

        A port that another process uses is not a fault of the case: at the first start other ports are used, at a restart the harness waits for it.
        """
        is_first = self.control is None
        for attempt in range(10):
            try:
                return self._start_coordinator(environment, limit)
            except PortTaken as taken:
                print(f"port taken, attempt {attempt + 1}: {taken}", file=sys.stderr)
                if is_first:
                    self.control = self.work = None
                else:
                    time.sleep(1)
        raise Trouble("no port for the coordinator in ten attempts")

    def _start_coordinator(self, environment, limit):
        endpoints = self.data / "endpoints.json"
        endpoints.unlink(missing_ok=True)
        self.launch_coordinator(environment)

        def bound():
            if not self.coordinator.is_running:
                if "in use" in self.last_words():
                    self.coordinator.expected_end = True
                    raise PortTaken(self.last_words())
                raise Trouble(f"the coordinator ended with {self.coordinator.child.returncode}: {self.last_words()}")
            try:
                return json.loads(endpoints.read_text())
            except (OSError, ValueError):
                return None

        found = wait("the coordinator binds", bound, limit)
        self.control, self.work = found["control"], found["work"]

    def launch_coordinator(self, environment=None, options=()):
        # Ports that stay its own while it is down: one that the system chose may go to an outgoing connection meanwhile.
        self.control = self.control or f"tcp://{self.host}:{ports.take()}"
        self.work = self.work or f"tcp://{self.host}:{ports.take()}"
        arguments = ["coordinator", "--data", self.data, "--control", self.control]
        arguments += ["--work", self.work, "--lease-seconds", self.lease]
        arguments += ["--restart-grace-seconds", self.grace, "--log-level", "trace", "--log-format", "json"]
        # The judge counts blobs: nothing may be left for rebuilds. A program of before knows of no such thing.
        if "coordinator" not in self.programs:
            arguments += ["--keep-tiles", 0]
        self.coordinator = self._process("coordinator", [*arguments, *self.options, *options], environment)

    def start_worker(self, environment=None, name=None, options=()):
        name = name or f"w{len(self.workers) + 1}"
        through = self.work_through(self.work) if self.work_through else self.work
        arguments = ["worker", "--connect", through, "--blobs", self.blobs, "--name", name, "--log-level", "info"]
        worker = self._process(name, [*arguments, *self.worker_options, *options], environment)
        self.workers.append(worker)
        return worker

    def start(self, workers=2):
        self.start_coordinator()
        for _ in range(workers):
            self.start_worker()

    def _process(self, name, arguments, environment=None):
        number = len(self.everything)
        log = self.folder / "logs" / f"{number:03d}-{name}.log"
        process = Process(name, arguments, log, environment, self.prefixes.get(name, ()), self.programs.get(name, PROGRAM))
        self.everything.append(process)
        return process

    def restart_worker(self, worker, **options):
        self.workers.remove(worker)
        return self.start_worker(name=worker.name, **options)

    # Asking

    def ask(self, *arguments, limit=60, check=True):
        command = [*self.prefixes.get("cli", ()), str(PROGRAM), *map(str, arguments), "--coordinator", self.control]
        command += map(str, self.cli_options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit * PATIENCE, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise Trouble(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        return done

    def submit(self, tileset, area=("EE",), zoom="0-12", options=()):
        words = ["submit", *area, "--tileset", tileset, "--zoom", zoom, "--timeout", 30, *options]
        return int(self.ask(*words).stdout.split()[0])

    def status(self, job, limit=60):
        """The job; a coordinator that is down or degraded for the moment is asked again."""
        end = time.monotonic() + limit * PATIENCE
        while True:
            done = self.ask("status", job, "--json", "--failures", 5000, "--timeout", 5, check=False)
            if done.returncode == 0:
                return json.loads(done.stdout)
            if self.mourn and not self.coordinator.is_running:
                self.mourn()
            self.check_alive()
            if done.returncode not in (69, 75) or time.monotonic() > end:
                raise Trouble(f"status {job}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
            time.sleep(0.2)

    def wait_end(self, job, limit=90):
        """The job when it has ended."""
        end = time.monotonic() + limit * PATIENCE
        while True:
            status = self.status(job)
            if status["state"] in ("done", "failed", "cancelled"):
                return status
            self.check_alive()
            if time.monotonic() > end:
                shown = {key: status[key] for key in ("state", "settled", "tiles", "batches_done", "batches")}
                workers = self.ask("workers", check=False).stdout.strip()
                raise Trouble(f"job {job} did not end within {limit:g} s: {shown}\n{workers}")
            time.sleep(0.05)

    def wait_middle(self, job, low=0.1, high=0.9):
        """Waits until the share of settled batches is at least `low`."""
        def reached():
            status = self.status(job)
            if status["state"] != "fetching":
                raise Trouble(f"job {job} is {status['state']}: too fast for a fault in its middle")
            return status["batches_done"] >= low * status["batches"]

        wait(f"job {job} is at {low:.0%}", reached)

    def check_alive(self):
        for process in self.everything:
            if process.ended_by_itself():
                code = process.child.returncode
                process.expected_end = True
                raise Trouble(f"{process.name} ended by itself with {code}: {self.last_words(process)}")

    def last_words(self, process=None):
        lines = (process or self.coordinator).log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:])[-600:]

    def log_lines(self, process=None):
        """The coordinator's log as values."""
        for line in (process or self.coordinator).log.read_text(errors="replace").splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and "time" in value:
                yield value

    def end(self):
        """Ends every process, whatever state it is in."""
        for process in reversed(self.everything):
            if process.is_running:
                process.kill()


def run_in_thread(body):
    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread
