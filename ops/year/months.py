"""The months of the year: each has a build at another kind of source, and something goes wrong. ops/month uses them as days.

A month is a function that gets the world and the true tiles; its docstring says what happens, and it may return a note.
"""
import json

import world as worlds
from acceptance import Wrong, expect, wait

MONTHS = []


def month(kind):
    """A month with a build at this kind of source; the docstring says what happens."""

    def register(body):
        MONTHS.append((kind, body))
        return body

    return register


def promote(world, tiles):
    """Staging is right, is promoted, and the live catalog is the same."""
    world.check_catalog(world.staging, tiles, "staging")
    world.promote()
    world.is_live(tiles)
    world.check_live()


def go_live(world, tiles, change_graphs=True):
    """Staging is right, is compared, promoted, and followed by the device."""
    if change_graphs and world.graphs:
        world.change_graphs()
    promote(world, tiles)
    world.update_device()


def go_live_by_patches(world, tiles, disturb):
    """The same, when patches are there, with servers that are disturbed; what they sent."""
    world.change_graphs()
    promote(world, tiles)
    world.wait_for_patches()
    world.sites.calm()
    disturb(world.sites)
    told = world.finish("device", "update", "--store", world.store).stderr
    world.check_device(world.store, "mbtiles")
    whole, patches = world.sites.sent("/packages/"), world.sites.sent("routing-valhalla/patches/")
    expect(patches and not [path for path, _ in whole if "routing-valhalla" in path], f"whole graphs were sent: {whole}")
    return told, f"{sum(size for _, size in patches)} bytes of patches for {sum(map(len, world.graphs.values()))} of graphs"


@month("pattern")
def first(world, tiles):
    """the first build; the device installs five regions"""
    world.rebuild()
    go_live(world, tiles)
    try:
        world.check_catalog(world.staging, world.planet.month(2), "staging")
    except Wrong as seen:
        return f"the oracle sees another month ({seen})"
    raise Wrong("the oracle took the tiles of another month")


@month("index")
def worker_dies(world, tiles):
    """a worker is killed in the middle; routing graphs are attached, and the device that installs them is killed"""
    def disturb(job):
        world.middle(job)
        world.cluster.workers[0].kill()
        world.cluster.restart_worker(world.cluster.workers[0])

    world.rebuild(disturb)
    world.change_graphs()
    go_live(world, tiles, change_graphs=False)
    words = ["device", "install", *worlds.ROUTED, "--with", "routing", "--store", world.store]
    interrupted = sum(world.killed(*words, within=0.3) for _ in range(10))
    world.run(*words)
    world.routes = True
    world.update_device()
    for mirror in (world.sites.first, world.sites.second):
        world.run("catalog", "mirrors", "add", world.live, mirror.url, "--signing-key", world.key)
    world.update_device()
    return f"{interrupted} of 10 installations were interrupted"


@month("tilejson")
def trap(world, tiles):
    """tile addresses of the build answer with newer tiles from the middle on: the job ends, the next one takes the newest"""
    newer = world.planet.with_holes(world.number)

    def disturb(job):
        world.middle(job, 0.05)
        world.publish("tilejson", tiles, world.number)

    # What the first job reads is another build, two days older.
    world.publish("tilejson", newer, world.number - 1)
    world.sources.delay = 0.02
    status = world.rebuild(disturb)
    expect(status.get("was_changed"), "the job did not see that its source changed")
    go_live(world, tiles)


@month("overwritten")
def overwritten(world, tiles):
    """the archive is overwritten in the middle: the job ends, the next one takes the newest; the catalog's server is gone and a mirror lies"""
    world.publish("overwritten", world.planet.with_holes(world.number), world.number - 1)
    world.sources.delay = 0.5

    def disturb(job):
        world.middle(job, 0.01)
        world.publish("overwritten", tiles, world.number)

    status = world.rebuild(disturb)
    expect(status.get("was_changed"), "the job did not see that its source changed")

    def disturb_sites(sites):
        sites.own.vanish()
        sites.first.lies = True

    told, note = go_live_by_patches(world, tiles, disturb_sites)
    expect(f":{world.sites.first.port}" in told, f"the device does not name the mirror that lies: {told}")
    expect(world.sites.second.sent and not world.sites.own.sent, "the second mirror was not asked")
    world.sites.calm()
    return note


