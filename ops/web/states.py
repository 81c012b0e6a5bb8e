"""Checks of what the views show after a person has done something, at three widths: see ops/web-test."""

from browser import JOB, OPERATOR, accessible, check, clean, inspect, public, until

MAIN = "document.querySelector('main').innerText"


def signed_out(page, browser):
    browser.open(page, "jobs")
    return page.locator("#token").count() == 1


def refused(page, browser):
    browser.open(page, "jobs")
    page.fill("#token", "ph_wrong")
    page.click("main button[type=submit]")
    return until(page, "document.querySelector('main').textContent.includes('not known')")


def found(page, browser):
    browser.open(page, "extract")
    page.fill("#place", "Saint")
    page.keyboard.press("Enter")
    return until(page, "document.querySelectorAll('.results li').length > 1")


def not_found(page, browser):
    browser.open(page, "extract")
    page.fill("#place", "Tallinn or so")
    page.keyboard.press("Enter")
    return until(page, f"/No region and no town/.test({MAIN})")


def too_large(page, browser):
    browser.open(page, "extract?region=EE&place=Estonia")
    return until(page, f"/--extract-tiles/.test({MAIN})")


def of_another_tileset(page, browser):
    """LI is published from a tileset of pictures."""
    browser.open(page, "extract?region=LI&place=Liechtenstein&zoom=8&tileset=tiles")
    return until(page, "/of at most/.test(document.getElementById('count')?.textContent ?? '')")


def drawing(page, browser):
    browser.open(page, "extract")
    page.get_by_role("button", name="Draw a polygon").click()
    page.locator("canvas.over").focus()
    for key in ["Enter", "ArrowLeft", "Enter", "ArrowUp", "Enter"]:
        page.keyboard.press(key)
    return until(page, "/Polygon: 3 corners/.test(document.querySelector('.tools').innerText)")


def shared(page, browser):
    public(page)
    browser.open(page, "extract?region=EE&place=Estonia&zoom=7")
    # The size moves the button when it comes.
    until(page, f"/about [0-9.]+ .?B/.test({MAIN})")
    page.get_by_role("button", name="Share").click()
    return until(page, "!!document.querySelector('dialog canvas[role=img]')")


def compared(page, browser):
    browser.open(page, "package/EE?compare=1")
    return until(page, "!!document.querySelector('.divide')")


def features(page, browser):
    browser.open(page, "package/EE")
    page.locator("canvas.over").focus()

    def seen():
        page.keyboard.press("Enter")
        return until(page, f"/Features here/.test({MAIN})", 1)

    return any(seen() for _ in range(60))  # Tiles that are still on their way have no features.


def missing(page, browser):
    browser.open(page, "package/THERE-IS-NONE")
    return until(page, f"/no such map/.test({MAIN})")


def nothing_named_so(page, browser):
    browser.open(page, "catalog?q=zzzz")
    return until(page, f"/No package has this name/.test({MAIN})")


def asked(page, browser):
    browser.open(page, f"job/{JOB}")
    page.get_by_role("button", name="Cancel").click()
    return until(page, "!!document.querySelector('dialog[open]')")


def opened(page, browser):
    browser.open(page, "overview")
    if page.is_visible("#menu"):
        page.click("#menu")
    return until(page, "document.getElementById('nav').getClientRects().length > 0")


#: Those of a person without a token, then those of an operator.
STATES = [(None, [signed_out, refused]), (OPERATOR, [found, not_found, too_large, of_another_tileset, drawing, shared, compared, features, missing, nothing_named_so, asked, opened])]


def states(browser):
    for scheme, width, height in [("light", 1280, 800), ("dark", 800, 900), ("light", 390, 844)]:
        for token, those in STATES:
            # The last one is a phone, which Firefox cannot be here.
            is_phone = width < 500 and not browser.is_firefox
            page = browser.page(token, scheme, width, height, library=False, **({"has_touch": True, "is_mobile": True} if is_phone else {}))
            for state in those:
                name = f"{state.__name__.replace('_', ' ')}-{scheme}-{width}"
                check(f"{name}: reached", state(page, browser), page.inner_text("body")[:300])
                inspect(page, name)
                accessible(page, name)
                browser.shoot(page, f"state-{name.replace(' ', '-')}")
            # Only a request with the wrong token is refused.
            clean(page, f"states {scheme} {width}", refused="" if token else "/v1/session")
            page.context.close()
