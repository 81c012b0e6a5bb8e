"""The days of the month that the year does not have. Python's standard library only."""
import gzip
import threading
import time

import harness
import months
from acceptance import expect, wait
from months import go_live

# What may be seen when a coordinator starts again: workers are not there yet, and the last backup is of before.
STARTS = {"CoordinatorDown", "NoWorkers", "StateBackupOld"}
RESTART, LOSS, CHANGE = ({"Restarts"}, STARTS), ({"Restarts", "CoordinatorDown"}, STARTS), ({"JobFailed"}, {"ScheduleFailed", "FailedWork"})

# Seconds before each answer of the source: a job is seen in its middle on a busy machine too, and is held there until what happens has happened.
SLOW, HELD, QUICK = 0.3, 600, 0.02


def plain(world, tiles):
    """a build as every day"""
    world.rebuild()
    go_live(world, tiles)


def lost(world, tiles):
    """the coordinator's machine is lost in the middle; another one goes on from the backups in the bucket"""
    found = {}

    def disturb(job):
        world.middle(job)
        world.sources.delay = HELD
        before = world.cluster.status(job)["batches_done"]
        world.wait_for_backup()
        expect(world.cluster.status(job)["state"] == "fetching", "the job ended before the loss")
        firings = world.firings()
        began = time.monotonic()
        world.lose_coordinator()
        after = world.cluster.status(job)["batches_done"]
        expect(after >= before, f"{after} batches are done after the loss, {before} were before")
        now = world.firings()
        expect(now[:-1] == firings[:-1] and now[-1]["job"] == firings[-1]["job"] == job, f"the history was {firings[-3:]} and is {now[-3:]}")
        found["seconds"] = time.monotonic() - began
        world.sources.delay = QUICK

    world.sources.delay = SLOW
    world.rebuild(disturb)
    go_live(world, tiles)
    return f"{found['seconds']:.1f} s until it answered"


def upgraded(world, tiles):
    """the program is replaced in the middle: the coordinator first, then the workers one by one"""

    def disturb(job):
        world.middle(job)
        world.sources.delay = QUICK
        world.replace_program()

    world.sources.delay = SLOW
    world.rebuild(disturb)
    go_live(world, tiles)
    expect(world.cluster.ask("health", "--workers", 2).returncode == 0, "not all workers came back")


def workers_gone(world, tiles):
    """both workers are gone until an alert says so, then there are others"""

    def disturb(job):
        world.middle(job, 0.1)
        world.sources.delay = HELD
        for worker in world.cluster.workers:
            worker.kill()
        world.watch.wait_for("NoWorkers")
        world.sources.delay = QUICK
        for worker in list(world.cluster.workers):
            world.cluster.restart_worker(worker)

    world.sources.delay = SLOW
    world.rebuild(disturb)
    go_live(world, tiles)


def fill(world, disk, then):
    """A firing in whose middle a disk is full; `then` is called with the file that fills it, and removes it."""

    def disturb(job):
        world.middle(job, 0.1)
        world.sources.delay = HELD
        ballast = disk.fill()
        world.watch.wait_for("DiskNearlyFull")
        world.sources.delay = QUICK
        then(ballast)

    expect(disk.is_mounted, "only root can mount a disk that may be full")
    world.sources.delay = SLOW
    world.rebuild(disturb)
    go_live(world, world.planet.month(world.number))


def catalogs_full(world, tiles):
    """the disk of the catalogs is full in the middle until publications fail, then there is space again"""

    def then(ballast):
        world.watch.wait_for("PublicationsFail")
        ballast.unlink()

    fill(world, world.maps, then)


def state_full(world, tiles):
    """the disk of the state is full in the middle, and the coordinator is killed and started there; then there is space again"""

    def then(ballast):
        # What the state file has room for is written all the same; a start needs more.
        world.cluster.coordinator.kill()
        timer = threading.Timer(world.random.uniform(2, 4), ballast.unlink)
        timer.start()
        world.cluster.start_coordinator()
        timer.join()

    fill(world, world.state, then)


def source_broken(world, tiles):
    """a tenth of the tiles are web pages: the job fails and names them, staging and live stay, and the next firing is right"""
    staged = {name: version["version"] for name, version in world.newest(world.staging).items()}
    page = gzip.compress(b"<!doctype html><html><body>quota exceeded</body></html>", mtime=0)
    # A package that is ready before the first failed tile is published: every package needs the tile of zoom 0.
    bad = {tile for tile in tiles if tile[0] == 0 or world.random.random() < 0.1}
    world.publish("tilejson", {tile: page if tile in bad else body for tile, body in tiles.items()}, world.number)
    job = world.fire()
    status = world.cluster.wait_end(job, 300)
    expect(status["state"] == "failed", f"job {job} is {status['state']}")
    named = {tuple(map(int, failure["tile"].split("/"))) for failure in status["failures"]}
    expect(named and named <= bad, f"{len(named)} tiles are named, {len(named - bad)} of them were right")
    wait("the firing failed", lambda: world.last_firing()["result"] == "failed", 60 * harness.PATIENCE)
    expect(world.findings(), "health says nothing of the failed firing")
    # The next firing ends this state.
    world.watch.wait_for("ScheduleFailed")
    now = {name: version["version"] for name, version in world.newest(world.staging).items()}
    expect(now == staged, "the failed job changed staging")
    world.check_live()
    world.publish("index", tiles, world.number)
    world.rebuild()
    go_live(world, tiles)


# Each day with the kind of its source, the alerts that it must bring, and those that it may bring.
CALM = (set(), set())
FIRST = [("pattern", months.first, CALM), ("index", months.worker_dies, CALM)]
MIDDLE = [
    ("overwritten", lost, LOSS),
    ("index", catalogs_full, ({"DiskNearlyFull", "PublicationsFail"}, {"FailedWork"})),
    ("tilejson", upgraded, RESTART),
    ("index", months.holes, CALM),
    ("tilejson", state_full, ({"DiskNearlyFull", "Restarts"}, STARTS | {"StateNotWritable"})),
    ("tilejson", source_broken, ({"JobFailed", "ScheduleFailed", "FailedWork"}, set())),
    ("index", workers_gone, ({"NoWorkers"}, set())),
    ("overwritten", months.overwritten, CHANGE),
    ("pattern", months.coordinator_dies, RESTART),
    (None, months.nothing_new, CALM),
    ("tilejson", months.trap, CHANGE),
    ("index", months.mistake, CALM),
    ("tilejson", months.promotion_dies, RESTART),
    ("index", lost, LOSS),
]
LAST = [("overwritten", months.updates_die, CALM), ("index", months.everything_dies, RESTART), ("pattern", months.last, CALM)]
PLAIN = ["index", "tilejson", "overwritten"]


def calendar(count):
    """The days of `count` firings: plain days lie between the others; with few firings, days from the end of the middle are left out."""
    middle = MIDDLE[:count - len(FIRST) - len(LAST)]
    spare = count - len(FIRST) - len(LAST) - len(middle)
    days, placed = list(FIRST), 0
    for number, day in enumerate(middle):
        days.append(day)
        # A day without a new build stands behind the day before.
        if middle[number + 1:number + 2] and middle[number + 1][0] is None:
            continue
        while placed < spare * (number + 1) // len(middle):
            days.append((PLAIN[placed % len(PLAIN)], plain, CALM))
            placed += 1
    return days + LAST