@month("index")
def holes(world, tiles):
    """a fifth of the last zoom is missing: seen in the comparison, refused, never promoted, and the new graphs neither"""
    bad = world.planet.with_holes(world.number)
    world.publish("index", bad, world.number)
    world.rebuild()
    world.change_graphs()
    world.check_catalog(world.staging, bad, "staging")
    world.ask("catalog", "diff", "staging", "main", "--max-shrink", "10%", status=1)
    world.promote("--max-shrink", "10%", status=65)
    world.check_live()
    world.update_device()


@month("pattern")
def coordinator_dies(world, tiles):
    """the coordinator is killed in the middle"""
    def disturb(job):
        world.middle(job)
        world.cluster.coordinator.kill()
        world.cluster.start_coordinator()

    world.rebuild(disturb)
    go_live(world, tiles)


@month(None)
def nothing_new(world, tiles):
    """there is no new build: no job is made, and only the head of the archive is received"""
    firing, received = world.fire_by_rule()
    expect(firing["result"] == "nothing-new" and "job" not in firing, f"{firing}")
    wait("the metrics count it", lambda: world.metric("schedules_unchanged_total") == 1)
    age = world.metric("schedule_data_age_seconds_max")
    # The build of the month before is of a day that the pattern names.
    days = world.sources.days_ago(world.number - 1)
    expect(age and days * 86_400 <= age < (days + 1) * 86_400, f"the data has an age of {age} s, not of {days} days")
    expect(received <= 17 * 1024, f"{received} bytes were received for nothing")
    world.check_live()
    return f"{received} bytes received"


@month("index")
def mistake(world, tiles):
    """a build with wrong words goes live, and is rolled back; the device follows both ways"""
    wrong, before, graphs = world.planet.mistaken(world.number), world.promoted, world.promoted_graphs
    world.publish("index", wrong, world.number)
    world.rebuild()
    go_live(world, wrong)
    world.ask("catalog", "rollback", "main")
    world.is_live(before, graphs)
    world.check_live()
    world.update_device()


@month("tilejson")
def promotion_dies(world, tiles):
    """promotions of a folder are killed and repeated, while the coordinator is down"""
    world.rebuild()
    world.change_graphs()
    world.check_catalog(world.staging, tiles, "staging")
    world.cluster.coordinator.stop()
    words = ["catalog", "promote", world.staging, world.live, "--signing-key", world.key]
    interrupted = sum(world.killed(*words, within=1) for _ in range(10))
    world.run(*words)
    world.cluster.start_coordinator()
    world.is_live(tiles)
    world.check_live()
    world.update_device()
    return f"{interrupted} of 10 promotions were interrupted"


@month("overwritten")
def updates_die(world, tiles):
    """updates of the device by patches are killed; another device comes, with PMTiles"""
    world.rebuild()
    world.change_graphs()
    promote(world, tiles)
    world.wait_for_patches()
    world.sites.calm()
    interrupted = sum(world.killed("device", "update", "--store", world.store, within=0.5) for _ in range(10))
    world.update_device()
    whole = [path for path, _ in world.sites.sent("routing-valhalla/packages/")]
    expect(not whole, f"whole graphs were sent: {whole}")
    world.run("device", "install", *worlds.DEVICE, "--store", world.late_store, "--format", "pmtiles", *world.trust)
    world.check_device(world.late_store, "pmtiles")
    return f"{interrupted} of 10 updates were interrupted"


@month("index")
def everything_dies(world, tiles):
    """coordinator and workers are killed in the middle, three times; the catalog's own server lies, and a mirror is gone"""
    def disturb(job):
        for share in (0.1, 0.2, 0.3):
            world.middle(job, share)
            for process in (world.cluster.coordinator, *world.cluster.workers):
                process.kill()
            world.cluster.start_coordinator()
            for worker in list(world.cluster.workers):
                world.cluster.restart_worker(worker)

    world.rebuild(disturb)

    def disturb_sites(sites):
        sites.own.lies = True
        sites.first.vanish()

    told, note = go_live_by_patches(world, tiles, disturb_sites)
    expect(f":{world.sites.own.port}" in told, f"the device does not name the server that lies: {told}")
    world.sites.calm()
    return note


@month("pattern")
def last(world, tiles):
    """a device with PMTiles that was away for two months gets patches"""
    world.rebuild()
    go_live(world, tiles)
    world.wait_for_patches()
    planned = json.loads(world.run("device", "update", "--store", world.late_store, "--dry-run", "--json"))
    world.run("device", "update", "--store", world.late_store)
    world.check_device(world.late_store, "pmtiles")
    expect(planned and all(item["is_patch"] for item in planned), f"whole files would be downloaded: {planned}")
    return f"{len(planned)} patches, {sum(item['bytes'] for item in planned)} bytes"
