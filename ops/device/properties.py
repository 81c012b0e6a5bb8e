"""The nine properties that hold after every case of the fault table (design of OfflineMaps, section 7), each a function that raises Broken."""

import dataclasses
import threading
import time

from harness import Trouble
from store_folder import first_tile, progress_of

# Bytes of each file that may come twice.
TWICE = 1 << 20


class Broken(Trouble):
    """A property that did not hold."""

    def __init__(self, number, words):
        super().__init__(f"property {number}: {words}")
        self.number = number


def readable(folder, before, known):
    """1: what was readable before is readable, in a version that is the old or the new one; a unit shows one version.

    `known`: the versions (SHA-256) that a unit may show: those before, and those of the undisturbed run. None: it may be gone.
    """
    state = folder.state()
    shown = {}
    for unit in state.units:
        if unit.is_current:
            shown.setdefault(unit.name, []).append(unit)
    for name, units in shown.items():
        if len(units) > 1:
            raise Broken(1, f"{name} shows the versions {[unit.version for unit in units]}")
        allowed = known.get(name)
        if allowed is None or not units[0].is_filled and units[0].sha256 not in allowed:
            raise Broken(1, f"{name} shows the version {units[0].version}, {units[0].sha256[:8]}, which is neither old nor new")
        problem = folder.unreadable(units[0])
        if problem:
            raise Broken(1, problem)
    for name in before.current:
        if name not in shown and None not in known.get(name, ()):
            raise Broken(1, f"{name} was readable and is gone")
    return state


def settled(folder, expected, base=""):
    """2: the queue is empty, and the folder is that of the undisturbed run."""
    state = folder.state()
    if not state.is_idle:
        raise Broken(2, f"the queue has {state.tasks} tasks, {state.requests} requests")
    found = folder.digest(base)
    if found != expected:
        lines = [f"+ {key} {found[key]}"[:200] for key in found if found[key] != expected.get(key)]
        lines += [f"- {key} {expected[key]}"[:200] for key in expected if key not in found]
        raise Broken(2, "the folder differs: " + "; ".join(lines[:6]))


def fetched_once(origin, allowed=()):
    """3: at most 1 MiB of each file came twice; `allowed`: paths whose bytes were wrong once and had to come again."""
    for path, sent in origin.sent().items():
        size = len(origin.truth.get(path, (404, {}, b""))[2])
        limit = size * (2 if path in allowed else 1) + TWICE
        if path.startswith(("/packages/", "/patches/", "/packs/", "/styles/")) and sent > limit:
            raise Broken(3, f"{path} has {size} bytes; {sent} were sent")


def accounted(folder, usage):
    """4: the space that is used is what `status` says."""
    found = folder.bytes()
    if found != usage["total"]:
        raise Broken(4, f"the files have {found} bytes, status says {usage['total']}: {folder.files()} {usage}")


def forward(before, after):
    """6: no sequence of a catalog went back."""
    for source, sequence in before.items():
        if after.get(source, 0) < sequence:
            raise Broken(6, f"the sequence of {source} was {sequence} and is {after.get(source, 0)}")


def true_progress(lines, sent, ended_well=True):
    """8: it never falls, never exceeds one, a task that is done has all, and no more bytes came than were sent."""
    last = {}
    for task, state, fraction, transferred in progress_of(lines):
        was = last.get(task, (0, 0))
        if not 0 <= fraction <= 1 or fraction < was[0]:
            raise Broken(8, f"the progress of task {task} is {fraction} after {was[0]}")
        if state == "done" and ended_well and fraction != 1:
            raise Broken(8, f"task {task} is done at {fraction}")
        if transferred < was[1] or transferred > sent:
            raise Broken(8, f"task {task} says that {transferred} bytes came after {was[1]}; {sent} were sent")
        last[task] = (fraction, transferred)


def silent(origin, since, until=None):
    """9: nothing was requested in that time."""
    asked = [answer.path for answer in origin.since(since) if until is None or answer.time < until]
    if asked:
        raise Broken(9, f"{len(asked)} requests while offline or paused: {asked[:3]}")


@dataclasses.dataclass
class Watch:
    """A reader that looks all the time (5), and the space that is used, compared with the quota (7), until `close`."""

    folder: object
    before: object
    known: dict
    quota: int | None = None

    def __post_init__(self):
        self.problem, self.most, self.looks, self.closed = None, 0, 0, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.closed.is_set() and self.problem is None:
            try:
                self.look()
                self.looks += 1
            except Broken as broken:
                self.problem = broken
            except Exception as error:
                self.problem = Broken(5, f"a reader got {type(error).__name__}: {error}")
            self.closed.wait(0.03)

    def look(self):
        """One reading of each unit as another process does it: the row, then a file that is opened as immutable."""
        used = sum(size for path, size in self.folder.files().items() if not path.endswith("/unit.json"))
        self.most = max(self.most, used)
        if self.quota is not None and used > self.quota:
            raise Broken(7, f"{used} bytes are used; the quota is {self.quota}")
        for name, old in self.before.current.items():
            for _ in range(3):
                unit = self.folder.state(live=True).current.get(name)
                if unit is None or self._reads(unit):
                    break
            else:
                raise Broken(5, f"a reader of {name} found {unit.path} missing or unreadable three times")
            if unit is None and None not in self.known.get(name, ()):
                raise Broken(5, f"a reader found no {name}")
            if unit is not None and not unit.is_filled and unit.sha256 not in self.known[name]:
                raise Broken(5, f"a reader found the version {unit.version} of {name}, which is neither old nor new")

    def _reads(self, unit):
        file = self.folder.path / unit.path
        if not file.suffix == ".mbtiles":
            return file.is_file()
        try:
            return unit.is_filled or first_tile(file) is not None
        except Exception:
            # It was replaced since its row was read: the row is read again, as a reader does on ENOENT.
            time.sleep(0.005)
            return False

    def close(self):
        self.closed.set()
        self.thread.join(30)
        if self.problem:
            raise self.problem
