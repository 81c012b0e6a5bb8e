"""Opens every view of the page in Chromium and checks what a person would: see ops/web-test.

usage: browse.py FOLDER [IMAGES]   FOLDER gets all screenshots, IMAGES the few of the documents.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import sys
import time

from playwright.sync_api import sync_playwright

URL, JOB = os.environ["PAGE_URL"], os.environ.get("PAGE_JOB", "1")
OPERATOR, VIEWER = os.environ["OPERATOR_TOKEN"], os.environ["VIEWER_TOKEN"]
VIEWS = ["overview", "jobs", f"job/{JOB}", "catalog", "package/EE", "extract?bbox=24.5,59.3,25,59.5", "workers", "origins", "failed",
         "schedules", "catalogs"]
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WATCH = """window.marks = {csp: []};
document.addEventListener('securitypolicyviolation', (e) => window.marks.csp.push(e.violatedDirective + ' ' + e.blockedURI));"""
# Names of controls, one h1, contrast of texts, and nothing wider than the window.
INSPECT = """() => {
  const found = [];
  const visible = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  for (const e of document.querySelectorAll('button, a[href], input, select, canvas[role], progress')) {
    if (!visible(e)) continue;
    const label = e.getAttribute('aria-label') || e.textContent.trim() || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join('');
    if (!label) found.push('no name: ' + e.outerHTML.slice(0, 100));
  }
  if (document.querySelectorAll('h1').length !== 1) found.push('not one h1');
  if (document.documentElement.scrollWidth > innerWidth) found.push('wider than the window: ' + document.documentElement.scrollWidth);
  const parse = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  for (const e of document.querySelectorAll('main *, header *')) {
    if (!visible(e) || e.matches(':disabled, option, optgroup') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    let back = null;
    for (let up = e; up && !back; up = up.parentElement) { const c = parse(getComputedStyle(up).backgroundColor); if (c.length === 3 || c[3] > 0.99) back = c; }
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(back ?? [255, 255, 255])].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push('contrast ' + ((a + 0.05) / (b + 0.05)).toFixed(2) + ': ' + e.tagName + ' ' + e.textContent.slice(0, 40));
  }
  return found;
}"""
failures, done = [], 0


def check(name, is_right, found=""):
    global done
    done += 1
    if not is_right:
        failures.append(f"{name}: {found}")
        print(f"  FAILED {name}: {found}", flush=True)


def until(page, script, seconds=15):
    """Asks until a script is true: `wait_for_function` uses eval, which the policy of the page forbids."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.evaluate(script):
            return True
        time.sleep(0.1)
    return False


class Browser:
    def __init__(self, playwright, folder):
        self.browser = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=FLAGS)
        self.folder = folder

    def page(self, token=None, scheme="light", width=1200, height=860, library=True):
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
        context.add_init_script(WATCH + (f"sessionStorage.setItem('packhorse.token', {json.dumps(token)});" if token else ""))
        page = context.new_page()
        page.errors, page.hosts = [], set()
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: (page.errors.append("a dialog opened"), dialog.dismiss()))
        page.on("request", lambda request: page.hosts.add(re.sub(r"^(\w+:(//[^/]*)?).*", r"\1", request.url, flags=re.S)))
        if not library:
            page.route("**/ui/lib/*", lambda route: route.fulfill(status=404))
        return page

    def open(self, page, view):
        page.goto(f"{URL}/")
        page.goto(f"{URL}/#/{view}")
        return until(page, "!!document.querySelector('main h1') && !document.querySelector('main').textContent.includes('Loading …')")

    def shoot(self, page, name, **more):
        page.screenshot(path=self.folder / f"{name}.png", **more)


def clean(page, name):
    check(f"{name}: no script error", not page.errors, page.errors)
    csp = page.evaluate("window.marks.csp")
    check(f"{name}: no violation of the policy", not csp, csp)
    check(f"{name}: no other host", page.hosts <= {URL, "data:", "blob:", f"blob:{URL}"}, page.hosts)


