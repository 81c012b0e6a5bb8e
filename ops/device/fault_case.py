"""One case of the fault table: a store, a disturbed command, its recovery, and the nine properties."""

import random
import shutil
import time

import properties
from harness import PATIENCE, Trouble
from properties import Broken, Watch
from scenarios import SCENARIOS, Device, said
from store_folder import progress_of

# Codes with which a command may end when its disk, server or network fails; 70 is a bug of ours, and so is a signal.
HONEST = {0, 64, 65, 66, 69, 73, 74, 75, 77, 78}
# Commands that a person gives after the fault, besides the disturbed one.
ATTEMPTS = 6

FAULTS = {}


def fault(name, nightly, short, limit=90):
    """Registers a fault. `nightly`, `short`: how many cases; a function of the plan where the calls decide it."""

    def register(body):
        FAULTS[name] = (body, nightly, short, limit)
        return body

    return register


class Case:
    """`plan`: the prepared world, as ops/device-faults made it."""

    def __init__(self, name, index, seed, folder, plan):
        self.name, self.index, self.folder, self.plan = name, index, folder, plan
        self.random = random.Random(f"{name} {index} {seed}")
        self.notes, self.cleanups, self.sabotage = [], [], {}
        self.watch = None
        folder.mkdir(parents=True)
        self.device = Device(plan.place, folder, plan.port, plan.program)

    # Setting up

    def begin(self, scenario, listener=None, quota=True, watch=True):
        """A copy of the prepared store next to the catalog that the command finds."""
        self.scenario, self.setup = scenario, SCENARIOS[scenario]
        self.reference = self.plan.references[scenario]
        template = self.plan.place / "templates" / scenario / "store"
        if template.exists():
            shutil.copytree(template, self.store.path, dirs_exist_ok=True)
        self.origin = self.device.serve(self.setup.stage, listener)
        self.observe(quota, watch)

    def observe(self, quota=True, watch=True):
        self.before = self.store.state()
        after = self.reference.state.current
        # A pack that is filled shows whichever tiles it has.
        self.known = {name: {unit.sha256 if unit else None for unit in (self.before.current.get(name), after.get(name))}
                      for name in {*self.before.current, *after}}  # fmt: skip
        slack = self.setup.quota_slack if quota else None
        limit = None
        if slack is not None:
            limit = self.reference.most + slack
            self.device.run("quota", "--bytes", limit, status=0)
        self.began = time.time()
        if watch:
            self.watch = Watch(self.store, self.before, self.known, self.sabotage.get("quota", limit))

    @property
    def store(self):
        return self.device.store

    def command(self, words=None):
        return self.device.words(self.setup, words)

    def disturb(self, environment=None, limit=90):
        """The command, to its end or death."""
        process = self.device.start(*self.command(), environment=environment)
        self.wait(process, limit)
        return process

    def wait(self, process, limit=90):
        """Until the process ends; dead by anything else than our SIGKILL is a bug, and so is exit code 70."""
        try:
            code = process.child.wait(limit * PATIENCE)
        except Exception as error:
            raise Trouble(f"{process.name} hangs: {said(process)}") from error
        if code != -9 and code not in HONEST:
            raise Trouble(f"{process.name} ended with {code}: {said(process)}")
        return code

    # After the fault

    def recover(self):
        """What an app does when the fault has ended: it runs the queue. A person retries a task that failed, and repeats a command that
        was never accepted."""
        state = properties.readable(self.store, self.before, self.known)
        properties.forward(self.before.sequences, state.sequences)
        self.do("after the fault")
        was_accepted = state.tasks > 0
        for attempt in range(ATTEMPTS):
            failed = self.work()
            if self.is_settled():
                return
            if failed:
                self.notes.append(f"retried: {failed[0]['reason']}")
                self.wait(self.device.start("retry", "--all", "--queue"))
            elif was_accepted and not attempt:
                raise Broken(2, f"the queue is empty, but the accepted task was not done: {self.store.state().units}")
            else:
                self.notes.append("repeated")
                self.wait(self.device.start(*self.command()))
        raise Broken(2, f"after {ATTEMPTS} attempts the queue is {self.device.json('tasks')}, the units {self.store.state().units}")

    def is_settled(self):
        state, wanted = self.store.state(), self.reference.state
        return state.is_idle and versions(state) == versions(wanted) and state.holds == wanted.holds

    def work(self, limit=60):
        """`device run --forever` until the queue is empty or waits for a person; returns the tasks that failed."""
        if not self.store.database.exists():
            return []
        process = self.device.start("run", "--forever", "--json")
        end = time.monotonic() + limit * PATIENCE
        looked = 0
        try:
            while True:
                if not process.is_running:
                    self.wait(process)
                    raise Broken(2, f"device run ended with {process.child.returncode}: {said(process)}")
                time.sleep(0.03)
                # A process that has only begun has not yet mended what it found.
                if "working" in process.log.read_text(errors="replace") and self.store.state(live=True).is_idle:
                    return []
                looked += 1
                has_failed = any(state == "failed" for _, state, _, _ in progress_of(lines_of(process)))
                if (has_failed or looked % 40 == 10) and (failed := self.failed()):
                    return failed
                if time.monotonic() > end:
                    raise Broken(2, f"the queue did not become empty within {limit} s: {self.device.json('tasks')}; {said(process)}")
        finally:
            process.stop()
            lines = lines_of(process)
            lines = self.sabotage["progress"](lines) if "progress" in self.sabotage else lines
            properties.true_progress(lines, sum(self.origin.sent().values()) if self.origin else 0)

    def paused(self, process):
        """Pauses everything, kills the process, and lets another one run: nothing is requested until the tasks are resumed."""
        is_known = self.store.database.exists() and self.store.state(live=True).tasks
        if is_known:
            self.wait(self.device.start("pause", "--all"))
        since = time.time() + 0.2
        time.sleep(0.4)
        process.kill()
        if is_known and self.store.state().tasks:
            run = self.device.start("run", "--forever")
            time.sleep(0.6)
            self.do("while paused")
            run.stop()
            properties.silent(self.origin, since)
            self.notes.append("paused")
            self.wait(self.device.start("resume", "--all"))

    def failed(self):
        return [task for task in self.device.json("tasks") if task["state"] == "failed"]

    def judge(self, twice=(), is_same=True):
        """Everything that must hold when nothing is under way any more."""
        self.do("before the judgement")
        if self.watch:
            self.watch.close()
        state = properties.readable(self.store, self.before, self.known)
        properties.forward(self.before.sequences, state.sequences)
        properties.forward(self.reference.state.sequences, state.sequences)
        if is_same:
            properties.settled(self.store, self.reference.digest, self.origin.url)
        if self.origin:
            properties.fetched_once(self.origin, twice)
        status = self.device.json("status")
        properties.accounted(self.store, status["usage"])
        damaged = [item for item in status["items"] if item["state"] == "damaged"]
        if damaged:
            raise Broken(1, f"damaged: {damaged}")

    def finish(self, **options):
        self.recover()
        self.judge(**options)

    def do(self, moment):
        """A deliberate wrong of the self-test at this moment."""
        if moment in self.sabotage:
            self.sabotage[moment](self)

    def close(self):
        if self.watch:
            self.watch.closed.set()
            self.watch.thread.join(10)
        self.device.close()
        for cleanup in reversed(self.cleanups):
            cleanup()


def versions(state):
    """What is listed; a pack that is filled has another version after each time."""
    return {(unit.name, "" if unit.is_filled else unit.version, unit.is_current) for unit in state.units}


def lines_of(process):
    return process.out.read_text(errors="replace").splitlines()
