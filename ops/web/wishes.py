"""Checks that Get a map builds what the person wants now, and says what a link asks for: see ops/web-test."""

import re

from browser import OPERATOR, URL, check, clean, until

COUNT = "(document.getElementById('count')?.textContent ?? '')"
BUILD = "document.querySelector('[data-key=build]')"
MAIN = "document.querySelector('main').innerText"
# Two short walks that are far from each other.
EAST = '<gpx><trk><trkseg><trkpt lat="59.41" lon="26.1"/><trkpt lat="59.42" lon="26.12"/></trkseg></trk></gpx>'
WEST = '<gpx><trk><trkseg><trkpt lat="47.07" lon="12.6"/><trkpt lat="47.2" lon="12.9"/></trkseg></trk></gpx>'
# What a browser does with a file over an element; answers whether the page let the browser open it.
OVER = """([kind, place, name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));
  return document.querySelector(place).dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true})); }"""


class Gate:
    """Holds the requests for the tiles of a file until they are let through."""

    def __init__(self, page):
        self.page, self.held, self.is_open = page, [], True
        page.route("**/v1/areas*", lambda route: route.continue_() if self.is_open else self.held.append(route))

    def close(self):
        self.held, self.is_open = [], False

    def open(self):
        """Lets the newest one through first."""
        self.is_open = True
        for route in reversed(self.held):
            route.continue_()

    def holds(self, number):
        """Whether so many requests come; Playwright takes them while the page is asked."""
        return any(len(self.held) >= number or until(self.page, "false", 0.3) for _ in range(100))


def choose(page, name, text):
    page.set_input_files("#file", {"name": name, "mimeType": "application/gpx+xml", "buffer": text.encode()})


def counted(page, name):
    check(f"{name}: counted", until(page, f"/of at most/.test({COUNT}) && !{BUILD}.disabled"), page.inner_text(".act"))
    return page.inner_text("#count")


def earlier(page, browser):
    """While the server counts, nothing can be ordered, and the answer of an earlier wish is dropped."""
    browser.open(page, "extract?zoom=12")
    choose(page, "east.gpx", EAST)
    of_east = counted(page, "first file")
    check("first file: the field has its name", page.evaluate("document.getElementById('file').files[0]?.name") == "east.gpx")
    check("first file: a margin for lines", page.input_value("#margin") == "1km", page.input_value("#margin"))
    orders, gate = [], Gate(page)
    page.on("request", lambda request: orders.append(request.post_data) if request.url.endswith("/v1/extracts") else None)
    gate.close()
    choose(page, "west.gpx", WEST)
    check("second file: it is being read", until(page, f"{COUNT} === 'Reading west.gpx …' && {BUILD}.disabled", 20), page.inner_text(".act"))
    page.evaluate(f"{BUILD}.click()")
    choose(page, "again.gpx", EAST)
    check("third file: it is being read", until(page, f"{COUNT} === 'Reading again.gpx …' && {BUILD}.disabled", 20), page.inner_text(".act"))
    check("files: both are asked for", gate.holds(2), len(gate.held))
    gate.open()
    check("third file: the late answer for the second one is dropped", counted(page, "third file") == of_east, page.inner_text("#count"))
    for name, change in [("margin", margin), ("zoom", lambda page: page.select_option("#deepest", "11")), ("waypoints", lambda page: page.get_by_label("Waypoints too").check()),
                         ("tileset", lambda page: page.select_option("#tileset", index=1))]:
        gate.close()
        change(page)
        check(f"{name}: counting, nothing to build", until(page, f"{COUNT} === 'Counting …' && {BUILD}.disabled", 20), page.inner_text(".act"))
        page.evaluate(f"{BUILD}.click()")
        check(f"{name}: asked for", gate.holds(1), len(gate.held))
        gate.open()
        counted(page, name)
    check("no map of an earlier wish is ordered", not orders, orders)
    page.unroute("**/v1/areas*")


def margin(page):
    page.fill("#margin", "3km")
    page.keyboard.press("Enter")


