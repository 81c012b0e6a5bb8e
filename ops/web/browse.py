"""Opens every view of the page in a browser and checks what a person would: see ops/web-test.

usage: browse.py FOLDER [IMAGES]   FOLDER gets all screenshots, IMAGES the few of the documents.
"""

import json
import os
import pathlib
import re
import signal
import sys
import time

from browser import CLIENT, JOB, OPERATOR, URL, VIEWER, Browser, accessible, check, clean, failures, inspect, results, until
from extracts import extract
from playwright.sync_api import sync_playwright
from shown import nothing, pictures as picture_tiles
from speed import speed
from states import states
from versions import versions

VIEWS = ["overview", "jobs", f"job/{JOB}", "catalog", "package/EE", "extract?bbox=24.5,59.3,25,59.5", "workers", "origins", "failed",
         "schedules", "catalogs"]


def views(browser):
    for scheme, width, height, token, library in [("light", 1280, 800, OPERATOR, True), ("dark", 1280, 800, OPERATOR, True), ("light", 800, 900, OPERATOR, True),
                                                  ("light", 390, 844, OPERATOR, False), ("dark", 320, 700, VIEWER, False)]:
        page = browser.page(token, scheme, width, height, library=library)
        for view in VIEWS:
            name = f"{re.split('[/?]', view)[0]}-{scheme}-{width}"
            check(f"{name}: drawn", browser.open(page, view), page.inner_text("main")[:200])
            time.sleep(0.7)
            inspect(page, name)
            accessible(page, name)
            browser.shoot(page, name, full_page=True)
            if token == VIEWER:
                words = page.evaluate("[...document.querySelectorAll('main button')].map((b) => b.textContent)")
                orders = {"Pause", "Cancel", "Drain", "Try again", "Drop", "Build the map", "Set priority", "Promote", "Undo the last promotion"} & set(words)
                check(f"{name}: a viewer sees no orders", not orders, orders)
        clean(page, f"{scheme} {width}")
        page.context.close()


def roles(browser):
    """No view asks what the role of its reader may not have."""
    for role, token in [("none", None), ("client", CLIENT), ("viewer", VIEWER), ("operator", OPERATOR)]:
        page = browser.page(token, library=False)
        refused = refusals(page)
        for view in [*VIEWS, "extract?region=LV&zoom=5", "package/LV", "jobs?state=done", f"failed?job={JOB}"]:
            check(f"role {role}, {view}: drawn", browser.open(page, view), page.inner_text("main")[:200])
            asks = page.locator("#token").count() == 1
            may = role in ("viewer", "operator") or re.split("[/?]", view)[0] in (["catalog", "package"] if role == "none" else ["overview", "extract", "catalog", "package"])
            check(f"role {role}, {view}: {'shown' if may else 'another token is asked for'}", asks != may, page.inner_text("main")[:200])
        # The event log is asked for after the view was drawn, and its refusals would come again.
        time.sleep(2)
        check(f"role {role}: no refused request", not refused, refused[:5])
        clean(page, f"role {role}")
        page.context.close()


