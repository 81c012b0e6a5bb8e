"""Checks of the view that builds a map: see ops/web-test."""

import contextlib
import json
import re
import sqlite3

from browser import JOB, OPERATOR, URL, check, clean, inspect, until


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
    inspect(page, "file")
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
    clean(page, "file", refused="/v1/areas")
    page.context.close()
