"""Brings a cluster into the states that the alerts are about, and waits until a real Prometheus says that each alert fires.

A case is a function with the alerts that it must bring. An alert without a case is an error. Root, because disks are filled.
"""
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from cluster import RULES, Wrong, wait
from tile_server import Pages

CASES = []
# Fires in ops/check-monitoring when a worker is killed; it ends ten minutes later, when the coordinator forgets the worker.
ELSEWHERE = {"PackhorseWorkerSilent"}


def case(*alerts):
    """Registers a function that makes these alerts fire. It may be a generator: what stands after `yield` restores the cluster."""
    def add(function):
        CASES.append((function, [f"Packhorse{name}" for name in alerts]))
        return function
    return add


@case("VersionsDiffer", "PlansWait", "LoopSlow", "ScheduleSkipped", "BackupOld", "StateBackupOld", "WorkerDiskNearlyFull")
def made(cluster, pages):
    """Values that no process can be brought to in a short time, from a page of metrics."""
    pages.text = ('packhorse_build_info{version="0.0.1"} 1\npackhorse_coordinator_plans_waiting 1\npackhorse_coordinator_longest_wait_seconds 9\n'
                  "packhorse_schedules_skipped_total 0\npackhorse_backup_age_seconds 100000\npackhorse_state_backup_age_seconds 1000\n"
                  "packhorse_worker_disk_free_bytes 40\npackhorse_worker_disk_size_bytes 1000\n")
    time.sleep(4)
    pages.text = pages.text.replace("skipped_total 0", "skipped_total 1")
    yield
    pages.text = ""


