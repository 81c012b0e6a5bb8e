"""A browser that opens the page, and what is checked in every view: see ops/web-test."""

import json
import os
import pathlib
import re
import time

URL, JOB = os.environ["PAGE_URL"], os.environ.get("PAGE_JOB", "1")
OPERATOR, VIEWER, CLIENT = (os.environ[f"{role}_TOKEN"] for role in ("OPERATOR", "VIEWER", "CLIENT"))
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# The page takes its colours from the system; this Firefox cannot be told another system for one window.
PREFERENCES = {"ui.prefersReducedMotion": 1, "webgl.force-enabled": True, "webgl.disabled": False}
WATCH = """window.marks = {csp: []};
document.addEventListener('securitypolicyviolation', (e) => window.marks.csp.push(e.violatedDirective + ' ' + e.blockedURI));"""
# In Firefox each screenshot of Playwright inserts the style `body {}`, which the policy of the page refuses: its SHA-256.
OF_PLAYWRIGHT = "sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA="
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
  for (const e of document.querySelectorAll('main .main')) {
    const { top, bottom } = e.getBoundingClientRect();
    if (visible(e) && scrollY === 0 && (top < 0 || bottom > innerHeight)) found.push('the main action is not in view: ' + e.textContent.slice(0, 40) + ' at ' + Math.round(bottom));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!visible(node.parentElement) || node.parentElement.closest('code, pre, .mono, option, .hidden, .skip')) continue;
    for (const word of node.data.matchAll(/[\\p{L}\\p{N}]{2,20}/gu)) {
      // A text without spaces may have to break.
      const rest = /^\\S*/.exec(node.data.slice(word.index))[0].length + /\\S*$/.exec(node.data.slice(0, word.index))[0].length;
      if (rest > 24) continue;
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top / 4)));
      if (lines.size > 1) found.push('broken word: ' + word[0] + ' of ' + node.parentElement.tagName);
    }
  }
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


def results():
    return f"{done - len(failures)} of {done} checks passed"


def until(page, script, seconds=60):
    """Asks until a script is true: `wait_for_function` uses eval, which the policy of the page forbids."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.evaluate(script):
            return True
        time.sleep(0.1)
    return False


def public(page):
    """From now on the gateway has a public address, as with --public-url: codes for phones are shown."""
    page.route("**/v1/tilesets", lambda route: route.fulfill(json={**route.fetch().json(), "public_url": "https://maps.example.com"}))


def inspect(page, name):
    """Names of controls, contrast, words, width, the main action."""
    found = page.evaluate(INSPECT)
    check(f"{name}: names, contrast, words, width, main action", not found, found[:6])


AXE = next(pathlib.Path(os.environ["AXE"]).glob("**/axe.min.js")).read_text()


def accessible(page, name):
    """axe-core finds nothing that it calls serious or critical. The rules are those of WCAG 2.2 AA."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})")["violations"]
    found = [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found if one["impact"] in ("serious", "critical")]
    check(f"{name}: axe-core", not found, found)


class Browser:
    """Chromium, or with ENGINE=firefox Debian's Firefox, which Playwright drives by WebDriver BiDi."""

    def __init__(self, playwright, folder):
        self.is_firefox = os.environ.get("ENGINE") == "firefox"
        self.folder = folder
        path = os.environ["BROWSER"]
        if self.is_firefox:
            # A window on a display: without one Firefox has no WebGL.
            has_display = bool(os.environ.get("DISPLAY"))
            self.browser = playwright.firefox.launch(executable_path=path, channel="moz-firefox", headless=not has_display, firefox_user_prefs=PREFERENCES)
        else:
            has_display = True
            self.browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        #: Whether MapLibre can draw here.
        self.has_library = has_display and bool(os.environ.get("LIBRARY"))

    def page(self, token=None, scheme="light", width=1200, height=860, library=True, **more):
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **more)
        if self.is_firefox:
            context.add_init_script(f"try {{ localStorage.setItem('packhorse.theme', '{scheme}'); }} catch {{ }}")
        context.add_init_script(WATCH + (f"try {{ sessionStorage.setItem('packhorse.token', {json.dumps(token)}); }} catch {{ }}" if token else ""))
        # Other programs may need the machine, too.
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.errors, page.hosts, page.is_firefox = [], set(), self.is_firefox
        # What Playwright does in the page, not the page itself.
        page.of_driver = ["style-src-elem inline"] if self.is_firefox else []
        page.on("console", lambda said: page.errors.append(f"console: {said.text} {said.location.get('url', '')}") if said.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: (page.errors.append("a dialog opened"), dialog.dismiss()))
        page.on("request", lambda request: page.hosts.add(re.sub(r"^(\w+:(//[^/]*)?).*", r"\1", request.url, flags=re.S)))
        if not library:
            page.route("**/ui/lib/files.json", lambda route: route.fulfill(json={"library": False}))
        return page

    def open(self, page, view, server=URL):
        # A new document each time: Playwright does not see Firefox follow a link within one.
        page.goto("about:blank")
        page.goto(f"{server}/#/{view}")
        return until(page, "!!document.querySelector('main h1') && !document.querySelector('main').textContent.includes('Loading …')")

    def shoot(self, page, name, **more):
        # Hiding the caret would insert a style, which the policy of the page forbids.
        page.screenshot(path=self.folder / f"{name}.png", caret="initial", **more)


def clean(page, name, refused="", server=URL):
    """`refused`: what the address of a request has that the gateway refuses in this test."""
    errors = [one for one in page.errors if not (refused and one.startswith("console: Failed to load") and refused in one) and OF_PLAYWRIGHT not in one]
    check(f"{name}: no error in the console", not errors, errors[:5])
    csp = [one for one in page.evaluate("window.marks.csp") if one not in page.of_driver]
    check(f"{name}: no violation of the policy", not csp, csp)
    check(f"{name}: no other host", page.hosts <= {server, "data:", "blob:", f"blob:{server}"}, page.hosts)
