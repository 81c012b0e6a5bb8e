"""Checks with the coordinator: numbers 11 and 13 to 16 of ops/gateway-check."""
import http.client
import json
import socket
import sqlite3
import struct
import threading
import time

from acceptance import expect, wait

# States of docs/formats/coverage.md.
OUTSIDE, WAITING, IN_WORK, STORED, PARTLY_EMPTY, EMPTY, FAILED, GIVEN_UP, DIVIDED, UNCHANGED = range(10)


def cells(document):
    """The states of all bands, as a list of (zoom_min, zoom_max, bytes)."""
    expect(document[:4] == b"PHC1", f"the coverage begins with {document[:4]!r}")
    bands, place = [], 13
    for _ in range(document[4]):
        zoom_min, zoom_max, _, _, _, _, width, height = struct.unpack_from("<BBBBIIHH", document, place)
        bands.append((zoom_min, zoom_max, document[place + 16:place + 16 + width * height]))
        place += 16 + width * height
    expect(place == len(document), "the coverage has other bytes at its end")
    return bands


def coverage(site):
    """At 20 and more moments of a job with failed tiles, the coverage agrees with the status of the job."""
    gateway = site.gateway
    job = gateway.submit("slow", {"regions": ["LV"]})
    seen, moments = set(), 0
    # A job that another check has left takes requests of the same server, so the first cell may be stored late.
    while moments < 20 or STORED not in seen and moments < 300:
        moments += 1
        before = gateway.job(job)
        document = gateway.get(f"/v1/jobs/{job}/coverage", role="viewer").body
        after = gateway.job(job)
        if after["state"] not in ("fetching", "paused") or before["state"] != "fetching":
            break
        states = b"".join(band for _, _, band in cells(document))
        counts = {state: states.count(state) for state in range(10)}
        seen |= {state for state, count in counts.items() if count}
        stored = counts[STORED] + counts[PARTLY_EMPTY] + counts[EMPTY] + counts[UNCHANGED]
        expect(not (after["batches_done"] == 0 and stored), f"cells are stored, but no batch is done: {counts}")
        open_batches = before["batches"] - before["batches_done"] - before["batches_failed"]
        expect(not (open_batches == 0 and counts[WAITING] + counts[IN_WORK]), f"cells wait, but no batch is open: {counts}")
        expect(counts[DIVIDED] == 0, "a cell has the state 8, which is not written")
        time.sleep(0.4)
    expect(moments >= 20 and {OUTSIDE, STORED} <= seen and seen & {WAITING, IN_WORK}, f"{moments} moments have shown the states {sorted(seen)} only")
    gateway.wait_for_job(job, 300)
    # A job that has ended has no bands.
    end = wait("the last coverage", lambda: gateway.get(f"/v1/jobs/{job}/coverage", role="viewer").body, 5)
    states = b"".join(band for _, _, band in cells(end))
    expect(not set(states) & {WAITING, IN_WORK, DIVIDED}, f"at the end cells have the states {sorted(set(states))}")
    path, _ = site.file("LV")
    database = sqlite3.connect(f"file:{site.catalog / path}?immutable=1", uri=True)
    tiles = database.execute("SELECT count(*) FROM tiles").fetchone()[0]
    database.close()
    stored = gateway.job(job)["stored"]
    expect(tiles == stored, f"the package has {tiles} tiles, the job stored {stored}")


def roles(site):
    """A viewer may not order; without its token file it gets 401 within two seconds, and its stream ends."""
    gateway = site.gateway
    site.make_token("leaving", "viewer")
    wait("the new token", lambda: gateway("GET", "/v1/jobs", role="leaving").status == 200, 3)
    answer = gateway("POST", "/v1/jobs/1/orders", {"order": "pause"}, role="leaving")
    expect(answer.status == 403, f"a viewer's order gave {answer.status}")
    expect(gateway("GET", "/v1/jobs").status == 401, "the list of jobs was given without a token")
    problem = gateway("GET", "/v1/jobs").json()
    expect({"type", "title", "status", "code"} <= set(problem), f"the problem has {sorted(problem)}")
    stream = Stream(gateway, "leaving")
    (site.token_folder / "leaving.token").unlink()
    wait("401 for a removed token", lambda: gateway("GET", "/v1/jobs", role="leaving").status == 401, 2.5)
    wait("the end of its stream", stream.has_ended, 8)


