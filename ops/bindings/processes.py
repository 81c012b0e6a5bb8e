"""How a Python process with open maps ends, forks and is interrupted: processes.py FOLDER CATALOG KEY COMMAND

The maps are not closed by these programs: that is what ops/bindings-test looks at.
"""
import multiprocessing
import os
import pathlib
import signal
import sys
import threading
import time
import traceback

import offlinemaps
from offlinemaps import Maps


def say(*words):
    print(*words, flush=True)


def under_way(maps):
    """A download that has received bytes and has not ended."""
    download = maps.download("photos", style="plain")
    while not (progress := download._shown.get()).transferred > 100_000:
        assert progress.state not in offlinemaps._download.ENDS, progress
    return download


def code(call, *arguments):
    try:
        return call(*arguments) or "no error"
    except offlinemaps.OfflineMapsError as error:
        return f"{error.code}: {error.message}"


def in_child(start, call, *arguments):
    """What a child process makes of the call."""
    there, here = start.Pipe()
    child = start.Process(target=reply, args=(here, call, *arguments))
    child.start()
    here.close()
    said = there.recv()
    child.join()
    return child.exitcode, said


def reply(pipe, call, *arguments):
    pipe.send(code(call, *arguments))


def opens(folder, *words):
    with Maps(folder, *words) as maps:
        return f"opened {len(maps.installed())}"


def forks(maps, words):
    fork, spawn = (multiprocessing.get_context(name) for name in ("fork", "spawn"))
    say("used", *in_child(fork, maps.installed))
    say("opened", *in_child(fork, opens, *words))
    say("closed", *in_child(fork, maps.close))
    say("spawned", *in_child(spawn, opens, *words))
    if not (child := os.fork()):
        sys.exit(7)  # an end with all that Python does at an end
    say("exit", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    say("parent", len(maps.installed()))


def arguments(maps, words):
    for name, call in {
        "folder": lambda: Maps(None, *words[1:]), "path": lambda: Maps(os.fsencode(words[0]), *words[1:]), "key": lambda: Maps(words[0], words[1], None),
        "max_age": lambda: maps.catalog(1.5), "package": lambda: maps.download(None), "style": lambda: maps.download("photos", 5),
        "removed": lambda: maps.remove(b"photos"), "zoom": lambda: maps.tile(0.5, 0, 0), "text": lambda: maps.search(1),
    }.items():
        try:
            call()
            say(name, "is taken")
        except TypeError as error:
            say(name, error)
    say("zero", code(maps.remove, "pho\0tos"))
    say("surrogate", code(maps.remove, "\ud800"))
    say("a path", code(opens, pathlib.Path(words[0]), *words[1:]))


def waits(call, place):
    """Gets SIGINT when the main thread is in the function `place`, in the call."""
    main = threading.main_thread().ident

    def interrupt():
        while place not in [frame.f_code.co_name for frame, _ in traceback.walk_stack(sys._current_frames()[main])]:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        call()
    except KeyboardInterrupt:
        say("interrupted")


def main(*words):
    *words, command = words
    maps = Maps(*words)
    if command == "forks":
        forks(maps, words)
    elif command == "arguments":
        arguments(maps, words)
    elif command == "catalog":
        waits(lambda: maps.catalog(0), "_interruptible")
    elif command == "left":
        maps.download("photos", style="plain")
        while "photos" not in {item["item"]["id"] for item in maps.installed()}:
            time.sleep(0.05)
        say("installed")
    else:
        global held
        held = under_way(maps)
        say("under way")
        if command == "wait":
            waits(held.wait, "call")
        elif command == "loop":
            waits(lambda: list(held), "__iter__")
        elif command == "thread":
            threading.Thread(target=code, args=(held.wait,), daemon=True).start()
        elif command == "with":
            with held:
                pass
            say(code(held.wait))
        elif command == "raises":
            raise ValueError("of the test")
        elif command == "exits":
            sys.exit(3)
        else:
            assert command == "ends", command


if __name__ == "__main__":
    main(*sys.argv[1:])