def opened_again(page, browser):
    """A map of a file keeps its name and its area when its address is opened again."""
    browser.open(page, "extract?zoom=8&tileset=tiles")
    choose(page, "Käsmu 2026.gpx", EAST)
    counted(page, "a file to be opened again")
    page.get_by_role("button", name="Build the map").click()
    check("file: its map is built", until(page, f"/Download mbtiles/.test({MAIN})", 180), page.inner_text(".act"))
    check("file: what was just built is not offered", not until(page, "/Käsmu/.test(document.querySelector('[data-key=near]')?.textContent ?? '')", 1), page.inner_text("main")[-400:])
    link = page.url.partition("#/")[2]
    for address in (link, re.sub(r"&name=[^&]*", "", link)):
        browser.open(page, address)
        name = "opened again" if "name=" in address else "opened again without its name"
        check(f"{name}: named", until(page, f"/This is the map Käsmu 2026/.test({COUNT}) && /Download mbtiles/.test({MAIN})"), page.inner_text("main")[-300:])
        got = page.get_by_role("link", name=re.compile("Download mbtiles")).first.get_attribute("download")
        check(f"{name}: the file has its name", got == "Käsmu-2026.mbtiles", got)
        check(f"{name}: nothing to build without an area", page.evaluate(f"{BUILD}.disabled"))
    choose(page, "other.gpx", WEST)
    counted(page, "another file after it")
    check("another file: it does not have the first name", page.input_value("#name") == "" and "other" in page.get_attribute("#name", "placeholder"), page.input_value("#name"))


def unknown(page, browser):
    """A link with a tileset or a zoom that is not here builds nothing until one is chosen."""
    box = "extract?bbox=25.8,59.55,26.1,59.65"
    browser.open(page, f"{box}&tileset=topo&zoom=8")
    check("unknown tileset: said", until(page, f"/asks for the tileset 'topo', which this server does not have/.test({MAIN})"), page.inner_text("main")[:400])
    check("unknown tileset: nothing to build", page.evaluate(f"{BUILD}.disabled") and page.inner_text("#count") == "Choose a tileset first.", page.inner_text(".act"))
    page.select_option("#tileset", "tiles")
    counted(page, "unknown tileset: one was chosen")
    check("unknown tileset: the chosen one and the zoom of the link", page.input_value("#tileset") == "tiles" and page.input_value("#deepest") == "8", page.input_value("#tileset"))
    browser.open(page, f"{box}&tileset=tiles&zoom=19")
    check("unknown zoom: said", until(page, f"/asks for zoom 19; the tileset has the zooms 0 to/.test({MAIN})"), page.inner_text("main")[:400])
    check("unknown zoom: nothing to build", page.evaluate(f"{BUILD}.disabled"), page.inner_text(".act"))
    page.select_option("#deepest", "7")
    counted(page, "unknown zoom: one was chosen")
    check("unknown zoom: the chosen one", page.input_value("#deepest") == "7" and not until(page, f"/This link asks/.test({MAIN})", 1), page.input_value("#deepest"))


def dropped(page, browser):
    """A file may be dropped anywhere while the view is open; the browser does not open it."""
    browser.open(page, "extract?zoom=8")
    for place in ("header", "#file", ".what", "canvas.over"):
        passed = page.evaluate(OVER, ["dragover", place, "walk.gpx", EAST])
        check(f"drop on {place}: the page says where", not passed and until(page, "/Drop the file here/.test(document.querySelector('.drop')?.textContent ?? '')", 5))
        passed = page.evaluate(OVER, ["drop", place, "walk.gpx", EAST])
        check(f"drop on {place}: read", not passed and until(page, f"/The area is that of walk\\.gpx/.test({MAIN}) && !document.querySelector('.drop')"), page.inner_text("main")[:300])
        page.get_by_role("button", name="Remove the file").click()
        until(page, f"!/walk/.test({MAIN})")
    browser.open(page, "catalog")
    check("drop: other views leave files to the browser", page.evaluate(OVER, ["dragover", "header", "walk.gpx", EAST]))


def links(page, browser):
    """A link of a map with a cut or twice encoded edition opens it; one of a map that is gone says whom to ask."""
    item = next(one for one in page.request.get(f"{URL}/catalog.json").json()["packages"] if one["edition"] == "groups/extracts/")
    for edition in ("groups%2Fext", "groups%2", "groups%252Fextracts%252F"):
        browser.open(page, f"package/{item['id']}?edition={edition}")
        check(f"link with edition={edition}: the map", until(page, f"/Download mbtiles/.test({MAIN})"), page.inner_text("main")[:300])
    for gone in (f"package/{item['id'][:9]}", f"package/{item['id'][:9]}%2"):
        browser.open(page, gone)
        check(f"{gone}: whom to ask", until(page, f"/Ask the person who sent you the link/.test({MAIN})"), page.inner_text("main")[:300])


def wishes(browser):
    page = browser.page(OPERATOR, library=False)
    for part in (earlier, opened_again, unknown, dropped, links):
        part(page, browser)
    clean(page, "wishes")
    page.context.close()
