"""Reads the coordinator's metrics all the time, and judges what they meant on a day. Python's standard library only."""
import threading
import time
import urllib.request
from http.client import HTTPException

import alerts
import harness
from acceptance import expect, wait


class Watch:
    """A thread that reads a page ten times a second."""

    def __init__(self, port):
        self.url, self.meaning = f"http://127.0.0.1:{port}/metrics", alerts.Meaning(harness.PATIENCE)
        self.pages, self.problem = 0, None
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.wait_for_page()

    def run(self):
        try:
            while not self.ended.wait(0.1):
                page = self.read()
                with self.lock:
                    self.meaning.take(page, time.monotonic())
                    self.pages += page is not None
        except Exception as problem:  # the day that is judged next names it
            self.problem = problem

    def read(self):
        try:
            with urllib.request.urlopen(self.url, timeout=self.meaning.limits[alerts.DOWN]) as page:
                return page.read().decode()
        except (OSError, HTTPException):
            return None

    def look(self, what):
        """A set of `Meaning`; raises what ended the thread."""
        expect(not self.problem, f"the page of metrics cannot be read: {self.problem!r}")
        with self.lock:
            return set(getattr(self.meaning, what))

    def wait_for_page(self):
        """Waits for a page that was asked for after this call: the next one may have been under way."""
        before = self.pages
        wait("a page of metrics", lambda: self.look("held") is not None and self.pages > before + 1, 60 * harness.PATIENCE)

    def wait_for(self, alert):
        wait(f"the metrics mean {alert}", lambda: alert in self.look("seen"), 60 * harness.PATIENCE)

    def begin(self):
        with self.lock:
            self.meaning.begin()

    def judge(self, must, may):
        """After a day: what had to be seen was seen, nothing else, and no state is left."""
        wait("the end of all alerts", lambda: not self.look("held"), 60 * harness.PATIENCE)
        self.wait_for_page()
        seen = self.look("seen")
        alerts.compare(seen, must, may)
        return seen

    def close(self):
        self.ended.set()
        self.thread.join(30)
