"""Processes and what they cost."""
import os
import signal
import subprocess
import time


class Cost:
    """Wall seconds of the work, CPU seconds of all its processes over their whole lives, and each one's largest memory in MiB."""

    def __init__(self, wall, cpu, peaks):
        self.wall, self.cpu, self.peaks = wall, cpu, peaks

    @property
    def peak(self):
        return max(self.peaks.values())


class Process:
    """One process of ours, with an account of its own."""

    def __init__(self, name, *words, log=subprocess.DEVNULL, output=subprocess.DEVNULL, **more):
        self.name, self.words, self.usage = name, words, None
        self.child = subprocess.Popen([str(w) for w in words], stdout=output, stderr=log, **more)

    def peak(self):
        """Its largest memory so far, in MiB; of the program itself, not of what it was forked from."""
        try:
            with open(f"/proc/{self.child.pid}/status") as file:
                return next((int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")), 0)
        except OSError:
            return 0

    def wait(self, limit=1800):
        """Waits for its end; its exit code. Beyond `limit` seconds it is killed."""
        end, largest = time.monotonic() + limit, 0
        while True:
            largest = max(largest, self.peak())
            pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                self.child.kill()
            time.sleep(0.005 if time.monotonic() - end + limit < 1 else 0.02)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        self.usage = (usage.ru_utime + usage.ru_stime, largest or usage.ru_maxrss / 1024)
        return self.child.returncode

    def stop(self):
        """Asks it to end, and waits."""
        if self.usage is None:
            self.final_peak = self.peak()
            self.child.send_signal(signal.SIGTERM)
            self.wait(60)

    @property
    def cpu(self):
        return self.usage[0]


def run(name, *words, limit=1800, log=subprocess.DEVNULL, **more):
    """Runs one process to its end and returns its cost; any other exit code than 0 is an error."""
    start = time.monotonic()
    process = Process(name, *words, log=log, **more)
    code = process.wait(limit)
    wall = time.monotonic() - start
    if code:
        raise RuntimeError(f"{name} ended with {code}: {' '.join(str(w) for w in words)[:300]}")
    return Cost(wall, process.cpu, {name: process.usage[1]})


def warm(folder, mebibytes=900):
    """Writes a file and removes it.

    A virtual machine whose host takes free memory back pays for the first touch of each page, ten times what writing costs otherwise
    (measured: 0.65 s instead of 0.05 s for 256 MiB); so every program starts with pages that have been touched.
    """
    path, block = f"{folder}/warm", os.urandom(1 << 16)
    with open(path, "wb", buffering=0) as file:
        for _ in range(mebibytes * 16):
            file.write(block)
    os.remove(path)
