"""The commands of ops/bindings-test in Python: drive.py FOLDER CATALOG KEY COMMAND [ARGUMENT...]"""
import json
import os
import sys

import offlinemaps


def show(progress):
    print(f"progress {progress.fraction:.3f} {progress.transferred} {progress.state.value} {progress.text}", flush=True)


def ends(call, code):
    """The call must end with this error; a process that waits for ever would not end."""
    try:
        call()
    except offlinemaps.OfflineMapsError as error:
        if error.code == code:
            return
        raise
    raise AssertionError(f"not the error {code}")


def run(maps, command, words):
    if command == "get":
        download = maps.download(words[0], style=words[1])
        for progress in download:
            show(progress)
        ends(lambda: list(download), "wrong-state")
        print("done")
    elif command == "cancel":
        download = maps.download(words[0], style=words[1])
        for progress in download:
            show(progress)
            if progress.transferred > 100_000:
                download.cancel()
    elif command == "update":
        for progress in maps.update():
            show(progress)
        print("done")
    elif command == "tile":
        tile = maps.tile(*map(int, words))
        if tile is None:
            print("error absent", file=sys.stderr)
            return 2
        sys.stdout.buffer.write(tile.body)
    elif command == "style":
        print(json.dumps(maps.style(*words)))
    elif command == "installed":
        print(json.dumps(maps.installed()))
    elif command == "updates":
        maps.catalog(0)
        print(json.dumps(maps.updates()))
    elif command == "verify":
        print(json.dumps(maps.verify()))
    elif command == "search":
        maps.catalog()
        print(json.dumps(maps.search(words[0])))
    elif command == "remove":
        maps.remove(words[0])
    else:
        return 64
    return 0


def main(folder, catalog, key, command, *words):
    try:
        with offlinemaps.Maps(folder, catalog, key, token=os.environ.get("CATALOG_TOKEN")) as maps:
            return run(maps, command, words)
    except offlinemaps.OfflineMapsError as error:
        print("error", error.code, error.message, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
