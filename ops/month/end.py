"""What must be true at the end of the month, and that a fault in it would be seen. Python's standard library only."""
import json
import sqlite3

import history
from acceptance import Wrong, expect
from machines import PLACE


def truth(world):
    """Every published byte is right, devices have followed, and the history tells what happened."""
    firings = world.firings()
    without_job = sum(day[0] is None for day in world.days)
    states = {job: world.cluster.status(job)["state"] for job in world.jobs}
    history.check(firings, world.jobs, states, without_job)
    history.check_itself(firings, world.jobs, states, without_job)
    listed = json.loads(world.ask("jobs", "--json", "--limit", 1000))
    expect(sorted(job["job"] for job in listed) == world.jobs, "the list of jobs has others than those that were fired")
    expect(not world.findings(), f"health: {world.findings()}")
    world.check_live()
    world.check_device(world.store, "mbtiles")
    for file in (world.listed(world.live)["FR"][1]["pmtiles"], world.listed(world.live)["EE"][1]["mbtiles"]):
        refused_with_a_wrong_byte(file, world.check_live)
    installed = json.loads(world.run("device", "list", "--installed", "--store", world.store, "--json"))
    refused_with_a_wrong_byte(world.folder / installed[0]["file"], lambda: world.check_device(world.store, "mbtiles"))
    world.cluster.coordinator.stop()
    world.run("state", "check", "--data", world.cluster.data)
    copy = world.folder / "copy"
    world.run("state", "restore", PLACE, "--data", copy, "--s3-endpoint", world.bucket.url)
    world.run("state", "check", "--data", copy)
    expect(rows(copy) == rows(world.cluster.data), "the restored backup has other jobs or firings than the state")
    counts = {result: sum(firing["result"] == result for firing in firings) for result in ("published", "failed", "nothing-new")}
    return f"{len(firings)} firings: {counts}; {world.losses} coordinators lost; catalogs of {world.maps.used() >> 20} MB; faults at the end are seen"


def refused_with_a_wrong_byte(file, check):
    body = file.read_bytes()
    place = len(body) // 2
    file.write_bytes(body[:place] + bytes([body[place] ^ 1]) + body[place + 1:])
    try:
        check()
    except Wrong:
        return
    finally:
        file.write_bytes(body)
    raise Wrong(f"a wrong byte of {file.name} is not seen")


def rows(data):
    """The jobs, ended jobs and firings of a state file."""
    database = sqlite3.connect(f"{(data / 'state.sqlite').as_uri()}?mode=ro", uri=True)
    try:
        found = {table: database.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in ("job", "history", "firing")}
    finally:
        database.close()
    expect(found["firing"] and (found["job"] or found["history"]), f"{data} has no jobs or no firings")
    return found
