"""Hosts that lose packets and hosts that lose each other, in one direction or both. Needs root."""

import time

import origin as origins
from case import fault
from faults_links import with_keys
from network import Network


def start(case, workers=2, **options):
    """The coordinator, the origin and each worker on hosts of their own; only the disk is shared."""
    names = ["coordinator", "origin", *(f"w{number + 1}" for number in range(workers))]
    network = Network(case, names)
    prefixes = {name: network.prefix(name) for name in names} | {"cli": network.prefix("coordinator")}
    origin = origins.Origin(case.truth, latency=0.02, listener=network.listener("origin"))
    host = network.addresses["coordinator"]
    case.start(workers=workers, origin=origin, host=host, prefixes=prefixes, **{"lease": 4, **with_keys(case), **options})
    return network, case.submit()


for percent in (1, 5, 20):

    @fault(f"{percent} % of the packets lost", limit=240)
    def loss(case, percent=percent):
        network, job = start(case)
        network.lose(percent)
        case.finish(job, limit=220)


WAYS = {"both ways": ("to", "from"), "towards the coordinator": ("to",), "towards the worker": ("from",)}
for words, ways in WAYS.items():

    @fault(f"partition of a worker, {words}, 8 s", cases=1, limit=180)
    def partition(case, ways=ways):
        network, job = start(case)
        case.cluster.wait_middle(job, case.random.uniform(0, 0.4))
        for way in ways:
            network.lose(100, *(("w1", "coordinator") if way == "to" else ("coordinator", "w1")))
        case.healed(leases_lost=True)
        time.sleep(8)
        network.heal()
        case.finish(job, limit=150)


@fault("partition of every worker, 12 s", cases=1, limit=180)
def split(case):
    network, job = start(case, grace=30)
    case.cluster.wait_middle(job, case.random.uniform(0, 0.4))
    network.lose(100, target="coordinator")
    time.sleep(12)
    network.heal()
    case.healed()
    case.finish(job, limit=150)


@fault("partition of a worker from the origin, 6 s", cases=1, limit=180)
def split_origin(case):
    network, job = start(case)
    case.cluster.wait_middle(job, case.random.uniform(0, 0.4))
    network.lose(100, source="w1", target="origin")
    time.sleep(6)
    network.heal()
    case.healed()
    case.finish(job, limit=150)
