"""Checks of the view that builds a map: see ops/web-test."""

import contextlib
import json
import pathlib
import re
import sqlite3
import tempfile
import urllib.parse

from browser import JOB, OPERATOR, URL, accessible, check, clean, inspect, public, until
from wishes import wishes


MAIN = "document.querySelector('main').innerText"
PICTURE = "document.querySelector('canvas.over').toDataURL()"
# How many pixels of what is drawn over the map have a colour of the theme.
PIXELS = """(name) => {
  const { width, height } = document.querySelector('canvas.over');
  const { data } = document.querySelector('canvas.over').getContext('2d').getImageData(0, 0, width, height);
  const wanted = getComputedStyle(document.documentElement).getPropertyValue(name).trim().match(/\\w\\w/g).map((part) => parseInt(part, 16));
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && wanted.every((value, at) => data[i + at] === value)) count += 1;
  return count;
}"""


def order(page, word):
    answer = page.request.post(f"{URL}/v1/jobs/{JOB}/orders", headers={"Authorization": f"Bearer {OPERATOR}"}, data={"order": word})
    check(f"order: {word}", answer.ok, answer.text())


def tiles_of(page):
    """The number of tiles that the view shows; empty before it does."""
    found = re.match(r"([\d,]+) of at most", page.inner_text("#count"))
    return found[1] if found else ""


def counted(page, name, but=""):
    """Waits for a number of tiles other than `but`, and returns it."""
    script = f"/of at most/.test(document.getElementById('count').textContent) && !document.getElementById('count').textContent.startsWith({json.dumps(but + ' ') if but else 'null'})"
    check(f"{name}: counted", until(page, script), page.inner_text("#count"))
    return tiles_of(page)


def search(page, text, expression, name):
    page.fill("#place", text)
    page.keyboard.press("Enter")
    check(name, until(page, f"/{expression}/.test({MAIN})"), page.inner_text("main")[:300])


def built(page, name, wanted, deepest, file_name):
    """Builds the map, downloads it under its name, and counts its tiles."""
    page.get_by_role("button", name="Build the map").click()
    is_ready = until(page, f"/Download mbtiles/.test({MAIN})", 180)
    check(f"{name}: built and offered", is_ready, page.inner_text("main")[-300:] + page.inner_text("#note"))
    if not is_ready:
        return
    inspect(page, f"{name}, ready")
    got, path = downloaded(page)
    check(f"{name}: the file has its name", got == file_name, got)
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
        tiles, most = file.execute("SELECT count(*), max(zoom_level) FROM tiles").fetchone()
    check(f"{name}: the download has the tiles of the area", f"{tiles:,}" == wanted and most == deepest, f"{tiles} tiles to zoom {most}, {wanted}")


def downloaded(page):
    """The name and the place of the file of the link."""
    link = page.get_by_role("link", name=re.compile("Download mbtiles")).first
    if page.is_firefox:  # Playwright cannot read what this Firefox has downloaded.
        path = pathlib.Path(tempfile.mkdtemp()) / "file"
        path.write_bytes(page.request.get(urllib.parse.urljoin(f"{URL}/", link.get_attribute("href"))).body())
        return link.get_attribute("download"), path
    with page.expect_download() as download:
        link.click()
    return download.value.suggested_filename, download.value.path()


