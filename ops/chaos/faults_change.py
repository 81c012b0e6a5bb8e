"""A cluster that changes while it works: other builds, more and fewer workers, a state gone back to."""

import os
import subprocess
from pathlib import Path

from case import Skip, fault
from faults_processes import executed_twice
from harness import PROGRAM, Trouble, wait
from oracle import Judgement

# The build before this one; ops/compat-test makes one.
OLD = os.environ.get("PACKHORSE_OLD")


def upgrade(words, steps):
    @fault(f"upgrade in the middle: {words}", cases=1)
    def body(case):
        """From the build before to this one; the package is that of one build alone."""
        if not OLD or not Path(OLD).is_file():
            raise Skip("name the build before in PACKHORSE_OLD")
        cluster = case.start(workers=2, grace=30, programs={"coordinator": OLD, "w1": OLD, "w2": OLD})
        job = case.submit()
        for number, step in enumerate(steps, 1):
            cluster.wait_middle(job, 0.6 * number / (len(steps) + 1))
            cluster.programs.pop(step)
            if step == "coordinator":
                cluster.coordinator.stop()
                cluster.start_coordinator()
            else:
                worker = next(worker for worker in cluster.workers if worker.name == step)
                worker.stop()
                cluster.restart_worker(worker)
        case.healed()
        if not cluster.programs:
            case.finish(job)
            return
        # Workers of the older build stay until the end.
        status = cluster.wait_end(job)
        case.measure()
        if status["state"] != "done":
            raise Trouble(f"the job ended {status['state']}: {status.get('reason')}")
        # While the older build has a say, packages are of its format: other bytes around the same tiles.
        for package in status["packages"]:
            judgement = Judgement(case.truth, cluster.catalog / "packages" / str(package["version"]) / f"{package['id']}.mbtiles")
            case.lost, case.wrong = case.lost + judgement.lost, case.wrong + judgement.wrong
        if case.lost or case.wrong:
            raise Trouble(f"{case.lost} tiles lost, {case.wrong} wrong")


upgrade("coordinator, then workers", ["coordinator", "w1", "w2"])
upgrade("a worker, coordinator, a worker", ["w1", "coordinator", "w2"])
upgrade("coordinator alone", ["coordinator"])
upgrade("workers alone", ["w1", "w2"])


@fault("1 worker, 32 workers, 1 worker", cases=1, limit=180)
def scale(case):
    """Workers that leave give their leases back, what they had of a batch under way is fetched again, and no more than that."""
    cluster = case.start(workers=1, latency=0.05)
    job = case.submit()
    cluster.wait_middle(job, 0.1)
    for _ in range(31):
        cluster.start_worker()
    wait("all of them work", lambda: cluster.ask("workers").stdout.count("\n") > 32)
    cluster.wait_middle(job, 0.4)
    for worker in cluster.workers[1:]:
        worker.expected_end = True
        worker.signal(15)
    for worker in cluster.workers[1:]:
        worker.child.wait(60)
    case.healed()
    case.finish(job)
    again = executed_twice(case)
    if len(again) > 0.05 * len(case.truth):
        raise Trouble(f"{len(again)} tiles were fetched again: {again[:3]}")


@fault("state restored from a backup of the middle", cases=2)
def restored(case):
    """The state goes back while blobs and workers do not: the same package, and no token is granted twice."""
    cluster = case.start(workers=2, grace=4)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0.1, 0.3))
    cluster.ask("backup", "middle")
    if case.index % 2:
        cluster.wait_end(job)
    else:
        cluster.wait_middle(job, 0.5)
    cluster.coordinator.kill()
    words = [str(PROGRAM), "state", "restore", str(cluster.data / "backups/middle.sqlite"), "--data", str(cluster.data)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"state restore: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    cluster.start_coordinator()
    case.healed()
    case.finish(job)
