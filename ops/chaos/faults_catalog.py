"""Changes of a catalog that die at a call: promotions, rollbacks, and publications of all packages of a job together."""

import json
import os
import shutil
import subprocess
import threading
import time

from case import fault
from faults_calls import library, note, revive
from harness import PROGRAM, Trouble

# How often each call happens in one change of these catalogs; numbers beyond that never come, which is no fault.
CALLS = {"rename": 6, "link": 6, "fsync": 25, "unlink": 3, "mkdir": 5, "flock": 1, "any": 40}
TOGETHER = {"rename": 8, "link": 4, "fsync": 30, "unlink": 3, "mkdir": 5, "write": 60, "any": 90}


def order(case, calls):
    """A kill before or after a call: kinds in turn, small numbers as often as large ones."""
    kind = sorted(calls)[case.index % len(calls)]
    number = min(calls[kind], max(1, round(calls[kind] ** case.random.random())))
    text = f"{kind}:{number}:{case.random.choice(['kill-before', 'kill-after'])}"
    case.notes.append(text)
    return {"LD_PRELOAD": str(library(case)), "CHAOS_FAIL": text}


def index(catalog):
    """What clients see: each package with its newest version."""
    document = json.loads((catalog / "catalog.json").read_text())
    return {package["id"]: package["versions"][0]["version"] for package in document["packages"]}


def bytes_of(catalog):
    names = ("catalog.json", "packages.json", "versions.json", "promotion.json")
    return [(catalog / name).read_bytes() for name in names if (catalog / name).exists()]


def packhorse(*words, environment=None):
    return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=120, env=environment)


def list_of(case):
    """Packages of three places of the recorded world."""
    file = case.folder / "list.yaml"
    boxes = {"west": "22,58,24,59.2", "middle": "24.5,58.2,26,59.5", "east": "26.2,57.6,28,59.4"}
    file.write_text("[" + ", ".join(f"{{id: {name}, bbox: '{box}'}}" for name, box in boxes.items()) + "]")
    return file


def catalogs(case):
    """A live catalog, and a staging catalog with deeper tiles, one package of it in parts."""
    staging = case.folder / "staging"
    cluster = case.start(workers=2, latency=0, options=["--also-catalog", f"staging={staging}"])
    tileset, names = case.tileset(), list_of(case)
    for words in (["--zoom", "0-9"], ["--zoom", "0-12", "--max-file", "220kB", "--into", "staging"]):
        done = cluster.ask("submit", "--packages", names, "--tileset", tileset, *words, "--wait", "--progress", "none", limit=120)
        if done.returncode != 0:
            raise Trouble(f"submit: {done.stderr[-300:]}")
    parts = [name for name in index(staging) if name.split("-")[-1].isdigit()]
    if not parts:
        raise Trouble(f"no package of staging is in parts: {index(staging)}")
    case.watcher.close()
    cluster.check_alive()
    cluster.coordinator.stop()
    return cluster.catalog, staging


def change(case, live, words):
    """The change on a copy undisturbed, then killed on another copy: clients see the old or the new catalog, and the repeated command ends as the undisturbed one."""
    calm, tried = case.folder / "calm", case.folder / "tried"
    for copy in (calm, tried):
        shutil.copytree(live, copy)
    done = packhorse("catalog", *words(calm), "--patches-from", 0)
    if done.returncode != 0:
        raise Trouble(f"undisturbed: exit {done.returncode}: {done.stderr[-300:]}")
    old, new = (live / "catalog.json").read_bytes(), (calm / "catalog.json").read_bytes()
    if old == new:
        raise Trouble("the undisturbed command changed nothing")
    killed = packhorse("catalog", *words(tried), "--patches-from", 0, environment={**os.environ, **order(case, CALLS)})
    case.notes.append("carried out" if "chaos: now" in killed.stderr else "never came")
    if killed.returncode not in (0, -9):
        raise Trouble(f"killed: exit {killed.returncode}: {killed.stderr[-300:]}")
    case.healed()
    if (tried / "catalog.json").read_bytes() not in (old, new):
        raise Trouble("clients see neither the old nor the new catalog")
    again = packhorse("catalog", *words(tried), "--patches-from", 0)
    if again.returncode != 0:
        raise Trouble(f"again: exit {again.returncode}: {again.stderr[-300:]}")
    if bytes_of(tried) != bytes_of(calm):
        raise Trouble(f"the repeated command ended with {index(tried)}, the undisturbed one with {index(calm)}")
    for folder in (tried, calm):
        proven = packhorse("catalog", "verify", folder)
        if proven.returncode != 0:
            raise Trouble(f"verify {folder.name}: {proven.stdout[-300:]}{proven.stderr[-300:]}")