def extract(browser):
    page = browser.page(OPERATOR)
    # A merge waits until a worker has a free lease, which the batches of the slow job hold for minutes.
    order(page, "pause")
    browser.open(page, "extract?bbox=24.5,59.3,25,59.5")
    count = counted(page, "box")
    page.locator("summary", has_text="Details").click()
    check("box: an estimate", until(page, f"/Batches/.test({MAIN})"), page.inner_text("main")[-300:])
    answer = re.search(r"Tiles\s+([\d,]+)\s+Batches", page.inner_text("main"))
    check("box: the count of the page is the count of the coordinator", bool(answer) and count == answer[1], page.inner_text("main")[-300:])
    check("box: its size is sampled", until(page, "/about .*B ± .*B/.test(document.getElementById('size')?.textContent ?? '')", 180), page.inner_text(".act"))
    page.select_option("#deepest", "7")
    few = counted(page, "fewer zooms", but=count)
    page.fill("#margin", "30km")
    page.keyboard.press("Enter")
    counted(page, "a margin", but=few)
    search(page, "Tallinn or so", "No region and no town has this name", "search: a place that is not there")
    search(page, "Dorpat", "Tartu, EE", "search: a town by another spelling")
    page.get_by_role("button", name="Tartu, EE").click()
    check("town: chosen", until(page, f"/The area is Tartu, EE/.test({MAIN})"), page.inner_text("main")[:300])
    page.fill("#margin", "")
    page.keyboard.press("Enter")
    around = counted(page, "town")
    search(page, "Eesti", "Estonia|Eesti", "search: a country in its own language")
    before = page.evaluate(PICTURE)
    page.click('main button[data-key="place EE"]')
    check("region: the map shows it", until(page, f"{PICTURE} !== {json.dumps(before)}"))
    wanted = counted(page, "region", but=around)
    page.fill("#name", "Eesti 2026 / test")
    page.keyboard.press("Enter")
    page.get_by_label("also as PMTiles").check()
    until(page, "!document.querySelector('[data-key=build]').disabled")
    built(page, "region", wanted, 7, "Eesti-2026-test.mbtiles")
    check("region: PMTiles too", page.get_by_role("link", name=re.compile("Download pmtiles")).count() == 1, page.inner_text(".act"))
    shared(page)
    accessible(page, "share")
    page.keyboard.press("Escape")
    check("share: closed by Escape", until(page, "!document.querySelector('dialog')"))
    link = page.url
    area_file(browser)
    wishes(browser)
    another_person(browser, link)
    # The link in another tab shows the same map, ready.
    page.goto(f"{URL}/catalog.html")
    page.goto(link)
    check("link: the same map", until(page, f"/Download mbtiles/.test({MAIN}) && document.getElementById('name').value === 'Eesti 2026 / test'"), page.inner_text("main")[-300:])
    # A tileset and a zoom may be chosen before there is a box; clean() below fails for an exception.
    browser.open(page, "extract")
    page.select_option("#deepest", index=0)
    check("extract: a zoom is chosen without a box", until(page, "document.getElementById('deepest').selectedIndex === 0"))
    page.select_option("#tileset", index=0)
    too_large(page, browser)
    town(page, browser)
    drawn(page, browser)
    order(page, "resume")
    browser.open(page, "catalog")
    page.get_by_role("button", name=re.compile(r"^extracts \(3\)")).click()
    check("catalog: extracts have their names", until(page, "/Eesti 2026/.test(document.querySelector('.tree').innerText)"), page.inner_text("main")[:300])
    clean(page, "extract")
    page.context.close()


def shared(page):
    """A map that is ready has the link of its package; a code is shown where other computers can open it."""
    path = f"#/package/{urllib.parse.parse_qs(page.url.partition('?')[2])['id'][0]}?edition=groups%2Fextracts%2F"
    page.get_by_role("button", name="Share").click()
    local = page.inner_text("dialog")
    check("share: no code of this computer", f"{URL}/{path}" in local and "on this computer only" in local and page.locator("dialog canvas").count() == 0, local)
    page.keyboard.press("Escape")
    public(page)
    until(page, "!document.querySelector('dialog')")
    for _ in range(60):  # The public address comes with the next drawing.
        page.get_by_role("button", name="Share").click()
        if until(page, "!!document.querySelector('dialog canvas[role=img]')", 1):
            break
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('dialog')")
    check("share: a code of the public address", page.inner_text("dialog .mono") == f"https://maps.example.com/{path}", page.inner_text("dialog"))
    page.unroute("**/v1/tilesets")


def another_person(browser, link):
    """Whoever gets the link of a map that is ready needs no token; one that is cut asks for a token of the role client."""
    page = browser.page()
    page.goto(link)
    check("link: no token for a map that is ready", until(page, f"/Eesti 2026/.test({MAIN}) && /Download mbtiles/.test({MAIN})"), page.inner_text("main")[:300])
    got = downloaded(page)[0]
    check("package: the file has the same name", got == "Eesti-2026-test.mbtiles", got)
    browser.open(page, re.sub(r"\bid=(\w+)", r"id=\g<1>0", f"extract{link.partition('#/extract')[2]}"))
    check("link: who is not signed in", until(page, f"/To build a map here/.test({MAIN}) && /--role client/.test({MAIN})"), page.inner_text("main")[:300])
    page.fill("#token", OPERATOR)
    page.click("main button[type=submit]")
    check("link: an id that is not there", until(page, f"/There is no such map/.test({MAIN})"), page.inner_text("main")[-300:])
    # Each of them is still a map that could be built, but not the one that was shared.
    for cut in (link[:-1], link[:-12], f"{URL}/#/extract?bbox=24.5,-59.5,25,", f"{URL}/#/extract?polygon=24,59;25,59;24.5,"):
        browser.open(page, f"extract{cut.partition('#/extract')[2]}")
        check(f"link that was cut: said, {cut[-20:]}", until(page, "/The link is incomplete/.test(document.getElementById('count')?.textContent ?? '')"), page.inner_text("main")[-300:])
        check(f"link that was cut: nothing to build, {cut[-20:]}", page.get_by_role("button", name="Build the map").is_disabled())
    browser.open(page, "extract?region=XX")
    check("region: one that is not there", until(page, "document.getElementById('count').textContent === \"There is no region 'XX'.\""), page.inner_text("main")[-300:])
    page.context.close()


