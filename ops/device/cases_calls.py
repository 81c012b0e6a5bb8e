"""A device that dies before or after its n-th call to the disk, or whose call fails; and one that dies at any time."""

import random
import signal
import time

from fault_case import fault
from harness import Trouble
from scenarios import SCENARIOS

ENDS = ("kill-before", "kill-after")
ERRORS = ("ENOSPC", "EIO", "EINTR")


# A scenario with more calls takes so many of them, evenly; the seed says where they begin.
MOST = 200


def every(plan, ends):
    """The calls of every scenario with every end."""
    return [(scenario, number, end) for scenario in SCENARIOS for number in numbers(plan, scenario) for end in ends]


def numbers(plan, scenario):
    calls = plan.references[scenario].calls["any"]
    step = max(1, calls / MOST)
    return sorted({1 + int((number * step + plan.seed % step) % calls) for number in range(min(calls, MOST))})


def chosen(case, ends):
    """The case of this index. The short form takes cases spread over all of them, others for another seed."""
    everything = every(case.plan, ends)
    random.Random(f"order {case.plan.seed}").shuffle(everything)
    return everything[case.index % len(everything)]


def disturb(case, ends):
    scenario, number, end = chosen(case, ends)
    case.notes.append(f"{scenario} {end} {number}")
    case.begin(scenario)
    process = case.disturb({"LD_PRELOAD": str(case.plan.failpoint), "CHAOS_FAIL": f"any:{number}:{end}"})
    if "chaos: now" not in process.log.read_text(errors="replace"):
        # The calls of two runs are not exactly as many.
        case.notes.append("never came")
    elif end in ENDS and process.child.returncode != -9:
        raise Trouble(f"the call {number} did not kill: {process.child.returncode}")
    case.finish()


@fault("killed before and after call n", nightly=lambda plan: len(every(plan, ENDS)), short=24)
def killed(case):
    disturb(case, ENDS)


@fault("ENOSPC, EIO, EINTR at call n", nightly=lambda plan: len(every(plan, ERRORS)), short=18)
def failed(case):
    disturb(case, ERRORS)


@fault("SIGKILL at a random time", nightly=300, short=6)
def at_any_time(case):
    """Every third time the tasks are paused before the death: then nothing is requested until they are resumed."""
    scenario = case.random.choice(list(SCENARIOS))
    case.notes.append(scenario)
    case.begin(scenario)
    case.origin.rate = 3_000_000
    process = case.device.start(*case.command())
    time.sleep(case.random.random() ** 2 * 1.2)
    if case.index % 3 == 0:
        case.paused(process)
    else:
        process.kill()
    case.origin.rate = None
    case.finish()


@fault("SIGSTOP for some seconds", nightly=20, short=1)
def stopped(case):
    """A process that is stopped in the middle loses nothing, and others read meanwhile."""
    case.begin(case.random.choice(["install", "patch", "filled"]))
    case.origin.rate = 3_000_000
    process = case.device.start(*case.command())
    time.sleep(case.random.random() * 0.8)
    process.signal(signal.SIGSTOP)
    time.sleep(2)
    process.signal(signal.SIGCONT)
    case.origin.rate = None
    case.wait(process)
    case.finish()