def views(browser):
    for scheme, width, token, library in [("light", 1200, OPERATOR, True), ("dark", 1200, OPERATOR, True), ("light", 320, OPERATOR, False),
                                          ("dark", 320, VIEWER, False)]:
        page = browser.page(token, scheme, width, library=library)
        for view in VIEWS:
            name = f"{re.split('[/?]', view)[0]}-{scheme}-{width}"
            check(f"{name}: drawn", browser.open(page, view), page.inner_text("main")[:200])
            time.sleep(0.7)
            found = page.evaluate(INSPECT)
            check(f"{name}: names, contrast, width", not found, found)
            browser.shoot(page, name, full_page=True)
            if token == VIEWER:
                words = page.evaluate("[...document.querySelectorAll('main button')].map((b) => b.textContent)")
                orders = {"Pause", "Cancel", "Drain", "Try again", "Drop", "Build the package", "Set priority", "Promote", "Undo the last promotion"} & set(words)
                check(f"{name}: a viewer sees no orders", not orders, orders)
        clean(page, f"{scheme} {width}")
        page.context.close()


def hostile(browser):
    page = browser.page(OPERATOR)
    browser.open(page, f"job/{JOB}")
    title = page.inner_text("h1")
    check("hostile label: shown as text", "<img src=x" in title or "HOSTILE_LABEL" not in os.environ, title)
    check("hostile label: no element", page.evaluate("document.querySelectorAll('main img, main script').length") == 0)
    hard = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "javascript:alert(1)", "</title><b>", "{{7*7}}",
            "\u202eevil", "a\u0000b", "' or 1=1", "<style>*{display:none}</style>", "&lt;b&gt;", "=cmd|' /C calc'!A0", "\U0001f480" * 50, "x" * 3000, "<!--", "]]>",
            "${7*7}", "%3Cscript%3E", "<a href=javascript:alert(1)>x</a>", "<iframe src=//evil>", "<base href=//evil>", "<meta http-equiv=refresh>",
            "<form action=//evil>", "<math><mtext>", "<x onclick=alert(1)>", "\n\r\t", "../../etc/passwd", "<link rel=stylesheet href=//evil>", "<object data=x>", "\u0000"]
    body = page.request.get(f"{URL}/v1/jobs?limit=1", headers={"Authorization": f"Bearer {OPERATOR}"}).json()
    model = body["jobs"][0]
    jobs = [dict(model, job=1000 + i, label=text, waiting=text, reason=text) for i, text in enumerate(hard)]
    page.route("**/v1/jobs?*", lambda route: route.fulfill(json={"jobs": jobs, "next": 0}))
    browser.open(page, "jobs")
    shown = page.evaluate("document.querySelectorAll('main tbody tr').length")
    check("30 hostile labels: all rows", shown == len(hard), shown)
    tags = page.evaluate("[...new Set([...document.querySelectorAll('main *')].map((e) => e.tagName))]")
    extra = set(tags) & {"SCRIPT", "IMG", "SVG", "svg", "STYLE", "IFRAME", "BASE", "META", "MATH", "LINK", "OBJECT", "B", "X"}
    check("30 hostile labels: no element of theirs", not extra, extra)
    clean(page, "hostile labels")
    page.context.close()


def keyboard(browser):
    page = browser.page(OPERATOR)
    browser.open(page, f"job/{JOB}")
    page.keyboard.press("Tab")
    for _ in range(40):
        if page.evaluate("document.activeElement.classList.contains('over')"):
            break
        page.keyboard.press("Tab")
    check("keyboard: the map can be reached", page.evaluate("document.activeElement.classList.contains('over')"))
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check("keyboard: the focus is shown", outline != "none", outline)
    picture = "document.querySelector('canvas.over').toDataURL().length + document.querySelector('canvas.over').toDataURL().slice(-400)"
    before = page.evaluate(picture)
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    check("keyboard: the map moves", until(page, f"({picture}) !== {json.dumps(before)}", 5))
    page.context.close()


def coverage(browser):
    """The cells of a running job change on the canvas without a new load of the page."""
    page = browser.page(OPERATOR, library=False)
    browser.open(page, f"job/{JOB}")
    check("coverage: cells by state", until(page, "!!document.querySelector('main .legend li')"), page.inner_text("main")[:300])
    before = page.inner_text("main")
    check("coverage: it lives", until(page, f"document.querySelector('main').innerText !== {json.dumps(before)}", 30))
    page.context.close()


def order(page, word):
    answer = page.request.post(f"{URL}/v1/jobs/{JOB}/orders", headers={"Authorization": f"Bearer {OPERATOR}"}, data={"order": word})
    check(f"order: {word}", answer.ok, answer.text())