def town(page, browser):
    """A town has 20 km around it where no distance is set."""
    browser.open(page, "extract?town=26.72,58.38&place=Tartu")
    check("town: tiles of 20 km", until(page, "Number(/^[\\d,]+/.exec(document.getElementById('count').textContent)?.[0].replace(',', '')) > 1000"), page.inner_text("#count"))
    answer = {"tiles": 1, "sampled": 8, "bytes": 0, "margin": 0, "files": [{"format": "mbtiles", "bytes": 0, "margin": 0}], "seconds": 0}
    page.route("**/v1/samples", lambda route: route.fulfill(json=answer))
    page.select_option("#deepest", "6")
    page.get_by_label("also as PMTiles").check()
    check("town: no tiles there, nothing to build", until(page, f"/This tileset has no tiles here/.test({MAIN}) && document.querySelector('[data-key=build]').disabled"), page.inner_text(".act"))
    page.unroute("**/v1/samples")


def too_large(page, browser):
    """Above the limit the view says what fits, and who can raise the limit."""
    browser.open(page, "extract?region=EE")
    check("limit: said", until(page, f"/at most 5,000 can be built/.test({MAIN}) && /--extract-tiles/.test({MAIN})"), page.inner_text("main")[-400:])
    check("limit: nothing to build", page.get_by_role("button", name="Build the map").is_disabled())
    page.get_by_role("button", name=re.compile("Only up to zoom")).click()
    check("limit: fewer zooms fit", until(page, "!document.querySelector('[data-key=build]').disabled"), page.inner_text("#count"))


def drawn(page, browser):
    """A box and a polygon that are drawn with the pointer, and a polygon by keyboard."""
    browser.open(page, "extract")
    page.get_by_role("button", name="Draw a box").click()
    frame = page.locator("canvas.over").bounding_box()
    page.mouse.move(frame["x"] + 200, frame["y"] + 150)
    page.mouse.down()
    page.mouse.move(frame["x"] + 220, frame["y"] + 170, steps=4)
    page.mouse.up()
    check("box: a drawn one fills the edges", until(page, "document.getElementById('west').value !== ''"))
    if not browser.is_firefox:
        touched(page, browser)
    browser.open(page, "extract")
    page.select_option("#deepest", "5")
    page.get_by_role("button", name="Draw a polygon").click()
    for x, y in [(200, 150), (260, 150), (230, 200)]:
        page.mouse.click(frame["x"] + x, frame["y"] + y)
    page.get_by_role("button", name="Done").click()
    check("polygon: by pointer", until(page, f"/polygon with 3 corners/.test({MAIN})"), page.inner_text("main")[:400])
    counted(page, "polygon")
    page.get_by_role("button", name="Choose another area").click()
    page.get_by_role("button", name="Draw a polygon").click()
    page.locator("canvas.over").focus()
    for key in ["Enter", "ArrowLeft", "Enter", "ArrowUp", "Enter"]:
        page.keyboard.press(key)
    page.get_by_role("button", name="Done").click()
    check("polygon: by keyboard", until(page, f"/polygon with 3 corners/.test({MAIN})"), page.inner_text("main")[:400])


def touched(page, browser):
    """A box that one finger draws."""
    browser.open(page, "extract")
    page.get_by_role("button", name="Draw a box").click()
    frame = page.locator("canvas.over").bounding_box()
    session = page.context.new_cdp_session(page)
    for number in range(5):
        point = {"x": frame["x"] + 200 + 8 * number, "y": frame["y"] + 150 + 8 * number}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    check("box: by touch", until(page, "document.getElementById('west').value !== '' && document.getElementById('east').value !== ''"), page.inner_text("main")[:300])
    counted(page, "box by touch")


