"""How long a page takes until something is drawn, in headless Chromium: page_paint.py COUNT URL… prints a list of medians in milliseconds.

Runs in an environment with Playwright.
"""
import json
import os
import statistics
import sys

from playwright.sync_api import sync_playwright


def paint(browser, url):
    """The time of the first contentful paint in a new context."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(url + "/", wait_until="load")
        for _ in range(250):
            entries = page.evaluate("performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)")
            if entries:
                return entries[0]
            page.wait_for_timeout(20)
        raise RuntimeError(f"{url} draws nothing")
    finally:
        context.close()


def main(count, urls):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("BROWSER", "/usr/bin/chromium-headless-shell"), args=["--no-sandbox"])
        # In turns; the first round warms the browser.
        rounds = [[paint(browser, url) for url in urls] for _ in range(count + 1)]
        browser.close()
    print(json.dumps([statistics.median(one) for one in zip(*rounds[1:])]))


main(int(sys.argv[1]), sys.argv[2:])
