"""Runs a table of months, or of days, on one world, and prints a line for each. Python's standard library only."""
import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import world as worlds
from acceptance import Wrong, leave

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = (Wrong, worlds.harness.Trouble, OSError, ValueError, KeyError, subprocess.TimeoutExpired)


def arguments(usage):
    """The options that every such script has."""
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("--program", type=Path, default=ROOT / ".build/release/packhorse")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the scratch folder")
    return parser


def play(name, chosen, make_world, table, after=None):
    """Ends the process: with 0 when every row of the table passed, and `after`, which gets the world.

    A row is the kind of its source, or None, and a function; world.number counts the rows from 1.
    """
    folder, began = Path(tempfile.mkdtemp(prefix=f"packhorse-{name}-")), time.monotonic()
    world, failed, title, number = None, False, "start", 0
    # The world is closed then too: it may have mounted disks.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        world = make_world(folder)
        for number, (kind, body) in enumerate(table, 1):
            started, world.number, title = time.monotonic(), number, body.__doc__
            tiles = world.planet.month(number)
            if kind:
                world.publish(kind, tiles, number)
            note = world.run_row(body, tiles)
            world.sources.delay = 0
            print(f"ok {number:2}  {kind or '-':11}  {title} ({time.monotonic() - started:.0f} s)" + (f"; {note}" if note else ""), flush=True)
        title = "the end"
        if after:
            print(f"ok      {after(world)}", flush=True)
    except PROBLEMS as problem:
        failed = True
        print(f"FAILED {number:2}  {title} -- {type(problem).__name__}: {problem}", flush=True)
    finally:
        leave(world, folder, chosen.keep)
    print(f"{name}: {'failed' if failed else f'all {len(table)} passed'} in {time.monotonic() - began:.0f} s")
    sys.exit(1 if failed else 0)
