"""How long the page takes until its first map is drawn by MapLibre, in headless Chromium. Runs in an environment with Playwright.

usage: page_map.py record FOLDER URL     keeps the bodies of all answers for that map, for another server
       page_map.py COUNT URL…            prints a list of medians in milliseconds
"""
import gzip
import json
import os
import pathlib
import statistics
import sys
import urllib.parse

from playwright.sync_api import sync_playwright

VIEW = "/#/package/deep"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# The page says under a map what draws it, once it is drawn.
WATCH = """(() => { const look = () => { const found = document.querySelector('.caption');
  if (found?.textContent.startsWith('Map by')) window.drawn = performance.now(); else requestAnimationFrame(look); }; requestAnimationFrame(look); })();"""


def drawn(browser, url, keep=None):
    """Milliseconds from the start of the navigation; `keep` gets each answer."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        context.add_init_script(WATCH)
        page = context.new_page()
        if keep:
            page.on("response", keep)
        page.goto(url + VIEW)
        for _ in range(1_200):
            if found := page.evaluate("window.drawn ?? null"):
                if keep:
                    page.wait_for_timeout(3_000)
                return found
            page.wait_for_timeout(25)
        raise RuntimeError(f"{url} draws no map: {page.inner_text('body')[:200]}")
    finally:
        context.close()


def record(browser, folder, url):
    answers = []
    drawn(browser, url, lambda answer: answers.append((answer, answer.body() if answer.status == 200 else b"")))
    for answer, body in answers:
        path = urllib.parse.unquote(urllib.parse.urlsplit(answer.url).path)
        if not answer.url.startswith(url) or answer.status != 200:
            continue
        target = pathlib.Path(folder) / (path.lstrip("/") or "index.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
        pathlib.Path(f"{target}.gz").write_bytes(gzip.compress(body, 6))
    print(len(answers))


def main(words):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("BROWSER", "/usr/bin/chromium-headless-shell"), args=FLAGS)
        if words[0] == "record":
            record(browser, *words[1:])
        else:
            # In turns; the first round warms the browser.
            rounds = [[drawn(browser, url) for url in words[1:]] for _ in range(int(words[0]) + 1)]
            print(json.dumps([statistics.median(one) for one in zip(*rounds[1:])]))
        browser.close()


main(sys.argv[1:])
