"""Pictures of a style by renderers of other projects: MapLibre Native, MapLibre GL JS in a browser, and Qt's Mapbox GL.

Each client from PyPI has an environment of its own below .build/interop (INTEROP_FOLDER), as in `make interop`; it is made when it is
missing. A client that cannot be had raises Skip with the reason.
"""
import base64
import hashlib
import http.server
import mimetypes
import os
import pathlib
import shutil
import subprocess
import threading
import urllib.parse

from world import Skip, expect

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(os.environ.get("INTEROP_FOLDER", ROOT / ".build/interop"))
# Tallinn's surroundings: longitude, latitude, zoom.
PLACE = "24.75,58.6,6"


def environment(name, *packages):
    """The python of an environment with these packages."""
    python = FOLDER / name / "bin/python"
    try:
        if not python.exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            subprocess.run(["python3", "-m", "venv", FOLDER / name], check=True, capture_output=True, text=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--timeout", "20", "--retries", "1", *packages],
                       check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Skip(f"{packages[0]} cannot be installed here: {said[-1] if said else error}") from error
    return python


def digest(picture):
    return hashlib.sha256(picture.read_bytes()).hexdigest()


def native(style, target):
    """Draws with MapLibre Native, by the example of docs."""
    done = subprocess.run([environment("pymgl", "pymgl"), ROOT / "docs/examples/pymgl/offline.py", style, PLACE, target],
                          capture_output=True, text=True, timeout=300, env={**os.environ, "EGL_PLATFORM": "surfaceless"})
    expect(done.returncode == 0, f"pymgl: {done.stderr.strip()}")
    return digest(target)


# Sends the picture of the page's map here; in the event `render` the canvas can be read.
SEND = """<script>
map.on("idle", () => {
    map.once("render", () => fetch("/drawn?" + encodeURIComponent(document.title), {method: "POST", body: map.getCanvas().toDataURL()}));
    map.triggerRepaint();
});
</script>"""


class Page(http.server.ThreadingHTTPServer):
    """Serves the page of docs with maplibre-gl.js next to it, and takes its picture."""

    daemon_threads = True

    def __init__(self, library):
        self.title, self.picture, self.is_drawn = "loading", b"", threading.Event()
        files = {"/index.html": (ROOT / "docs/examples/gl-js/index.html").read_text().replace("</body>", SEND + "</body>").encode()}
        files |= {f"/{name}": (library / name).read_bytes() for name in ("maplibre-gl.js", "maplibre-gl.css")}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Type", mimetypes.guess_type(self.path.split("?")[0])[0] or "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                body = files.get(self.path.split("?")[0])
                self.answer(200 if body else 404, body or b"")

            def do_POST(self):
                outer.title = urllib.parse.unquote(self.path.partition("?")[2])
                outer.picture = base64.b64decode(self.rfile.read(int(self.headers["Content-Length"])).partition(b",")[2])
                self.answer(204)
                outer.is_drawn.set()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


def browser(style, target):
    """Draws with MapLibre GL JS in headless Chromium, by the page of docs; its title says how it went."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        raise Skip("there is no Chromium; apt-get install chromium")
    library = next(iter(environment("gljs", "maplibre").parent.parent.glob("lib/*/site-packages/maplibre/srcjs")), None)
    if not library:
        raise Skip("the package maplibre of PyPI has no maplibre-gl.js")
    page = Page(library)
    longitude, latitude, zoom = PLACE.split(",")
    query = urllib.parse.urlencode({"style": style, "center": f"{longitude},{latitude}", "zoom": zoom})
    options = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
               "--disable-dev-shm-usage", f"--user-data-dir={target.parent / 'profile'}", "--window-size=512,512"]
    process = subprocess.Popen([program, *options, f"http://127.0.0.1:{page.server_address[1]}/index.html?{query}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        expect(page.is_drawn.wait(120), "the page has drawn nothing in two minutes")
    finally:
        process.terminate()
        process.wait()
        page.shutdown()
        page.server_close()
    expect(page.title == "drawn", f"the page says: {page.title}")
    target.write_bytes(page.picture)
    return digest(target)


def qt(style, target):
    """Draws with the Mapbox GL engine inside Qt 5, with an empty cache."""
    if not shutil.which("xvfb-run"):
        raise Skip("there is no xvfb-run; apt-get install xvfb")
    folder = target.parent / "qt"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    done = subprocess.run(["xvfb-run", "-a", environment("qt", "PyQt5"), ROOT / "ops/device/qt_served.py", style, PLACE, folder, target],
                          capture_output=True, text=True, timeout=300)
    if "no Qt platform plugin could be initialized" in done.stderr:
        raise Skip("Qt finds no display libraries; apt-get install libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxkbcommon-x11-0 libxcb-xinerama0")
    expect(done.returncode == 0, f"Qt: {done.stderr.strip()[-500:]}")
    return digest(target)
