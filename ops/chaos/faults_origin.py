"""An origin that lies: about one tile, about 1 %, about everything for a while, or forever."""

import time

import origin as origins
from case import fault
from harness import Trouble
from origin import Lie


def one_path(case):
    """A tile in the deepest zoom that exists; the same for the same seed."""
    paths = sorted(path for path, (status, _, _) in case.truth.items() if status == 200 and path.startswith("/tiles/12/"))
    return case.random.choice(paths)


def lies(kind):
    @fault(f"origin: {kind}, 1 % once or one tile forever", cases=2, limit=180)
    def body(case):
        """A tile that was wrong once is fetched again; a tile that is always wrong is named, and no other tile is missing."""
        case.start(workers=2, latency=0)
        honest = set() if case.index % 2 == 0 else {one_path(case)}
        lie = Lie(kind, 0, only=honest) if honest else Lie(kind, case.random.random(), share=0.01, times=1)
        case.origin.lies.append(lie)
        job = case.submit(stall=2)
        case.finish(job, limit=170, honest=honest)
        if not lie.told:
            raise Trouble("the origin sent no wrong answer")


for kind in origins.KINDS:
    lies(kind)


def outage(kind, seconds):
    @fault(f"origin: {kind}, every tile, {seconds} s", cases=1, limit=180)
    def body(case):
        case.start(workers=2, latency=0.02)
        job = case.submit(stall=2)
        case.cluster.wait_middle(job, case.random.uniform(0, 0.5))
        case.origin.lies.append(Lie(kind, 0, seconds=seconds))
        case.healed(time.time() + seconds)
        case.finish(job, limit=170)


for kind in ["500", "502", "503", "429", "reset", "silence"]:
    outage(kind, 5)
outage("503", 20)


@fault("origin: 1 % of the tiles broken forever", cases=2, limit=180)
def too_many(case):
    case.start(workers=2, latency=0)
    kind = case.random.choice(["500", "html", "truncated"])
    lie = Lie(kind, case.random.random(), share=0.01)
    case.origin.lies.append(lie)
    job = case.submit()
    told = {path for path, (status, _, _) in case.truth.items() if lie.covers(path)}
    case.finish(job, limit=170, honest=told, state="failed")
    if any(case.cluster.catalog.glob("packages/*/*")):
        raise Trouble("a package that lacks more than it may was published")