@fault("promotion dies at a call", cases=10, limit=180)
def promotion(case):
    """From one file to parts, with three packages."""
    live, staging = catalogs(case)
    change(case, live, lambda folder: ["promote", staging, folder])


@fault("rollback dies at a call", cases=10, limit=180)
def rollback(case):
    """From parts back to one file: the last promotion, or a named version."""
    live, staging = catalogs(case)
    done = packhorse("catalog", "promote", staging, live, "--patches-from", 0)
    if done.returncode != 0:
        raise Trouble(f"promote: exit {done.returncode}: {done.stderr[-300:]}")
    words = ["west", "east", "--to", 1] if case.index % 2 else []
    change(case, live, lambda folder: ["rollback", folder, *words])


@fault("publication together dies at a call", cases=14, limit=180)
def together(case):
    """The calls are counted from the moment when the first package waits for the others, so they are those of the publication."""
    cluster = case.start(workers=2, latency=0, grace=3)
    tileset, names = case.tileset(), list_of(case)
    words = ["submit", "--packages", names, "--tileset", tileset, "--together", "--timeout", 10]
    cluster.ask(*words, "--zoom", "0-8", "--wait", "--progress", "none", limit=120)
    old = index(cluster.catalog)
    if set(old.values()) != {1} or len(old) != 3:
        raise Trouble(f"the first job published {old}")
    new = {name: 2 for name in old}
    cluster.coordinator.stop()
    environment = {**order(case, TOGETHER), "CHAOS_ARMED": str(case.folder / "armed")}
    cluster.start_coordinator(environment)
    first = cluster.coordinator
    first.expected_end = True
    seen, ended = [], threading.Event()

    def watch():
        while not ended.is_set():
            found = index(cluster.catalog)
            if found not in seen:
                seen.append(found)
            time.sleep(0.002)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()

    def mourn():
        if cluster.coordinator is first:
            revive(case, first, cluster.start_coordinator)

    cluster.mourn = mourn
    job = int(cluster.ask(*words, "--zoom", "0-11").stdout.split()[0])
    end = time.monotonic() + 60
    while first.is_running and time.monotonic() < end:
        asked = cluster.ask("status", job, "--json", "--timeout", 2, check=False)
        if asked.returncode != 0:
            continue
        status = json.loads(asked.stdout)
        if any(package["state"] == "publishing" for package in status["packages"]):
            (case.folder / "armed").touch()
        if status["state"] in ("done", "failed"):
            break
    if not first.is_running:
        mourn()
    note(case, first)
    status = cluster.wait_end(job)
    case.measure()
    ended.set()
    watcher.join(10)
    if status["state"] != "done":
        raise Trouble(f"the job ended {status['state']}: {status.get('reason')}")
    if index(cluster.catalog) != new:
        raise Trouble(f"the catalog has {index(cluster.catalog)}")
    if any(found not in (old, new) for found in seen):
        raise Trouble(f"clients saw a part of the change: {seen}")
    case.watcher.close()
    proven = packhorse("catalog", "verify", cluster.catalog)
    if proven.returncode != 0:
        raise Trouble(f"verify: {proven.stdout[-300:]}{proven.stderr[-300:]}")