def refusals(page):
    found = []
    page.on("response", lambda answer: found.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    return found


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
    check("keyboard: the map moves", until(page, f"({picture}) !== {json.dumps(before)}"))
    page.context.close()


def coverage(browser):
    """The cells of a running job change on the canvas without a new load of the page."""
    page = browser.page(OPERATOR, library=False)
    browser.open(page, f"job/{JOB}")
    check("coverage: cells by state", until(page, "!!document.querySelector('main .legend li')"), page.inner_text("main")[:300])
    before = page.inner_text("main")
    check("coverage: it lives", until(page, f"document.querySelector('main').innerText !== {json.dumps(before)}"))
    page.context.close()


def paused(browser):
    """A job that is paused says so, and goes on by the same place of the page."""
    page = browser.page(OPERATOR, library=False)
    browser.open(page, f"job/{JOB}")
    page.get_by_role("button", name="Pause", exact=True).click()
    check("pause: said, and it can be resumed", until(page, "!!document.querySelector('main [data-key=resume]') && /paused, /.test(document.querySelector('main').innerText)"),
          page.inner_text("main")[:300])
    page.get_by_role("button", name="Resume", exact=True).click()
    check("pause: resumed", until(page, "!!document.querySelector('main [data-key=pause]')"), page.inner_text("main")[:300])
    clean(page, "pause")
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


def stay_signed_in(browser):
    """A new tab asks for the token again, unless the person wants to stay signed in; signing in costs no refused request."""
    for stays in (False, True):
        first = browser.page()
        refused = refusals(first)
        browser.open(first, "overview")
        first.fill("#token", OPERATOR)
        if stays:
            first.get_by_label("Stay signed in").check()
        first.click("main button[type=submit]")
        check("sign in: the role", until(first, "document.body.innerText.includes('Role: operator')"), first.inner_text("body")[:200])
        check("sign in: no refused request", not refused, refused)
        second = first.context.new_page()
        browser.open(second, "overview")
        heading = second.inner_text("h1")
        check(f"sign in: a new tab, stays {stays}", heading == ("Overview" if stays else "Sign in"), heading)
        if stays:
            second.get_by_role("button", name="Sign out").click()
            until(second, "document.body.innerText.includes('not signed in')")
            third = first.context.new_page()
            browser.open(third, "overview")
            check("sign out: for all new tabs", third.inner_text("h1") == "Sign in", third.inner_text("h1"))
        first.context.close()


def menu(browser):
    """In a narrow window the menu opens by its button, and closes with Escape and after a choice."""
    page = browser.page(OPERATOR, width=390, height=844)
    browser.open(page, "overview")
    check("menu: closed", not page.is_visible("#nav"))
    page.click("#menu")
    check("menu: open", page.is_visible("#nav") and page.get_attribute("#menu", "aria-expanded") == "true")
    page.keyboard.press("Escape")
    check("menu: closed by Escape, with the focus on its button", not page.is_visible("#nav") and page.evaluate("document.activeElement.id") == "menu")
    page.click("#menu")
    page.click("#nav a[href='#/workers']")
    check("menu: closed after a choice", until(page, "document.querySelector('h1')?.textContent === 'Workers' && !document.querySelector('header').hasAttribute('data-open')"))
    clean(page, "menu")
    page.context.close()


def another_token(browser):
    """The address that a restarted `packhorse up` prints, opened in the tab of the token before."""
    page = browser.page()
    refused = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status == 400 else None)
    browser.open(page, "overview")
    for token, name in [("ph_old", "none"), (VIEWER, "viewer"), (OPERATOR, "operator")]:
        page.evaluate("(hash) => { location.hash = hash; }", f"#token={token}")
        wanted = f"Role: {name}" if name != "none" else "not known"
        check(f"token in the address: {name}", until(page, f"document.body.innerText.includes({json.dumps(wanted)})"), page.inner_text("body")[:300])
    check("token in the address: no request is wrong", not refused, refused)
    check("token in the address: the view", until(page, "document.querySelector('h1')?.textContent === 'Overview'"), page.inner_text("main")[:200])
    page.context.close()


def token_in_link(browser):
    """A link to which a token was added signs in, shows its view, and loses the token; one that a server would keep in its logs does not sign in."""
    for link, heading, rest in [
        (f"#/jobs?state=done#token={OPERATOR}", "Jobs", "#/jobs?state=done"), (f"#/jobs?state=done&token={OPERATOR}", "Jobs", "#/jobs?state=done"),
        (f"#token={CLIENT}", "Get a map", "#/"), (f"#/package/LV?token={VIEWER}&edition=", "Latvia, version 1", "#/package/LV?edition="),
    ]:
        page = browser.page()
        page.goto(f"{URL}/{link}")
        check(f"token in a link: {rest}", until(page, f"document.querySelector('h1')?.textContent === {json.dumps(heading)}"), page.inner_text("main")[:200])
        check(f"token in a link: {rest}: it is out of the address", page.url == f"{URL}/{rest}", page.url)
        check(f"token in a link: {rest}: signed in", "Role: not signed in" not in page.inner_text("header"), page.inner_text("header"))
        clean(page, f"token in a link: {rest}")
        page.context.close()
    for place, shown in [("", "main"), ("#/catalog", "#note")]:
        page = browser.page()
        page.goto(f"{URL}/?token={OPERATOR}{place}")
        check(f"token after a question mark, {shown}: refused with words", until(page, f"/was not taken.*#token=TOKEN/.test(document.querySelector('{shown}').textContent)"), page.inner_text("body")[:300])
        check(f"token after a question mark, {shown}: it is out of the address", page.url == f"{URL}/{place}", page.url)
        check(f"token after a question mark, {shown}: not signed in", "not signed in" in page.inner_text("header"), page.inner_text("header"))
        clean(page, "token after a question mark")
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


