"""A small disk that becomes full in the middle, and is freed again; and bits that flip in files of a store."""

import os
import signal
import subprocess
import time

import properties
from case import Skip
from cases_processes import viewed
from fault_case import fault
from harness import Trouble

# When: the share of the calls of the undisturbed run that came before. How much is left then, in bytes.
PHASES = (0.1, 0.4, 0.7, 0.95)
LEFT = (0, 64 << 10, 512 << 10)
# A task begins only with 64 MiB free besides what it needs.
ROOMY = 160 << 20


def mount(case):
    if os.geteuid() != 0:
        raise Skip("a small disk needs root")
    case.store.path.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOMY}", "tmpfs", case.store.path], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    case.cleanups.append(lambda: subprocess.run(["umount", "-l", case.store.path], check=False))


def resize(case, size):
    done = subprocess.run(["mount", "-o", f"remount,size={size}", case.store.path], capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"remount: {done.stderr.strip()}")


def shrink(case, left):
    """To what is used and a little more; a thread that is not yet stopped may use more meanwhile."""
    for attempt in range(5):
        status = os.statvfs(case.store.path)
        try:
            return resize(case, (status.f_blocks - status.f_bfree) * status.f_frsize + left)
        except Trouble:
            if attempt == 4:
                raise
            time.sleep(0.05)


@fault("the disk becomes full", nightly=12, short=2, limit=200)
def full(case):
    """The process is stopped before a call; meanwhile its disk shrinks to what is used and a little more."""
    phase, left = PHASES[case.index % 4], LEFT[case.index // 4 % 3]
    case.notes.append(f"{left} bytes left at {phase:.0%}")
    mount(case)
    case.begin(case.random.choice(["install", "patch", "packs", "filled"]))
    number = max(1, round(phase * case.reference.calls["any"]))
    process = case.device.start(*case.command(), environment={"LD_PRELOAD": str(case.plan.failpoint), "CHAOS_FAIL": f"any:{number}:stop"})
    end = time.monotonic() + 20
    while process.is_running and "chaos: now" not in process.log.read_text(errors="replace") and time.monotonic() < end:
        time.sleep(0.005)
    shrink(case, left)
    process.signal(signal.SIGCONT)
    code = case.wait(process)
    case.notes.append(f"exit {code}")
    properties.readable(case.store, case.before, case.known)
    resize(case, ROOMY)
    case.finish()


TARGETS = ("store", "unit", "unit.json", "part", "ambient")


@fault("a bit flips in a file", nightly=500, short=5, limit=200)
def flipped(case):
    """Other maps stay readable, no process dies, and after `repair` and one more installation everything is as it was."""
    target = TARGETS[case.index % len(TARGETS)]
    case.begin("style" if target == "ambient" else "install", quota=False, watch=False)
    file = victim(case, target)
    body = bytearray(file.read_bytes())
    place, bit = case.random.randrange(len(body)), case.random.randrange(8)
    body[place] ^= 1 << bit
    file.write_bytes(body)
    case.notes.append(f"{target}: bit {bit} of byte {place} of {len(body)}")
    HEAL[target](case)


def victim(case, target):
    store = case.store.path
    if target == "part":
        # Half of the package is there; the server sends the other half afterwards.
        case.device.run(*case.command(), "--queue", status=0)
        path = case.plan.files["package"]
        body = case.origin.truth[path][2]
        digest = case.reference.state.current["package|LV|-|-|mbtiles"].sha256
        (store / "parts" / f"{digest}.part").write_bytes(body[: len(body) // 2])
        return store / "parts" / f"{digest}.part"
    if target == "ambient":
        case.device.run(*case.command(), status=0)
        viewed(case)
        return store / "ambient.sqlite"
    if target == "store":
        return store / "store.sqlite"
    found = next((store / "units").rglob("*.mbtiles" if target == "unit" else "unit.json"))
    return found


def heal_part(case):
    """Its bytes are found wrong once, and come again."""
    case.work()
    case.finish(twice={case.plan.files["package"]})


def heal_unit(case):
    """`verify` finds it, `repair` mends it, an installation brings it back."""
    if case.wait(case.device.start("verify", "--deep")) != 65:
        raise Trouble("verify --deep did not find the flipped bit")
    reinstall(case)


def heal_document(case):
    """The document is read only when the database is lost."""
    case.wait(case.device.start("verify", "--deep"))
    reinstall(case, is_same=False)


def heal_store(case):
    """A bit in a page without a meaning is not found; otherwise the database is made again."""
    case.wait(case.device.start("verify", "--deep"))
    reinstall(case, is_same=False)


def heal_ambient(case):
    viewed(case)
    case.watch = None
    case.judge()


def reinstall(case, is_same=True):
    case.wait(case.device.start("repair"))
    for words in (("install", "LI"), case.setup.words):
        case.wait(case.device.start(*case.command(words)))
    case.work()
    # Whatever the rows said, what is listed now is whole.
    case.device.run("verify", "--deep", status=0)
    for unit in case.store.state().units:
        problem = case.store.unreadable(unit)
        if problem:
            raise properties.Broken(1, problem)
    missing = set(case.reference.state.current) - set(case.store.state().current)
    if missing:
        raise properties.Broken(1, f"after repair and installation {missing} is missing")
    if is_same:
        properties.settled(case.store, case.reference.digest, case.origin.url)


HEAL = {"store": heal_store, "unit": heal_unit, "unit.json": heal_document, "part": heal_part, "ambient": heal_ambient}
