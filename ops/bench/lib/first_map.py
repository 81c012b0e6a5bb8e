"""How long the page takes until MapLibre GL JS has drawn the first map, in headless Chromium.

usage: first_map.py files VIEW URL         the paths that the page asks for until its map is drawn, as a JSON list
       first_map.py COUNT VIEW URL…        the milliseconds of COUNT loads of each, in turns, as JSON lists

VIEW is what follows `#/`, for example package/EE. Each load has a new context of the browser, so nothing is kept of the one before. The time
begins with the navigation and ends when the page says that MapLibre has drawn, which it does at the event `load` of the map: all tiles that are
in view, and all letters, are there and painted. Runs in an environment with Playwright.
"""
import json
import os
import sys
import time
import urllib.parse

from playwright.sync_api import sync_playwright

# Without a graphics card the browser's own software draws.
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# The line under a map names who drew it.
WATCH = """new MutationObserver(() => {
  if (window.drawnAt === undefined && document.querySelector('.caption')?.textContent.startsWith('Map by MapLibre')) window.drawnAt = performance.now();
}).observe(document, {subtree: true, childList: true, characterData: true});"""
# Seconds; a busy machine is slow.
PATIENCE = 120


def load(browser, url, view, paths=None):
    """Milliseconds until the map is drawn; `paths` gets what was asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    try:
        context.set_default_timeout(PATIENCE * 1000)
        context.add_init_script(WATCH)
        page = context.new_page()
        if paths is not None:
            page.on("request", lambda request: paths.append(request.url) if request.url.startswith(url) else None)
        page.goto(f"{url}/#/{view}", wait_until="commit")
        end = time.monotonic() + PATIENCE
        while (drawn := page.evaluate("window.drawnAt ?? null")) is None:
            if time.monotonic() > end:
                raise RuntimeError(f"{url} draws no map with MapLibre: {page.inner_text('body')[:300]}")
            page.wait_for_timeout(100)
        return drawn
    finally:
        context.close()


def main(what, view, urls):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("BROWSER", "/usr/bin/chromium-headless-shell"), args=FLAGS)
        if what == "files":
            asked = []
            load(browser, urls[0], view, asked)
            parts = [urllib.parse.urlsplit(one) for one in asked]
            print(json.dumps(sorted({one.path + (f"?{one.query}" if one.query else "") for one in parts})))
        else:
            # The first round warms the browser and the servers.
            rounds = [[load(browser, url, view) for url in urls] for _ in range(int(what) + 1)]
            print(json.dumps([list(one) for one in zip(*rounds[1:])]))
        browser.close()


main(sys.argv[1], sys.argv[2], sys.argv[3:])