def private(browser):
    server = os.environ.get("PRIVATE_URL")
    if server is None:
        return
    for token, view, says in [
        (None, "", "viewer or operator"), (None, "catalog", "client, viewer or operator"), (None, "extract?id=m12", "client or operator"),
        (CLIENT, "catalog", "Estonia"), (VIEWER, "catalog", "Estonia"),
    ]:
        page = browser.page(token)
        name = f"private {'signed out' if token is None else 'signed in'} {view}"
        check(f"{name}: opened", browser.open(page, view, server))
        text = page.inner_text("main")
        check(f"{name}: says '{says}'", says in text, text)
        if token is None:
            check(f"{name}: no map without a token is promised", "Without a token" not in text and "without a token" not in text, text)
        clean(page, name, server=server)
        page.context.close()


def library(browser):
    for has in (True, False):
        page = browser.page(OPERATOR, library=has)
        browser.open(page, "package/EE")
        wanted = "MapLibre GL JS" if has and browser.has_library else "Simple map"
        check(f"package: {wanted}", until(page, f"document.querySelector('.caption').textContent.startsWith({json.dumps('Map by' if wanted != 'Simple map' else wanted)})", 90),
              page.inner_text(".caption"))
        frame = page.locator("canvas.over").bounding_box()
        for step in range(20):  # A map that is being drawn has no features yet.
            page.mouse.move(frame["x"] + frame["width"] / 2 + step % 3, frame["y"] + frame["height"] / 2)
            if until(page, "!document.querySelector('.tip').hidden", 1):
                break
        check(f"package {wanted}: features under the pointer", "countries" in page.inner_text(".tip"), page.inner_text(".tip"))
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
        check("away: the page says it", until(page, "/does not answer/.test(document.getElementById('bar').textContent)", 120), page.inner_text("#bar"))
        check("away: the last state stays, in grey", page.evaluate("document.querySelector('main').classList.contains('old')"))
        browser.shoot(page, "away")
    finally:
        if pid:
            os.kill(int(pid), signal.SIGCONT)
    if pid:
        check("away: it recovers", until(page, "document.getElementById('bar').textContent === ''", 120), page.inner_text("#bar"))
    page.context.close()


def pictures(browser, images):
    images.mkdir(parents=True, exist_ok=True)
    for name, view, scheme, width, height in [
        ("web-job", f"job/{JOB}", "light", 1000, 760), ("web-catalog", "catalog", "dark", 1000, 420), ("web-package", "package/EE", "light", 1000, 620), ("web-versions", "package/EE?compare=1", "light", 1000, 620),
        ("web-extract", "extract?region=EE&place=Estonia&zoom=9&margin=10km", "light", 1280, 800), ("web-phone", "extract?region=EE&place=Estonia&zoom=9", "dark", 390, 844),
    ]:
        page = browser.page(OPERATOR, scheme, width, height)
        page.route(f"**/v1/jobs/{JOB}", lambda route: route.fulfill(json={**route.fetch().json(), "label": "Finland"}))
        browser.open(page, view)
        until(page, "document.querySelector('.caption')?.textContent.startsWith('Map by') ?? true", 90)
        time.sleep(4)
        page.screenshot(path=images / f"{name}.png")
        check(f"{name}.png: under 150 KB", (images / f"{name}.png").stat().st_size < 150_000, (images / f"{name}.png").stat().st_size)
        page.context.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    only = os.environ.get("ONLY", "").split()
    with sync_playwright() as playwright:
        browser = Browser(playwright, folder)
        for part in (coverage, paused, views, roles, hostile, keyboard, sign_in, stay_signed_in, menu, another_token, token_in_link, search, private, library, versions, nothing, states, picture_tiles, extract, speed, away):
            if only and part.__name__ not in only:
                continue
            if browser.is_firefox and part is speed:
                print("skipped in Firefox: speed, which is measured by a trace of Chromium")
                continue
            print(part.__name__, flush=True)
            try:
                part(browser)
            except Exception as error:  # One part that cannot go on does not hide what the others find.
                check(part.__name__, False, repr(error)[:500])
        if len(sys.argv) > 2:
            pictures(browser, pathlib.Path(sys.argv[2]))
        browser.browser.close()
    print(f"{results()}; screenshots in {folder}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
