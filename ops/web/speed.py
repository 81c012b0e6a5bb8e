"""How long the page works for one view with 600 packages and a job of 10,000 cells, by a trace of Chromium: see ops/web-test.

Counted is the processor time of the page's main thread, so that other programs of the machine change little. Opening a view and
drawing it again after an event may each take one task of at most 100 ms.
"""

import copy
import json
import random
import struct

from browser import JOB, OPERATOR, URL, check, until

#: Milliseconds of processor time.
LIMIT = 100
LANGUAGES = ["en", "de", "fr", "it", "zh", "es", "ru", "et"]


def catalog_of(real):
    """600 packages with three versions each, in a tree of six continents with ten countries of ten regions."""
    pattern = next(one for one in real["packages"] if one["id"] == "EE")
    tree, packages = [], []
    for number in range(666):
        kind, parent = ("region", f"C{number // 10 % 60:02}") if number < 600 else ("country", f"W{(number - 600) // 10}") if number < 660 else ("continent", "")
        id = f"R{number:03}" if number < 600 else f"C{number - 600:02}" if number < 660 else f"W{number - 660}"
        node = {"id": id, "kind": kind, "names": {code: f"{kind} {number} {code}" for code in LANGUAGES}}
        tree.append(node | ({"parent": parent} if parent else {}))
        if kind != "region":
            continue
        item = copy.deepcopy(pattern) | {"id": id, "region": id, "names": node["names"]}
        item["versions"] = [item["versions"][0] | {"version": version} for version in (3, 2, 1)]
        packages.append(item)
    return real | {"tree": tree, "packages": packages + real["packages"]}


def coverage():
    """100 by 100 cells in all states."""
    dice = random.Random(1)
    cells = bytes(dice.choice([1, 2, 3, 3, 3, 5, 6, 9]) for _ in range(10_000))
    band = struct.pack("<BBBBIIHH", 0, 14, 12, 0, 2300, 1100, 100, 100)
    return struct.pack(">IB", 0x50484331, 1) + struct.pack("<Q", 1) + band + cells


def longest(trace):
    """Milliseconds of the longest task of the page's main thread."""
    events = json.loads(trace)["traceEvents"]
    names = [(one["pid"], one["tid"]) for one in events if one.get("name") == "thread_name" and one["args"].get("name") == "CrRendererMain"]
    tasks = [one for one in events if (one["pid"], one["tid"]) in names and one["ph"] == "X" and "RunTask" in one["name"]]
    worst = max(tasks, key=lambda one: one.get("tdur", 0), default={"tdur": 0})
    return worst.get("tdur", 0) / 1000, len(tasks)


def measured(browser, page, work):
    browser.browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    work()
    return longest(browser.browser.stop_tracing())


def opened_place(page, again):
    """The list of a place is made when it is opened, and stays when the page draws again."""
    rows = "document.querySelectorAll('.tree li').length"
    check("catalog of 600: closed places have no rows", page.evaluate(rows) <= 10, page.evaluate(rows))
    page.locator(".tree summary").first.click()
    check("catalog of 600: an opened continent shows its countries", until(page, f"{rows} > 10"), page.evaluate(rows))
    page.locator(".tree ul summary").first.click()
    check("catalog of 600: an opened country shows its packages", until(page, "document.querySelectorAll('.tree .pack').length >= 10"))
    shown = page.evaluate(rows)
    again()
    check("catalog of 600: they stay when the page draws again", page.evaluate(rows) == shown, f"{page.evaluate(rows)}, before {shown}")


def speed(browser):
    page = browser.page(OPERATOR)
    real = page.request.get(f"{URL}/catalog.json").json()
    made = catalog_of(real)
    tag = [0]

    def give(route):
        # Another tag: the page takes the list as a new one.
        route.fulfill(body=json.dumps(made), headers={"ETag": f'"{tag[0]}"', "Content-Type": "application/json"})

    page.route("**/catalog.json", give)
    page.route(f"**/v1/jobs/{JOB}/coverage*", lambda route: route.fulfill(body=coverage(), headers={"Content-Type": "application/vnd.packhorse.coverage"}))
    jobs = [one | {"job": number, "label": f"Job {number}"} for number in range(100, 0, -1) for one in page.request.get(f"{URL}/v1/jobs", headers={"Authorization": f"Bearer {OPERATOR}"}).json()["jobs"][:1]]
    page.route("**/v1/jobs?*", lambda route: route.fulfill(json={"jobs": jobs, "next": 0}))
    browser.open(page, "overview")
    for view in ["overview", "jobs", f"job/{JOB}", "catalog", "package/EE", "extract?bbox=24.5,59.3,25,59.5", "workers", "origins", "failed", "schedules"]:
        name = view.split("/")[0].split("?")[0]

        def opened():
            page.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
            until(page, "!!document.querySelector('main h1') && !document.querySelector('main').textContent.includes('Loading …')")
            # What follows the first drawing: tiles, the sample of a map.
            page.wait_for_timeout(2_000)

        def again():
            tag[0] += 1
            # The page asks for the data of a view every five seconds.
            page.wait_for_timeout(6_000)

        for what, work in (("opened", opened), ("drawn again", again)):
            took, tasks = measured(browser, page, work)
            print(f"  {name}, {what}: longest task {took:.0f} ms of {tasks}", flush=True)
            check(f"speed: {name}, {what}: at most {LIMIT} ms", 0 < tasks and took <= LIMIT, f"{took:.0f} ms of processor time, {tasks} tasks")
        if view == "catalog":
            opened_place(page, again)
    page.context.close()
