"""One deliberate wrong for each of the nine properties: a check that does not find it is broken. And one run without a wrong."""

import json
import sqlite3
import time
import urllib.request

import fault_table
from fault_case import fault
from harness import Trouble, wait


def flip(case):
    """1: a byte of a map that is readable changes."""
    unit = case.store.state().current["package|LI|-|-|mbtiles"]
    file = case.store.path / unit.path
    body = bytearray(file.read_bytes())
    body[len(body) // 2] ^= 1
    file.write_bytes(body)


def leave_file(case):
    """2, 4: a file that no row names, in a folder that no process clears."""
    (case.store.path / "filling").mkdir(exist_ok=True)
    (case.store.path / "filling" / "left").write_bytes(bytes(1000))


def lose_download(case):
    """3: what was downloaded is lost, and comes again."""
    for part in (case.store.path / "parts").glob("*.part"):
        part.unlink()


def hide_map(case):
    """5: a map is away for a moment."""
    file = case.store.path / case.store.state().current["package|LI|-|-|mbtiles"].path
    hidden = file.with_suffix(".hidden")
    file.rename(hidden)
    time.sleep(0.5)
    hidden.rename(file)


def set_back(case):
    """6: the store forgets that it saw a newer catalog."""
    database = sqlite3.connect(case.store.database)
    database.execute("UPDATE catalog SET sequence = sequence - 1")
    database.commit()
    database.close()


def fill(case):
    """7: more is stored than the quota allows."""
    file = case.store.path / "units" / "more"
    file.write_bytes(bytes(case.watch.quota))
    time.sleep(0.3)
    file.unlink()


def fall(lines):
    """8: a progress that falls."""
    task = {"task": 1, "state": "downloading", "fraction": 0.5, "transferred": 10}
    return [*lines, json.dumps({"task": task}), json.dumps({"task": {**task, "fraction": 0.4}})]


def ask(case):
    """9: a request while everything is paused."""
    urllib.request.urlopen(case.origin.url + "catalog.json", timeout=10).read()


def killed(case):
    """A device that dies at 80 % of its download, and recovers."""
    case.begin("install")
    # The last fifth takes a second: a busy machine looks in time.
    case.origin.rate = 500_000
    process = case.device.start(*case.command())
    wait("80 % are there", lambda: case.store.parts() >= 1_800_000)
    process.kill()
    case.origin.rate = None
    case.finish(is_same=case.sabotage.get("is_same", True))


def paused(case):
    case.begin("install")
    case.origin.rate = 1_000_000
    process = case.device.start(*case.command())
    wait("20 % are there", lambda: case.store.parts() >= 400_000)
    case.paused(process)
    case.origin.rate = None
    case.finish()


WRONGS = [
    (None, killed, {}),
    (None, paused, {}),
    (1, killed, {"before the judgement": flip}),
    (2, killed, {"before the judgement": leave_file}),
    (3, killed, {"after the fault": lose_download}),
    (4, killed, {"before the judgement": leave_file, "is_same": False}),
    (5, killed, {"after the fault": hide_map}),
    (6, killed, {"before the judgement": set_back}),
    (7, killed, {"after the fault": fill}),
    (8, killed, {"progress": fall}),
    (9, paused, {"while paused": ask}),
]


def try_one(number, folder):
    """The verdict about the wrong of this place in the list; in the pool."""
    _, body, sabotage = WRONGS[number]
    return fault_table.run_one("a wrong on purpose", number, fault_table.PLAN.seed, folder / f"wrong-{number}", sabotage, body)


def run(plan, folder, jobs):
    """Tries all of them; returns how many checks did not find their wrong."""
    failed = 0
    with fault_table.pool(plan, jobs) as pool:
        for number, verdict in enumerate(pool.map(try_one, range(len(WRONGS)), [folder] * len(WRONGS))):
            wanted = WRONGS[number][0]
            good = verdict["ok"] if wanted is None else verdict.get("number") == wanted
            failed += not good
            what = "no property is broken" if wanted is None else f"property {wanted} is found broken"
            print(f"{'ok' if good else 'FAILED':7} {what}: {verdict['words'] or 'all hold'}"[:300], flush=True)
    print(f"self-test: {failed} of {len(WRONGS)} failed", flush=True)
    return failed


@fault("a wrong on purpose", nightly=0, short=0, limit=120)
def no_case(case):
    raise Trouble("this fault has no cases of its own")
