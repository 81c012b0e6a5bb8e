#!/usr/bin/env python3
"""Ports for servers that are started later, or stopped and started again: ops/ports.py [COUNT] prints them, one a line.

A port that the system chose (`bind` to 0) lies in the range of outgoing connections: while its server is down, any of those may get it. These lie
below that range. They are even, because a coordinator takes the port after that for workers for its blobs. As a module: `take()` also keeps other
harnesses on this machine away from a port for as long as the process lives.
Python's standard library only.
"""

import fcntl
import os
import random
import socket
import sys
import tempfile
from pathlib import Path

LOWEST = 10_000
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
FOLDER = Path(tempfile.gettempdir()) / f"packhorse-ports-{os.getuid()}"
held = []  # open lock files: they go with the process
chance = random.SystemRandom()


def highest():
    """The last port below the range of outgoing connections; Linux begins that at 32768 unless told otherwise."""
    try:
        return max(LOWEST + 1_000, int(RANGE.read_text().split()[0])) - 1
    except (OSError, ValueError, IndexError):
        return 32_767


def is_free(port, host="127.0.0.1"):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            return True
        except OSError:
            return False


def take(tries=1_000):
    """A port that nothing listens on and no other process has taken this way."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    for _ in range(tries):
        port = 2 * chance.randint(LOWEST // 2, (highest() - 1) // 2)
        lock = (FOLDER / str(port)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        if is_free(port):
            held.append(lock)
            return port
        lock.close()
    raise RuntimeError(f"no free port from {LOWEST} to {highest()} in {tries} tries")


if __name__ == "__main__":
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        print(take())
