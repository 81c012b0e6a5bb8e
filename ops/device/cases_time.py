"""Wall clocks that jump while a device works: ops/chaos/clock.c."""

import struct
import time

from fault_case import fault

HOUR, YEAR = 3600, 365 * 86400
JUMPS = (HOUR, -HOUR, YEAR, -YEAR)
SCENARIOS = ("install", "patch", "together", "packs", "filled")


@fault("the wall clock jumps", nightly=20, short=2)
def jumps(case):
    """In the middle of the command; the processes afterwards have the right time again."""
    seconds = JUMPS[case.index % 4]
    case.begin(SCENARIOS[case.index // 4 % 5])
    case.notes.append(f"{case.scenario}, {seconds} s")
    file = case.folder / "clock"
    file.write_bytes(struct.pack("<q", 0))
    case.origin.rate = 3_000_000
    process = case.device.start(*case.command(), environment={"LD_PRELOAD": str(case.plan.clock), "CHAOS_CLOCK": str(file)})
    time.sleep(0.15 + case.random.random() * 0.5)
    # In place: a new file would not be the file that is mapped.
    with file.open("r+b") as clock:
        clock.write(struct.pack("<q", seconds))
    case.origin.rate = None
    case.wait(process)
    case.finish()