# A route across a corner of Estonia.
TRIP = ('<gpx><wpt lat="58.4" lon="26.7"/><rte><rtept lat="59.41" lon="24.7"/><rtept lat="59.44" lon="24.95"/></rte></gpx>')
# What a browser does with a file that is dropped on an element.
DROP = """([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));
  document.querySelector('canvas.over').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); }"""


def area_file(browser):
    """A file with an area in place of a box; the job of the page is paused."""
    page = browser.page(OPERATOR)
    browser.open(page, "extract?bbox=24.5,59.3,25,59.5")
    page.select_option("#deepest", "8")
    before = page.evaluate(PICTURE)
    page.set_input_files("#file", {"name": "trip.gpx", "mimeType": "application/gpx+xml", "buffer": TRIP.encode()})
    check("file: it is named", until(page, f"/The area is that of trip\\.gpx\\./.test({MAIN})"), page.inner_text("main")[-400:])
    check("file: the edges of the box are empty", page.input_value("#west") == "")
    check("file: its tiles are drawn", until(page, f"{PICTURE} !== {json.dumps(before)}"))
    check("file: its line is drawn", until(page, f"({PIXELS})('--focus') > 50"), page.evaluate(f"({PIXELS})('--focus')"))
    answer = page.request.post(f"{URL}/v1/areas?zoom=8&margin=1km", headers={"Authorization": f"Bearer {OPERATOR}"}, data=TRIP.encode()).json()
    bare = counted(page, "file")
    check("file: the count is that of the server", bare == f"{answer['tiles']:,}", f"{bare} {answer['tiles']}")
    page.fill("#margin", "far")
    page.keyboard.press("Enter")
    check("file: a wrong margin is refused with words", until(page, "/margin|distance/.test(document.getElementById('count').textContent)"), page.inner_text("#count"))
    page.fill("#margin", "40km")
    page.keyboard.press("Enter")
    wide = counted(page, "file: a margin adds tiles", but=bare)
    line = page.evaluate(f"({PIXELS})('--focus')")
    page.get_by_label("Waypoints too").check()
    wanted = counted(page, "file: waypoints add tiles", but=wide)
    check("file: its waypoint is drawn", until(page, f"({PIXELS})('--focus') !== {line}"), line)
    inspect(page, "file")
    browser.shoot(page, "extract-file", full_page=True)
    built(page, "file", wanted, 8, "trip.mbtiles")
    check("file: a map that is ready can be shared", page.get_by_role("button", name="Share").count() == 1 and "id=" in page.url, page.inner_text(".act"))
    page.evaluate(DROP, ["a<b>.txt", "hello"])
    check("file: another file is refused with words", until(page, "/no known format/.test(document.getElementById('count').textContent)"), page.inner_text("#count"))
    check("file: the address is no longer that of the map", "id=" not in page.url, page.url)
    points = '<gpx><wpt lat="58.4" lon="26.7"/></gpx>'
    page.get_by_label("Waypoints too").uncheck()
    page.evaluate(DROP, ["points.gpx", points])
    check("file: waypoints only", until(page, "/tick “Waypoints too”/.test(document.getElementById('count').textContent)"), page.inner_text("#count"))
    before = page.evaluate(PICTURE)
    page.get_by_label("Waypoints too").check()
    check("file: waypoints move the map", until(page, f"/of at most/.test(document.getElementById('count').textContent) && {PICTURE} !== {json.dumps(before)}"), page.inner_text("#count"))
    check("file: its name is shown", page.evaluate("document.getElementById('file').files[0]?.name") == "points.gpx")
    page.evaluate(DROP, ["square.wkt", "POLYGON((24.6 59.3,24.9 59.3,24.9 59.5,24.6 59.3))"])
    check("file: a dropped file is read", until(page, f"/The area is that of square\\.wkt\\./.test({MAIN})"), page.inner_text("main")[-400:])
    page.get_by_role("button", name="Remove the file").click()
    check("file: removed", until(page, f"!/square/.test({MAIN})"), page.inner_text("main")[:300])
    check("file: its border is gone from the map", until(page, f"({PIXELS})('--focus') === 0"), page.evaluate(f"({PIXELS})('--focus')"))
    clean(page, "file", refused="/v1/areas")
    page.context.close()