def extract(browser):
    page = browser.page(OPERATOR)
    # A merge waits until a worker has a free lease, which the batches of the slow job hold for minutes.
    order(page, "pause")
    browser.open(page, "extract?bbox=24.5,59.3,25,59.5")
    check("extract: an estimate", until(page, "/Batches/.test(document.querySelector('main').innerText)"), page.inner_text("main")[-300:])
    text = page.inner_text("main")
    count = re.search(r"([\d,]+) of at most", text)
    answer = re.search(r"Estimate\s+Tiles\s+([\d,]+)", text)
    check("extract: the count of the page is the count of the coordinator", bool(count and answer) and count[1] == answer[1], text[-300:])
    page.select_option("#deepest", "7")
    check("extract: fewer zooms, fewer tiles", until(page, f"!document.getElementById('count').textContent.startsWith({json.dumps(count[1] if count else '')})"))
    page.fill("#place", "Tallinn or so")
    page.keyboard.press("Enter")
    check("extract: a place that is not there", until(page, "/No region and no town has this name/.test(document.querySelector('main').innerText)"))
    page.fill("#place", "Dorpat")
    page.keyboard.press("Enter")
    check("extract: a town is found by another spelling", until(page, "/Tartu, EE/.test(document.querySelector('main').innerText)"), page.inner_text("main")[:300])
    page.fill("#place", "Eesti")
    page.keyboard.press("Enter")
    check("extract: a place is found", until(page, "!!document.querySelector('main button[data-key=\"place EE\"]')"), page.inner_text("main")[:300])
    picture = "document.querySelector('canvas.over').toDataURL()"
    before = page.evaluate(picture)
    page.click('main button[data-key="place EE"]')
    check("extract: the map shows the place", until(page, f"{picture} !== {json.dumps(before)}"))
    wanted = re.search(r"([\d,]+) of at most", page.inner_text("main"))
    page.get_by_role("button", name="Build the package").click()
    is_ready = until(page, "/Download the package/.test(document.querySelector('main').innerText)", 90)
    check("extract: built and offered", is_ready, page.inner_text("main")[-300:] + page.inner_text("#note"))
    if is_ready:
        with page.expect_download() as download:
            page.get_by_role("link", name=re.compile("Download the package")).click()
        with contextlib.closing(sqlite3.connect(f"file:{download.value.path()}?mode=ro", uri=True)) as file:
            tiles, deepest = file.execute("SELECT count(*), max(zoom_level) FROM tiles").fetchone()
        check("extract: the download has the tiles of the box at the chosen zooms", bool(wanted) and f"{tiles:,}" == wanted[1] and deepest == 7, f"{tiles} tiles to zoom {deepest}, {wanted}")
    area_file(browser)
    # A tileset and a zoom may be chosen before there is a box; clean() below fails for an exception.
    browser.open(page, "extract")
    page.select_option("#deepest", index=0)
    check("extract: a zoom is chosen without a box", until(page, "document.getElementById('deepest').selectedIndex === 0"))
    page.select_option("#tileset", index=0)
    # The same box drawn with the pointer.
    browser.open(page, "extract")
    page.get_by_role("button", name="Draw a box").click()
    frame = page.locator("canvas.over").bounding_box()
    page.mouse.move(frame["x"] + 300, frame["y"] + 150)
    page.mouse.down()
    page.mouse.move(frame["x"] + 320, frame["y"] + 170, steps=4)
    page.mouse.up()
    check("extract: a drawn box fills the edges", until(page, "document.getElementById('west').value !== ''"))
    order(page, "resume")
    browser.open(page, "catalog")
    page.get_by_role("button", name=re.compile(r"^extracts \(2\)")).click()
    check("catalog: the group of extracts", until(page, "/m[0-9a-f]{24}/.test(document.querySelector('.tree').innerText)"), page.inner_text("main")[:300])
    clean(page, "extract")
    page.context.close()


# A route across a corner of Estonia.
TRIP = ('<gpx><wpt lat="58.4" lon="26.7"/><rte><rtept lat="59.41" lon="24.7"/><rtept lat="59.44" lon="24.95"/></rte></gpx>')
# What a browser does with a file that is dropped on an element.
DROP = """([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));
  document.querySelector('canvas.over').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); }"""