@case("JobPaused")
def paused(cluster, pages):
    """A job with a priority below 0."""
    job = cluster.command("submit", "EE", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-6", "--priority=-1")
    yield
    cluster.command("cancel", job)


@case("JobFailed", "FailedWork", "OriginFails", "ScheduleFailed")
def origins(cluster, pages):
    """Tile servers that answer with a web page and with errors."""
    base = f"http://127.0.0.1:{pages.server_port}"

    def submit(area, name):
        return cluster.command("submit", area, "--zoom", "0-12", "--tileset", cluster.tileset(name, f"{base}/{name}/{{z}}/{{x}}/{{y}}.pbf"))

    submit("MT", "html")
    cluster.command("schedule", "add", "bad", "--every", "monthly 3 02:30", "MT", "--zoom", "0-11", "--tileset", cluster.folder / "html.yaml")
    cluster.command("schedule", "run", "bad")
    # The schedule's job has failed by then: after errors nothing more is asked of this server for a while.
    wait("the schedule's job fails", lambda: "packhorse_schedules_failing 1" in cluster.page("coordinator"))
    # A server that refuses everything ends a job at once, without failed work.
    submit("LU", "part")
    failing = submit("CY", "error")
    yield
    cluster.command("cancel", failing)
    cluster.command("schedule", "remove", "bad")


@case("NotificationsWait")
def no_receiver(cluster, pages):
    """A coordinator that notifies a server which is not there."""
    cluster.stop("coordinator")
    cluster.coordinator("--notify", "http://127.0.0.1:9/")
    job = cluster.command("submit", "LI", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-5")
    yield
    cluster.command("watch", job, "--progress", "none")
    cluster.stop("coordinator")
    cluster.coordinator()


@case("OriginBlocked")
def wait_longer(cluster, pages):
    """A tile server that asks to wait for a minute."""
    address = f"http://localhost:{pages.server_port}/wait/{{z}}/{{x}}/{{y}}.pbf"
    job = cluster.command("submit", "LU", "--zoom", "0-12", "--tileset", cluster.tileset("wait", address))
    yield
    cluster.command("cancel", job)


@case("NoWorkers", "JobStalled", "WorkerDown")
def no_workers(cluster, pages):
    """Both workers are killed, and a job is submitted."""
    for name in ("worker-1", "worker-2"):
        cluster.stop(name, signal.SIGKILL)
    job = cluster.command("submit", "EE", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-9")
    yield
    for name in ("worker-1", "worker-2"):
        cluster.worker(name)
    cluster.command("watch", job, "--progress", "none")


@case("Restarts")
def restarts(cluster, pages):
    """A worker that is started again and again."""
    for _ in range(4):
        cluster.stop("worker-2")
        cluster.worker("worker-2")
        time.sleep(3)


@case("DamagedShards")
def damaged_shards(cluster, pages):
    """All blobs are changed while a job fetches; its merge finds it."""
    tiles = cluster.tileset("spoilt", re.search(r"url: (\S+)", (cluster.folder / "tiles.yaml").read_text())[1])
    job = cluster.command("submit", "DK", "--tileset", tiles, "--zoom", "0-12")
    wait("shards are stored", lambda: re.search(r'"state" ?: ?"fetching"', status := cluster.command("status", job, "--json"))
         and int(re.search(r'"stored" ?: ?(\d+)', status)[1]) > 500)
    for file in (cluster.folder / "share/blobs").rglob("*"):
        if file.is_file() and file.stat().st_nlink == 1 and file.stat().st_size > 2_000:
            with file.open("r+b") as blob:
                blob.seek(file.stat().st_size // 2)
                blob.write(bytes(64))
    yield
    cluster.command("watch", job, "--progress", "none")


@case("GatewayDamagedTiles", "GatewayErrors")
def damaged_package(cluster, pages):
    """The second half of a published package is overwritten."""
    package = max((cluster.folder / "share/catalog/packages").rglob("LV.mbtiles"), key=lambda file: file.stat().st_size)
    with package.open("r+b") as file:
        file.seek(package.stat().st_size // 2 // 4096 * 4096)
        file.write(bytes(package.stat().st_size - file.tell()))
    base = f"http://127.0.0.1:{cluster.ports['gateway']}/tiles/LV/11"
    end = time.monotonic() + 12
    while time.monotonic() < end:
        for x in range(1140, 1180):
            try:
                urllib.request.urlopen(f"{base}/{x}/{630 + x % 16}", timeout=10).close()
            except urllib.error.HTTPError:
                pass


@case("GatewayFull")
def too_many_connections(cluster, pages):
    """More connections from one address than --max-connections-each."""
    for _ in range(8):
        open_now = [socket.create_connection(("127.0.0.1", cluster.ports["gateway"]), 5) for _ in range(80)]
        time.sleep(0.5)
        for connection in open_now:
            connection.close()
        time.sleep(0.5)


@case("GatewayDown")
def gateway_down(cluster, pages):
    """The gateway is killed."""
    cluster.stop("gateway", signal.SIGKILL)
    yield
    cluster.gateway()


@case("PublicationsFail")
def catalog_not_writable(cluster, pages):
    """The folder of the catalog is mounted for reading only when a job publishes."""
    catalog = cluster.folder / "share/catalog"
    subprocess.run(["mount", "--bind", catalog, catalog], check=True)
    cluster.mounts.append(catalog)
    subprocess.run(["mount", "-o", "remount,bind,ro", catalog], check=True)
    job = cluster.command("submit", "EE", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-8", "--request-id", "read-only", "--allow-shrink")
    yield
    subprocess.run(["umount", cluster.mounts.pop()], check=True)
    cluster.command("watch", job, "--progress", "none")


@case("DiskNearlyFull", "WorkerResting")
def full_share(cluster, pages):
    """The disk of blobs and catalog is full while a job runs."""
    job = cluster.command("submit", "LT", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-12")
    file = cluster.folder / "share/filler"
    fill(file)
    yield
    file.unlink()
    cluster.command("watch", job, "--progress", "none")


@case("StateNotWritable")
def full_state(cluster, pages):
    """The disk of the state file is full."""
    file = cluster.folder / "data/filler"
    fill(file)
    for number in range(20):
        try:
            cluster.command("submit", "EE", "--tileset", cluster.folder / "tiles.yaml", "--zoom", "0-9", "--request-id", f"full-{number}", "--timeout", 2)
        except Wrong:
            break
    yield
    file.unlink()
    wait("the coordinator serves again", lambda: "packhorse_coordinator_degraded 0" in cluster.page("coordinator"))


@case("CoordinatorDown", "WorkerWithoutCoordinator", "GatewayWithoutCoordinator")
def coordinator_down(cluster, pages):
    """The coordinator is killed; the gateway is asked for jobs meanwhile."""
    cluster.stop("coordinator", signal.SIGKILL)
    cluster.jobs()
    yield
    cluster.coordinator()


def fill(file):
    """Writes a file until its disk is full."""
    with file.open("wb", buffering=0) as output:
        try:
            while output.write(bytes(65_536)):
                pass
        except OSError:
            pass


def firing(cluster):
    """The names of the alerts that fire."""
    return {alert["labels"]["alertname"] for alert in cluster.ask("alerts")["alerts"] if alert["state"] == "firing"}


def check(cluster):
    """Says what was checked. Raises Wrong."""
    wanted = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    if missing := wanted - ELSEWHERE - {alert for _, alerts in CASES for alert in alerts}:
        raise Wrong(f"ops/alerts/cases.py: no case makes {sorted(missing)} fire; write one")
    if os.geteuid() != 0:
        return "the cases of all alerts were not run: they need root"
    pages, made_page = Pages(cluster.ports["tiles"]), Pages(cluster.ports["made"])
    for function, alerts in CASES:
        began, left = time.monotonic(), set(alerts)
        for alert in alerts:
            wait(f"{alert} of an earlier case ends", lambda alert=alert: alert not in firing(cluster))
        running = function(cluster, made_page if function is made else pages)
        if running is not None:
            next(running)

        def all_fired(left=left):
            left -= firing(cluster)
            return not left
        try:
            wait("alerts fire", all_fired)
        except Wrong:
            raise Wrong(f"{function.__doc__.strip()} {sorted(left)} do not fire within 90 s") from None
        if running is not None:
            next(running, None)
        print(f"      {', '.join(alerts)}: {function.__doc__.strip()} ({time.monotonic() - began:.0f} s)", flush=True)
    return f"each of {len(wanted)} alerts has fired"
