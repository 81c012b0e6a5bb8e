"""Checks of what a person sees where there is nothing yet, and of a package of pictures: see ops/web-test."""

import struct
import time
import zlib

from browser import OPERATOR, accessible, check, clean, inspect, until
from pictures import COLOUR

#: The lists of a cluster on its first day.
NOTHING = {
    "**/v1/jobs?*": {"jobs": [], "next": 0}, "**/v1/workers": {"workers": []}, "**/v1/origins": {"origins": []}, "**/v1/failed*": {"batches": []},
    "**/v1/schedules": {"schedules": []}, "**/catalog.json": {"packages": [], "editions": [], "tree": [], "styles": [], "sequence": 0},
    "**/v1/tilesets": {"tilesets": [], "missing": [], "extract_tiles": 25_000},
}


def giving(answer):
    return lambda route: route.fulfill(json=answer)


def nothing(browser):
    """Each view without content says what to do next: a link, or a command line."""
    page = browser.page(OPERATOR, width=390, height=844)
    for path, answer in NOTHING.items():
        page.route(path, giving(answer))
    for view in ["overview", "jobs", "catalog", "extract", "workers", "origins", "failed", "schedules", "catalogs"]:
        check(f"nothing: {view}: drawn", browser.open(page, view), page.inner_text("main")[:200])
        said = page.locator(".empty, main .none").all_inner_texts()
        check(f"nothing: {view}: says so", said != [], page.inner_text("main")[:300])
        inspect(page, f"nothing: {view}")
        accessible(page, f"nothing: {view}")
    clean(page, "nothing")
    page.context.close()


def pixel(page, x, y):
    """Red, green, blue of a pixel of the window."""
    png = page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1}, caret="initial")
    place, body = 8, b""
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place:place + 8])
        body += png[place + 8:place + 8 + length] if name == b"IDAT" else b""
        place += length + 12
    return tuple(zlib.decompress(body)[1:4])


def pictures(browser):
    """A package of pictures is shown as it is, on both kinds of map."""
    for has in (True, False):
        page = browser.page(OPERATOR, library=has)
        name = "pictures, MapLibre" if has and browser.has_library else "pictures, canvas"
        browser.open(page, "package/LI")
        if has and browser.has_library:
            check(f"{name}: drawn", until(page, "document.querySelector('.caption').textContent.startsWith('Map by')", 90), page.inner_text(".caption"))
        frame = page.locator(".map").bounding_box()
        place = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
        end = time.monotonic() + 60
        while (seen := pixel(page, *place)) != COLOUR and time.monotonic() < end:
            time.sleep(0.2)
        check(f"{name}: the colour of the picture", max(abs(a - b) for a, b in zip(seen, COLOUR)) <= 3, seen)
        clean(page, name)
        page.context.close()