def area_file(browser):
    """A file with an area in place of a box; the job of the page is paused."""
    page = browser.page(OPERATOR)
    browser.open(page, "extract?bbox=24.5,59.3,25,59.5")
    main = "document.querySelector('main').innerText"
    count = lambda: re.search(r"([\d,]+) of at most", page.inner_text("main"))
    page.select_option("#deepest", "8")
    picture = "document.querySelector('canvas.over').toDataURL()"
    before = page.evaluate(picture)
    page.set_input_files("#file", {"name": "trip.gpx", "mimeType": "application/gpx+xml", "buffer": TRIP.encode()})
    check("file: it is named with its format", until(page, f"/trip\\.gpx \\(gpx\\)/.test({main})"), page.inner_text("main")[-400:])
    check("file: the edges of the box are empty", page.input_value("#west") == "")
    check("file: its tiles are drawn", page.evaluate(picture) != before)
    check("file: an estimate", until(page, f"/Batches/.test({main})"), page.inner_text("main")[-300:])
    answer = page.request.post(f"{URL}/v1/areas?zoom=8", headers={"Authorization": f"Bearer {OPERATOR}"}, data=TRIP.encode()).json()
    check("file: the count is that of the server", bool(count()) and count()[1] == f"{answer['tiles']:,}", f"{count()} {answer['tiles']}")
    bare = count()[1] if count() else ""
    page.fill("#margin", "far")
    page.keyboard.press("Enter")
    check("file: a wrong margin is refused with words", until(page, "/margin|distance/.test(document.getElementById('count').textContent)"), page.inner_text("#count"))
    page.fill("#margin", "40km")
    page.keyboard.press("Enter")
    check("file: a margin adds tiles", until(page, f"/of at most/.test({main}) && !document.getElementById('count').textContent.startsWith({json.dumps(bare)})"), page.inner_text("#count"))
    wide = count()[1] if count() else ""
    page.get_by_label("Waypoints too").check()
    check("file: waypoints add tiles", until(page, f"/of at most/.test({main}) && !document.getElementById('count').textContent.startsWith({json.dumps(wide)})"), page.inner_text("#count"))
    found = page.evaluate(INSPECT)
    check("file: names, contrast, width", not found, found)
    browser.shoot(page, "extract-file", full_page=True)
    wanted = count()
    page.get_by_role("button", name="Build the package").click()
    is_ready = until(page, f"/Download the package/.test({main})", 90)
    check("file: built and offered", is_ready, page.inner_text("main")[-300:] + page.inner_text("#note"))
    if is_ready:
        with page.expect_download() as download:
            page.get_by_role("link", name=re.compile("Download the package")).click()
        with contextlib.closing(sqlite3.connect(f"file:{download.value.path()}?mode=ro", uri=True)) as file:
            tiles, deepest = file.execute("SELECT count(*), max(zoom_level) FROM tiles").fetchone()
        check("file: the download has the tiles of the file", bool(wanted) and f"{tiles:,}" == wanted[1] and deepest == 8, f"{tiles} tiles to zoom {deepest}, {wanted}")
    page.evaluate(DROP, ["a<b>.txt", "hello"])
    check("file: another file is refused with words", until(page, "/no known format/.test(document.getElementById('count').textContent)"), page.inner_text("#count"))
    page.evaluate(DROP, ["square.wkt", "POLYGON((24.6 59.3,24.9 59.3,24.9 59.5,24.6 59.3))"])
    check("file: a dropped file is read", until(page, f"/square\\.wkt \\(wkt\\)/.test({main})"), page.inner_text("main")[-400:])
    page.get_by_role("button", name="Remove the file").click()
    check("file: removed", until(page, f"!/square/.test({main}) && !document.getElementById('margin')"), page.inner_text("main")[:300])
    clean(page, "file")
    page.context.close()


def sign_in(browser):
    """A token that the gateway does not know is refused with words."""
    page = browser.page()
    browser.open(page, "jobs")
    page.fill("#token", "ph_wrong")
    page.click("main button[type=submit]")
    until(page, "document.querySelector('main').textContent.includes('not known')")
    check("a wrong token is refused with words", "not known" in page.text_content("main"), page.text_content("main")[:200])
    page.context.close()


