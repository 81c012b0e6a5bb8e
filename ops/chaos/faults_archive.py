"""A PMTiles archive on a web server: requests that are lied to, workers that are killed, an archive that is replaced."""

import gzip
import json
import sys
import threading
import time
from pathlib import Path

import origin as origins
from case import fault
from harness import Trouble
from oracle import Judgement

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pmtiles

PATH = "/planet.pmtiles"
# What only a server of ranges can get wrong.
RANGE_KINDS = ["whole-file", "wrong-range", "416", "other-length"]
# An address that expires, an archive that is deleted: said from some request on, and for good.
REFUSALS = ["401", "403", "404", "410", "416"]
# Answers that a program cannot tell from a true one, as far as the bytes it asked for go.
UNSEEN = ["smuggled"]


class ArchiveOrigin(origins.Origin):
    """Serves the true tiles as one archive, in ranges; it can be replaced at any time."""

    def __init__(self, truth, validator="etag", **more):
        self.tiles = {
            tuple(map(int, path.removeprefix("/tiles/").removesuffix(".pbf").split("/"))): body
            for path, (status, _, body) in truth.items() if status == 200 and path.startswith("/tiles/")
        }  # fmt: skip
        self.bytes, self.version, self.validator = self.pack(self.tiles), 1, validator
        super().__init__(truth, **more)

    @property
    def url(self):
        return f"http://{self.host}:{self.port}{PATH}"

    @staticmethod
    def pack(tiles):
        return pmtiles.archive(tiles, leaf=200, zooms=(0, 12), metadata=json.dumps({"name": "truth"}).encode())

    def other(self):
        """Another build: the same tiles in other bodies."""
        return self.pack({tile: gzip.compress(gzip.decompress(body), 1, mtime=0) for tile, body in self.tiles.items()})

    def replace(self, how, closed):
        """By `rename`: at once. `in place`: from its beginning to its end within a second, while it is served."""
        new = self.other()
        if how == "rename":
            self.bytes, self.version = new, self.version + 1
            return
        for step in range(1, 21):
            cut = len(new) * step // 20
            self.bytes, self.version = new[:cut] + self.bytes[cut:], self.version + 1
            closed.wait(0.05)
        self.bytes = new

    def _headers(self):
        if self.validator == "etag":
            return {"ETag": f'"v{self.version}"'}
        if self.validator == "last-modified":
            return {"Last-Modified": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(1_700_000_000 + self.version))}
        return {}

    def _answer(self, path, asked):
        if path != PATH:
            return super()._answer(path, asked)
        headers, whole = self._headers(), self.bytes
        if asked.get("if-match", headers.get("ETag")) != headers.get("ETag"):
            return 412, headers, b""
        if asked.get("if-unmodified-since", headers.get("Last-Modified")) != headers.get("Last-Modified"):
            return 412, headers, b""
        first, _, last = asked.get("range", "").removeprefix("bytes=").partition("-")
        if not first:
            return 200, headers, whole
        first, last = int(first), min(int(last or len(whole) - 1), len(whole) - 1)
        if first > last:
            return 416, {**headers, "Content-Range": f"bytes */{len(whole)}"}, b""
        return 206, {**headers, "Content-Range": f"bytes {first}-{last}/{len(whole)}"}, whole[first:last + 1]

    def _lie(self, kind, connection, path, asked):
        status, headers, body = self._answer(path, asked)
        if kind == "whole-file":
            return origins.send(connection, 200, self._headers(), self.bytes)
        if kind in REFUSALS and kind != "416":
            return origins.send(connection, int(kind), {"Content-Type": "application/xml"}, b"<Error/>")
        if kind == "416":
            return origins.send(connection, 416, {"Content-Range": f"bytes */{len(self.bytes)}"}, b"")
        if kind == "wrong-range" and len(body) > 1:
            moved = headers["Content-Range"].replace("bytes ", "bytes 1", 1)
            return origins.send(connection, 206, {**headers, "Content-Range": moved}, body)
        if kind == "other-length" and len(body) > 1:
            return origins.send(connection, 206, headers, body[:-1])
        return super()._lie(kind, connection, path, asked)


class SomeRequests(origins.Lie):
    """A lie about every n-th request of the archive, `times` in all; never about the first one, which the command sends."""

    def __init__(self, kind, every, times, after=2):
        super().__init__(kind, 0)
        self.every, self.left, self.after, self.count = every, times, after, 0

    def applies(self, path):
        with self.lock:
            if path == "/loop":
                return self.told != {}
            self.count += 1
            if self.left <= 0 or self.count <= self.after or self.count % self.every:
                return False
            self.left -= 1
            self.told[path] = self.told.get(path, 0) + 1
            return True


