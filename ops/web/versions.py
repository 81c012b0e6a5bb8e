"""Checks of the line between two versions of a package on one map: see ops/web-test."""

from browser import OPERATOR, accessible, check, clean, inspect, until

NOW = "document.querySelector('.divide').getAttribute('aria-valuenow')"
CLIP = "getComputedStyle(document.querySelectorAll('.map .layer')[1]).clipPath"


def versions(browser):
    """EE has two versions, LV has one."""
    page = browser.page(OPERATOR)
    browser.open(page, "package/LV")
    check("versions: nothing to compare with one version", page.locator("[data-key=compare]").count() == 0)
    for has in (True, False):
        page = browser.page(OPERATOR, library=has)
        asked = set()
        page.on("request", lambda request, asked=asked: asked.update(name for name in ("EE@1/", "EE@2/") if f"/tiles/{name.replace('@', '%40')}" in request.url or f"/tiles/{name}" in request.url))
        browser.open(page, "package/EE")
        name = "versions, MapLibre" if has and browser.has_library else "versions, canvas"
        check(f"{name}: no line at first", page.locator(".divide").count() == 0)
        page.select_option("[data-key=compare]", label=page.locator("[data-key=compare] option").all_inner_texts()[1])
        check(f"{name}: a line", until(page, "!!document.querySelector('.divide')"), page.inner_text("main")[:300])
        check(f"{name}: two pictures", until(page, "document.querySelectorAll('.map .layer').length === 2"))
        until(page, "document.querySelectorAll('.layer .maplibregl-canvas').length === 2", 90 if has and browser.has_library else 0)
        check(f"{name}: the tiles of both versions are asked for", wait(page, lambda: len(asked) == 2), asked)
        keys(page, name)
        pointer(page, name)
        if not browser.is_firefox:
            touch(page, name)
        inspect(page, name)
        accessible(page, name)
        browser.shoot(page, f"versions-{'library' if has else 'canvas'}")
        page.reload()
        check(f"{name}: the address has it", until(page, "!!document.querySelector('.divide')"), page.url)
        page.select_option("[data-key=compare]", "")
        check(f"{name}: it ends", until(page, "!document.querySelector('.divide') && document.querySelectorAll('.map .layer').length === 1"))
        clean(page, name)
        page.context.close()


def wait(page, found, seconds=60):
    for _ in range(seconds * 10):
        if found():
            return True
        page.wait_for_timeout(100)
    return False


def keys(page, name):
    page.locator(".divide").focus()
    before = page.evaluate(CLIP)
    for key, wanted in [("ArrowLeft", "48"), ("Home", "0"), ("PageUp", "10"), ("End", "100"), ("ArrowRight", "100"), ("PageDown", "90")]:
        page.keyboard.press(key)
        check(f"{name}: {key}", page.evaluate(NOW) == wanted, page.evaluate(NOW))
    check(f"{name}: the picture is cut at the line", page.evaluate(CLIP) != before, before)
    said = page.get_attribute(".divide", "aria-valuetext")
    check(f"{name}: its value in words", "version 1" in said and "90 %" in said, said)


def pointer(page, name):
    frame, line = page.locator(".map").bounding_box(), page.locator(".divide").bounding_box()
    page.mouse.move(line["x"] + line["width"] / 2, frame["y"] + frame["height"] / 3)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] * 0.3, frame["y"] + frame["height"] / 2, steps=5)
    page.mouse.up()
    check(f"{name}: dragged", 28 <= int(page.evaluate(NOW)) <= 32, page.evaluate(NOW))
    page.mouse.move(frame["x"] + 10, frame["y"] + 10)
    check(f"{name}: it stays where it was let go", 28 <= int(page.evaluate(NOW)) <= 32, page.evaluate(NOW))


def touch(page, name):
    frame, line = page.locator(".map").bounding_box(), page.locator(".divide").bounding_box()
    session = page.context.new_cdp_session(page)
    y = frame["y"] + frame["height"] / 2
    places = [line["x"] + line["width"] / 2 + step for step in range(0, int(frame["width"] * 0.4), 20)]
    for number, x in enumerate(places):
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    check(f"{name}: moved by touch", int(page.evaluate(NOW)) > 60, page.evaluate(NOW))