def another_token(browser):
    """The address that a restarted `packhorse up` prints, opened in the tab of the token before."""
    page = browser.page()
    refused = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status == 400 else None)
    browser.open(page, "overview")
    for token, name in [("ph_old", "none"), (VIEWER, "viewer"), (OPERATOR, "operator")]:
        page.goto(f"{URL}/#token={token}")
        wanted = f"Role: {name}" if name != "none" else "not known"
        check(f"token in the address: {name}", until(page, f"document.body.innerText.includes({json.dumps(wanted)})"), page.inner_text("body")[:300])
    check("token in the address: no request is wrong", not refused, refused)
    check("token in the address: the view", until(page, "document.querySelector('h1').textContent === 'Overview'"), page.inner_text("main")[:200])
    page.context.close()


def search(browser):
    page = browser.page()
    check("catalog: without a token", browser.open(page, "catalog"))
    page.fill("#q", "эстон")
    check("catalog: search in Russian", until(page, "/Estonia|Eesti|Estland/.test(document.querySelector('.tree').innerText) && !/Latvia/.test(document.querySelector('.tree').innerText)"),
          page.inner_text("main"))
    check("catalog: the field keeps the focus", page.evaluate("document.activeElement.id") == "q")
    plain = page.request.get(f"{URL}/catalog.html")
    check("catalog.html: the package, no script", plain.ok and "EE.mbtiles" in plain.text() and "<script" not in plain.text(), plain.status)
    browser.open(page, "overview")
    check("without a token: asks for one", "Sign in" in page.inner_text("main"))
    clean(page, "catalog")
    page.context.close()


def library(browser):
    for has in (True, False):
        page = browser.page(OPERATOR, library=has)
        browser.open(page, "package/EE")
        wanted = "MapLibre GL JS" if has and os.environ.get("LIBRARY") else "Simple map"
        check(f"package: {wanted}", until(page, f"document.querySelector('.caption').textContent.startsWith({json.dumps('Map by' if wanted != 'Simple map' else wanted)})", 25),
              page.inner_text(".caption"))
        page.get_by_label("Borders of tiles").check()
        browser.shoot(page, f"package-{'library' if has else 'canvas'}")
        clean(page, f"package {wanted}")
        page.context.close()


def away(browser):
    """The coordinator stops answering: the page keeps the last state, in grey, and says so."""
    page = browser.page(OPERATOR)
    browser.open(page, "overview")
    pid = os.environ.get("COORDINATOR_PID")
    if pid:
        os.kill(int(pid), signal.SIGSTOP)
    else:
        page.route("**/v1/**", lambda route: route.fulfill(status=503, json={"code": "coordinator-away", "detail": "no answer"}))
    try:
        check("away: the page says it", until(page, "/does not answer/.test(document.getElementById('bar').textContent)", 40), page.inner_text("#bar"))
        check("away: the last state stays, in grey", page.evaluate("document.querySelector('main').classList.contains('old')"))
        browser.shoot(page, "away")
    finally:
        if pid:
            os.kill(int(pid), signal.SIGCONT)
    if pid:
        check("away: it recovers", until(page, "document.getElementById('bar').textContent === ''", 30), page.inner_text("#bar"))
    page.context.close()


def pictures(browser, images):
    images.mkdir(parents=True, exist_ok=True)
    for name, view, scheme in [("web-job", f"job/{JOB}", "light"), ("web-catalog", "catalog", "dark"), ("web-extract", "extract?bbox=24.5,59.3,25,59.5", "light")]:
        page = browser.page(OPERATOR, scheme, 1000, 760)
        browser.open(page, view)
        time.sleep(3)
        page.screenshot(path=images / f"{name}.png")
        check(f"{name}.png: under 150 KB", (images / f"{name}.png").stat().st_size < 150_000, (images / f"{name}.png").stat().st_size)
        page.context.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    only = os.environ.get("ONLY", "").split()
    with sync_playwright() as playwright:
        browser = Browser(playwright, folder)
        for part in (coverage, views, hostile, keyboard, sign_in, another_token, search, library, extract, away):
            if only and part.__name__ not in only:
                continue
            print(part.__name__, flush=True)
            try:
                part(browser)
            except Exception as error:  # One part that cannot go on does not hide what the others find.
                check(part.__name__, False, repr(error)[:500])
        if len(sys.argv) > 2:
            pictures(browser, pathlib.Path(sys.argv[2]))
        browser.browser.close()
    print(f"{done - len(failures)} of {done} checks passed; screenshots in {folder}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