class Stream:
    """An event stream that is read in a thread; `seqs` are the numbers of its events."""

    def __init__(self, gateway, role, after=0, last=None):
        self.seqs, self.connection = [], http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {gateway.site.tokens[role]}"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.connection.request("GET", f"/v1/events?after={after}" if last is None else "/v1/events", None, headers)
        # http.client closes its own socket when the answer ends the connection.
        self.socket = self.connection.sock.dup()
        self.response = self.connection.getresponse()
        # Only the body of an answer that is no stream has an end.
        found = "" if self.response.status == 200 else self.response.read(300)
        expect(self.response.status == 200, f"the stream gave {self.response.status}: {found!r}")
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        number = None
        try:
            while line := self.response.readline():
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: ") and number is not None:
                    json.loads(line[6:])
                elif line == b"\n" and number is not None:
                    # An event counts only when its last line is there.
                    self.seqs.append(number)
                    number = None
        except (OSError, ValueError, http.client.HTTPException):
            pass

    def has_ended(self):
        return not self.thread.is_alive()

    def cut(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(10)
        self.socket.close()
        self.connection.close()


def idempotency(site):
    """One Idempotency-Key from 20 connections through two gateways, one of which is killed, makes one job."""
    second = site.make_gateway()
    body = {"tileset": "demo", "area": {"bbox": [26.0, 58.0, 26.2, 58.1]}, "label": "idempotent"}
    before = newest(site)
    answers = []

    def submit(gateway):
        try:
            answers.append(gateway("POST", "/v1/jobs", body, role="operator", Idempotency_Key="check-14"))
        except (OSError, http.client.HTTPException):
            pass  # the gateway that was killed

    threads = [threading.Thread(target=submit, args=(second if number % 2 else site.gateway,)) for number in range(20)]
    for thread in threads:
        thread.start()
    second.kill()
    for thread in threads:
        thread.join()
    jobs = {answer.json()["job"] for answer in answers if answer.status in (200, 201)}
    odd = [answer.status for answer in answers if answer.status not in (200, 201, 409)]
    expect(len(jobs) == 1 and not odd, f"jobs {jobs}, statuses {odd}")
    # The gateway answers from what it read in the last second.
    wait("the job in the list", lambda: newest(site) > before, 5)
    time.sleep(1.5)
    expect(newest(site) == before + 1, f"{newest(site) - before} jobs were made")
    other = site.gateway("POST", "/v1/jobs", {**body, "area": {"bbox": [26.0, 58.0, 26.9, 58.9]}}, role="operator", Idempotency_Key="check-14")
    expect(other.status == 422, f"other content gave {other.status}: {other.body[:200]!r}")


def newest(site):
    return site.gateway.get("/v1/jobs?limit=1", role="viewer").json()["jobs"][0]["job"]


def events(site):
    """An event stream that is cut 50 times and resumed by Last-Event-ID gives every event once and in order."""
    job = site.gateway.submit("slow", {"bbox": [21.0, 57.0, 23.0, 59.0]})
    seqs = []
    for round_ in range(50):
        stream = Stream(site.gateway, "viewer", last=seqs[-1] if seqs else 0)
        end = time.monotonic() + 3
        wanted = 1 + round_ % 5
        while len(stream.seqs) < wanted and time.monotonic() < end:
            time.sleep(0.02)
        stream.cut()
        seqs += stream.seqs
    site.gateway("POST", f"/v1/jobs/{job}/orders", {"order": "cancel"}, role="operator")
    expect(len(seqs) >= 20, f"{len(seqs)} events only")
    expect(seqs == sorted(set(seqs)), "an event came twice, or out of order")
    listed, after = [], 0
    while True:
        page = site.gateway.get(f"/v1/events?after={after}&limit=1000", role="viewer").json()["events"]
        listed += [event["seq"] for event in page if event["seq"] <= seqs[-1]]
        if not page or page[-1]["seq"] >= seqs[-1]:
            break
        after = page[-1]["seq"]
    expect(listed == seqs, f"the stream gave {len(seqs)} events, the log has {len(listed)}")


def coordinator_away(site):
    """While the coordinator is away for 30 s, files and tiles are served without an error; /v1 gives 503 with Retry-After."""
    path, _ = site.file("EE")
    errors, count, stop = [], [0], threading.Event()

    def load(paths):
        connection = http.client.HTTPConnection("127.0.0.1", site.gateway.port, timeout=20)
        while not stop.is_set():
            for wanted in paths:
                try:
                    connection.request("GET", wanted)
                    response = connection.getresponse()
                    response.read()
                    count[0] += 1
                    if response.status != 200:
                        errors.append(f"{wanted}: {response.status}")
                except (OSError, http.client.HTTPException) as problem:
                    errors.append(f"{wanted}: {problem!r}")
                    connection.close()

    threads = [threading.Thread(target=load, args=(["/" + path, "/tiles/EE/0/0/0", "/catalog.json"],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        site.coordinator.kill()
        site.coordinator.wait()
        time.sleep(3)
        began = time.monotonic()
        answer = site.gateway("GET", "/v1/jobs", role="viewer")
        expect(answer.status == 503 and "retry-after" in answer.headers, f"/v1/jobs gave {answer.status} {answer.headers}")
        expect(time.monotonic() - began < 4, "the 503 took more than 3 s")
        time.sleep(27)
        site.start_coordinator()
        wait("the coordinator's answer through the gateway", lambda: site.gateway("GET", "/v1/jobs", role="viewer").status == 200, 5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    expect(not errors, f"{len(errors)} of {count[0]} requests failed: {errors[:3]}")
    expect(count[0] > 500, f"only {count[0]} requests were sent")


ALL = {11: coverage, 13: roles, 14: idempotency, 15: events, 16: coordinator_away}
