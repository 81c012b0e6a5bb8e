"""Time that goes wrong: a worker twenty times slower than others, and wall clocks that jump."""

import signal
import struct
import threading
import time
from pathlib import Path

from case import fault
from faults_calls import library
from faults_processes import executed_twice
from harness import Trouble, run_in_thread

CLOCK = Path(__file__).with_name("clock.c")


def throttle(process, share, over):
    """Lets a process run for that share of the time, in turns of a fifth of a second, until the event."""
    def turns():
        while process.is_running and not over.is_set():
            process.signal(signal.SIGSTOP)
            over.wait(0.2 * (1 - share))
            process.signal(signal.SIGCONT)
            time.sleep(0.2 * share)

    return run_in_thread(turns)


@fault("one worker of three at a twentieth of its speed", cases=2, limit=180)
def slow_worker(case):
    """Its batches come late or as speculative leases; no process waits forever, and none of its leases is lost by mistake."""
    cluster = case.start(workers=3, lease=4)
    over = threading.Event()
    turns = throttle(cluster.workers[0], 1 / 20, over)
    try:
        job = case.submit()
        cluster.wait_end(job, 170)
    finally:
        over.set()
        turns.join(10)
    case.finish(job)


def jumps(seconds, role):
    words = f"{abs(seconds) // 3600} h {'forward' if seconds > 0 else 'back'}"

    @fault(f"wall clock of the {role} jumps {words}", cases=1)
    def body(case):
        """Leases and grants live on the monotonic clock: nothing ends early, and no batch runs again."""
        file = case.folder / "clock"
        file.write_bytes(struct.pack("<q", 0))
        wrong = {"LD_PRELOAD": str(library(case, CLOCK)), "CHAOS_CLOCK": str(file)}
        cluster = case.start(workers=0, grace=30)
        if role == "coordinator":
            cluster.coordinator.stop()
            cluster.start_coordinator(wrong)
        for _ in range(2):
            cluster.start_worker(wrong if role == "worker" else None)
        job = case.submit()
        cluster.wait_middle(job, case.random.uniform(0.1, 0.5))
        # In place: a new file would not be the file that is mapped.
        with file.open("r+b") as clock:
            clock.write(struct.pack("<q", seconds))
        # The coordinator's log carries the wrong time too: no recovery is told.
        if role == "worker":
            case.healed()
        case.finish(job)
        shown = list(cluster.log_lines(cluster.everything[1]))[-1]["time"] if role == "coordinator" else None
        if shown and abs(seconds) >= 86_400 and shown[:10] == time.strftime("%Y-%m-%d", time.gmtime()):
            raise Trouble(f"the clock did not jump: {shown}")
        again = executed_twice(case)
        if again:
            raise Trouble(f"{len(again)} tiles were fetched again: {again[:3]}")


for hours in (1, -1, 24, -24):
    for role in ("coordinator", "worker"):
        jumps(hours * 3600, role)
