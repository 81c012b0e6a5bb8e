"""Processes killed and stopped: at random times, in each phase, alone and all at once."""

import signal
import socket
import threading
import time

import ports
from case import fault
from harness import PATIENCE, Trouble, wait


@fault("kill -9 worker, fetching", cases=4)
def kill_worker(case):
    cluster = case.start(workers=2)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.6))
    case.healed(leases_lost=True)
    cluster.workers[0].kill()
    case.finish(job)


@fault("kill -9 worker, merging", cases=4)
def kill_merger(case):
    cluster = case.start(workers=2, latency=0)
    job = case.submit()
    wait("the merge begins", lambda: cluster.status(job)["state"] in ("merging", "done"), pause=0)
    time.sleep(case.random.uniform(0, 0.05))
    victim = case.random.choice(cluster.workers)
    victim.kill()
    case.healed()
    case.finish(job)


@fault("every worker killed, new ones come", cases=2)
def kill_all_workers(case):
    cluster = case.start(workers=3)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.7))
    case.healed(leases_lost=True)
    for worker in list(cluster.workers):
        worker.kill()
    for worker in list(cluster.workers):
        cluster.restart_worker(worker)
    case.finish(job)


@fault("SIGSTOP worker past its lease, then awake", cases=2)
def stop_worker(case):
    cluster = case.start(workers=2, lease=2)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.4))
    cluster.workers[0].signal(signal.SIGSTOP)
    time.sleep(case.random.uniform(2, 5))
    cluster.workers[0].signal(signal.SIGCONT)
    case.healed()
    case.finish(job)


@fault("its ports are taken when the coordinator starts and comes back", cases=1)
def ports_taken(case):
    """The harness itself: a port that another process uses does not fail a case."""
    real, taken = ports.take, socket.create_server(("127.0.0.1", ports.take()))
    answers = [taken.getsockname()[1]]
    ports.take = lambda: answers.pop() if answers else real()
    try:
        cluster = case.start(workers=1)
    finally:
        ports.take = real
        taken.close()
    job = case.submit()
    cluster.wait_middle(job)
    cluster.coordinator.kill()
    other = socket.create_server(("127.0.0.1", int(cluster.control.rpartition(":")[2])))
    threading.Timer(2, other.close).start()
    cluster.start_coordinator()
    case.healed()
    case.finish(job)


def executed_twice(case):
    """Paths that were asked for more than once although no lease was lost."""
    counts = case.origin.counts()
    return [path for path, count in counts.items() if count > 1]


def crash_coordinator(case, down):
    """Kills the coordinator for `down` seconds under load; workers keep their leases."""
    cluster = case.cluster
    cluster.coordinator.kill()
    time.sleep(down)
    at = time.time()
    cluster.start_coordinator()
    return at


def check_recovery(case):
    """Results are taken, and new leases granted, within five seconds of the new coordinator's start."""
    if case.recovery > 5 * PATIENCE:
        raise Trouble(f"recovery took {case.recovery:.1f} s")
    if case.regrant > 5 * PATIENCE:
        raise Trouble(f"the first lease was granted after {case.regrant:.1f} s")


@fault("kill -9 coordinator, back at once", cases=6)
def kill_coordinator(case):
    cluster = case.start(workers=2, grace=30)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.7))
    case.healed(crash_coordinator(case, down=case.random.uniform(0, 0.5)))
    case.finish(job)
    again = executed_twice(case)
    if again:
        raise Trouble(f"{len(again)} tiles of held leases were fetched again: {again[:3]}")
    check_recovery(case)


@fault("kill -9 coordinator, down 10-20 s", cases=2)
def kill_coordinator_long(case):
    cluster = case.start(workers=2, grace=30)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.6))
    case.healed(crash_coordinator(case, down=case.random.uniform(10, 20)))
    case.finish(job)
    again = executed_twice(case)
    # When shares run out, what is in flight is broken off and asked for later: at most one tile a connection, never a lease.
    if len(again) > 8:
        raise Trouble(f"{len(again)} tiles of held leases were fetched again: {again[:3]}")
    check_recovery(case)


@fault("kill -9 coordinator again and again", cases=2)
def kill_coordinator_often(case):
    cluster = case.start(workers=2, grace=30)
    job = case.submit()
    for _ in range(12):
        time.sleep(case.random.uniform(0, 0.6))
        cluster.coordinator.kill()
        cluster.start_coordinator()
    case.healed()
    case.finish(job)


@fault("kill -9 coordinator near the end", cases=6)
def kill_publisher(case):
    cluster = case.start(workers=2, latency=0, grace=30)
    job = case.submit()
    wait("it merges", lambda: cluster.status(job)["state"] != "fetching", pause=0)
    time.sleep(case.random.uniform(0, 0.1))
    case.healed(crash_coordinator(case, down=0))
    case.finish(job)


@fault("SIGSTOP coordinator 6 s", cases=2)
def stop_coordinator(case):
    cluster = case.start(workers=2, lease=3)
    job = case.submit()
    cluster.wait_middle(job, case.random.uniform(0, 0.6))
    cluster.coordinator.signal(signal.SIGSTOP)
    time.sleep(6)
    cluster.coordinator.signal(signal.SIGCONT)
    case.healed()
    case.finish(job)


@fault("everything killed at once", cases=4)
def kill_everything(case):
    cluster = case.start(workers=2, latency=case.random.choice([0, 0.02]), grace=2)
    job = case.submit()
    time.sleep(case.random.uniform(0, 1.5))
    cluster.coordinator.signal(signal.SIGKILL)
    for process in [cluster.coordinator, *cluster.workers]:
        process.kill()
    cluster.start_coordinator()
    for worker in list(cluster.workers):
        cluster.restart_worker(worker)
    case.healed()
    case.finish(job)


@fault("random kills, 20 of them", cases=2, limit=180)
def storm(case):
    cluster = case.start(workers=3, lease=2, grace=3)
    job = case.submit()
    for _ in range(20):
        time.sleep(case.random.uniform(0, 0.8))
        victim = case.random.choice(["coordinator", "worker", "stop"])
        if victim == "coordinator":
            cluster.coordinator.kill()
            cluster.start_coordinator()
        else:
            worker = case.random.choice(cluster.workers)
            if victim == "stop":
                worker.signal(signal.SIGSTOP)
                time.sleep(case.random.uniform(0, 1))
                worker.signal(signal.SIGCONT)
            else:
                worker.kill()
                cluster.restart_worker(worker)
    case.healed()
    case.finish(job, limit=120)


@fault("two coordinators on one folder", cases=1)
def two_coordinators(case):
    cluster = case.start(workers=1)
    job = case.submit()
    first = cluster.coordinator
    control, work = cluster.control, cluster.work
    cluster.control = cluster.work = None
    cluster.launch_coordinator()
    second, cluster.coordinator, cluster.control, cluster.work = cluster.coordinator, first, control, work
    second.expected_end = True
    second.child.wait(20)
    said = second.log.read_text()
    if second.child.returncode == 0 or "another coordinator" not in said.lower():
        raise Trouble(f"the second coordinator ended with {second.child.returncode}: {said[-300:]}")
    case.finish(job)
