"""A device whose link to the server goes down and up, or loses packets. Needs root: network namespaces of ops/chaos/network.py."""

import time

from fault_case import fault
from network import Network
from properties import silent


def begin(case):
    """The server and the device on hosts of their own; the store is new, because a catalog is known by its address."""
    network = Network(case, ["server", "device"])
    case.device.prefix = network.prefix("device")
    case.begin("create", listener=network.listener("server"))
    return network


@fault("the link goes down and up", nightly=30, short=1, limit=200)
def flaps(case):
    """While it is down nothing arrives; when it is back the download continues."""
    network = begin(case)
    case.origin.rate = 300_000
    process = case.device.start(*case.command())
    for _ in range(case.random.randint(1, 3)):
        time.sleep(case.random.random() * 1.0)
        network.lose(100)
        time.sleep(0.1)
        since = time.time()
        time.sleep(case.random.random() * 1.5)
        silent(case.origin, since)
        network.heal()
    case.origin.rate = None
    case.wait(process, 150)
    case.finish()


for percent in (5, 20):

    @fault(f"{percent} % of the packets are lost", nightly=3, short=0, limit=300)
    def loss(case, percent=percent):
        network = begin(case)
        network.lose(percent)
        case.wait(case.device.start(*case.command()), 200)
        network.heal()
        case.finish()
