"""Pictures of a style by renderers of other projects: MapLibre Native, MapLibre GL JS in a browser, and Qt's Mapbox GL.

Each client from PyPI has an environment of its own below .build/interop (INTEROP_FOLDER), as in `make interop`; it is made when it is
missing. A client that cannot be had raises Skip with the reason.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
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


def browser(style, target):
    """Draws with MapLibre GL JS in headless Chromium, by the page of docs; the title of the page says how it went."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        raise Skip("there is no Chromium; apt-get install chromium")
    library = next(iter(environment("gljs", "maplibre").parent.parent.glob("lib/*/site-packages/maplibre/srcjs")), None)
    if not library:
        raise Skip("the package maplibre of PyPI has no maplibre-gl.js")
    folder = target.parent / "page"
    folder.mkdir(exist_ok=True)
    for file in (library / "maplibre-gl.js", library / "maplibre-gl.css", ROOT / "docs/examples/gl-js/index.html"):
        shutil.copy(file, folder)
    longitude, latitude, zoom = PLACE.split(",")
    page = (folder / "index.html").as_uri() + "?" + urllib.parse.urlencode(
        {"style": style, "center": f"{longitude},{latitude}", "zoom": zoom})
    options = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
               "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}", "--window-size=512,512", "--virtual-time-budget=60000"]

    def run(*more):
        done = subprocess.run([program, *options, *more, page], capture_output=True, text=True, timeout=300)
        expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    title = run("--dump-dom").partition("<title>")[2].partition("</title>")[0]
    expect(title == "drawn", f"the page says: {title}")
    run(f"--screenshot={target}")
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
    expect(done.returncode == 0, f"Qt: {done.stderr.strip()[-500:]}")
    return digest(target)
