"""What scripts of acceptance checks share: a check is a function whose docstring is its title; it ends, raises Wrong, or raises Skip.

Python's standard library only.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile
import time


class Skip(Exception):
    """A check that cannot run here, and why."""


class Wrong(Exception):
    """What a check found."""


def expect(condition, text):
    if not condition:
        raise Wrong(text)


def wait(what, condition, seconds=60, pause=0.05):
    """Asks until the condition is true, and returns what it returned."""
    end = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        expect(time.monotonic() < end, f"{what} did not happen within {seconds} s")
        time.sleep(pause)


def leave(world, folder, keep):
    """Closes the world, when there is one, and removes its scratch folder, unless that is kept."""
    if world:
        world.close()
    if keep:
        print(f"kept {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


def main(name, checks, make_world, root, options=()):
    """Runs the checks of a table {number: function} on one world, prints a line for each, and ends the process.

    options are pairs (flag, help) of further switches; make_world(folder, program, options) returns an object with close().
    """
    parser = argparse.ArgumentParser(usage=f"ops/{name} [--program FILE] [--keep] [NUMBER...]")
    parser.add_argument("--program", type=pathlib.Path, default=root / ".build/release/packhorse")
    parser.add_argument("--keep", action="store_true", help="keep the scratch folder")
    for flag, text in options:
        parser.add_argument(flag, action="store_true", help=text)
    parser.add_argument("numbers", type=int, nargs="*")
    chosen = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"packhorse-{name}-"))
    failed = 0
    world = None
    try:
        world = make_world(folder, chosen.program.resolve(), chosen)
        for number, check in sorted(checks.items()):
            if chosen.numbers and number not in chosen.numbers:
                continue
            began, title = time.monotonic(), check.__doc__.strip().splitlines()[0]
            try:
                check(world)
                print(f"ok {number:2}  {title} ({time.monotonic() - began:.0f} s)", flush=True)
            except Skip as reason:
                print(f"skipped {number:2}  {title} -- {reason}", flush=True)
            except (Wrong, OSError, ValueError, KeyError, TypeError, RuntimeError) as problem:
                failed += 1
                print(f"FAILED {number:2}  {title} -- {type(problem).__name__}: {problem}", flush=True)
    finally:
        leave(world, folder, chosen.keep)
    print(f"{name}: {failed} of {len(chosen.numbers or checks)} failed")
    sys.exit(1 if failed else 0)
