"""How soon a program says something."""
import os
import statistics
import subprocess
import sys
import time

TURNS = 15


def start_of(words):
    """Milliseconds until a program says something, and milliseconds of processor time of its whole life."""
    start = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with child.stdout:
        first = os.read(child.stdout.fileno(), 1)
        end = time.monotonic()
        child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if not first or child.returncode != 0:
        sys.exit(f"bench: '{' '.join(words)}' ended with {child.returncode} and said {'something' if first else 'nothing'}")
    return (end - start) * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def median(program, words):
    """Milliseconds to the first byte, of processor time, and to that of /bin/echo, in turns; medians of TURNS."""
    found, others = [], []
    for _ in range(TURNS + 1):
        found.append(start_of([program, *words]))
        others.append(start_of(["/bin/echo", "x"])[0])
    # The first start reads the files from the disk.
    return (statistics.median(wall for wall, _ in found[1:]), statistics.median(cpu for _, cpu in found[1:]),
            statistics.median(others[1:]))