def begin(case, workers=2, latency=0.02, validator="etag"):
    case.start(workers=workers, origin=ArchiveOrigin(case.truth, latency=latency, validator=validator))
    file = case.folder / "truth.yaml"
    file.write_text(f"id: truth\nurl: {case.origin.url}\npoliteness: {{concurrency: 2}}\n"
                    "timeouts: {connect: 2, total: 10, stall: 2}\n")  # fmt: skip
    return case.cluster.submit(file)


def whole(case, job, limit=120):
    """The job ends as without faults: every tile, no other, and the bytes of the origin."""
    status = case.cluster.wait_end(job, limit)
    case.measure()
    if status["state"] != "done" or status["failed"]:
        raise Trouble(f"job ended {status['state']}: {status.get('reason')} {status['failures'][:3]}")
    judge(case, status, case.truth)
    case.check_after(job, status)


def judge(case, status, truth):
    for package in status["packages"]:
        file = case.cluster.catalog / "packages" / str(package["version"]) / f"{package['id']}.mbtiles"
        judgement = Judgement(truth, file)
        case.lost, case.wrong = case.lost + judgement.lost, case.wrong + judgement.wrong
    if case.lost or case.wrong:
        raise Trouble(f"{case.lost} tiles lost, {case.wrong} wrong")


def lies(kind):
    @fault(f"archive: {kind}, a third of the requests at first", cases=1, limit=180)
    def body(case):
        """What cannot be a part of the file is asked for again; nothing of it reaches a package."""
        times = 4 if kind in ("silence", "slow-loris", "endless-headers", "416") else 12
        lie = SomeRequests(kind, 3, times)
        job = begin(case)
        case.origin.lies.append(lie)
        whole(case, job, limit=170)


for kind in [kind for kind in origins.KINDS if kind not in UNSEEN] + RANGE_KINDS:
    lies(kind)


@fault("archive: kill -9 worker, fetching", cases=4)
def kill_worker(case):
    job = begin(case, latency=0.1)
    time.sleep(case.random.uniform(0.1, 2))
    case.healed()
    case.cluster.workers[0].kill()
    case.cluster.restart_worker(case.cluster.workers[0])
    whole(case, job)


@fault("archive: kill -9 coordinator, fetching", cases=2)
def kill_coordinator(case):
    job = begin(case, latency=0.1)
    time.sleep(case.random.uniform(0.1, 2))
    case.cluster.coordinator.kill()
    case.cluster.start_coordinator()
    case.healed()
    whole(case, job)


def refused(kind):
    @fault(f"archive: {kind} from some request on, then a retry", cases=1, limit=180)
    def body(case):
        """The job ends after few requests with a cause of its own; a retry at a server that gives again is whole."""
        lie = SomeRequests(kind, 1, 1 << 40, after=case.random.randint(2, 3))
        job = begin(case, latency=0.1)
        case.origin.lies.append(lie)
        status = case.cluster.wait_end(job, 60)
        if status["state"] != "failed" or "origin-refused" not in status.get("reason", ""):
            raise Trouble(f"job ended {status['state']}: {status.get('reason')}")
        if sum(lie.told.values()) > 24:
            raise Trouble(f"{sum(lie.told.values())} requests were refused before the job ended")
        case.origin.lies.remove(lie)
        case.healed()
        case.cluster.ask("retry", job)
        whole(case, job)

    return body


for kind in REFUSALS:
    refused(kind)


def replaced(how, validator):
    @fault(f"archive: replaced, {how}, {validator}", cases=4)
    def body(case):
        """No package has tiles of two builds: the job ends with the reason, or is whole from one of them."""
        job = begin(case, latency=0.1, validator=validator)
        time.sleep(case.random.uniform(0, 2.5))
        changing = threading.Thread(target=case.origin.replace, args=(how, case.origin.closed), daemon=True)
        changing.start()
        case.healed()
        status = case.cluster.wait_end(job, 120)
        changing.join(30)
        if status["state"] == "failed":
            if "source-changed" not in status.get("reason", ""):
                raise Trouble(f"the job failed for another reason: {status.get('reason')}")
            if any(case.cluster.catalog.glob("packages/*/*")):
                raise Trouble("a package of a failed job was published")
        else:
            judge(case, status, case.truth)
        case.check_after(job, status)


for how in ["rename", "in place"]:
    for validator in ["etag", "last-modified", "none"]:
        replaced(how, validator)
