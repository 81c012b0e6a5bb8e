"""How the programs of docs/examples/any-language are started, and what they need.

Python's standard library only.
"""
import pathlib
import shutil
import subprocess

from acceptance import Skip, expect

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "docs/examples/any-language"
# Debian's own: python3-cryptography belongs to it.
PYTHON = "/usr/bin/python3"


class Language:
    """The two programs of a language: `install` and `tile` are the words that start them."""

    def __init__(self, name, install, tile, kinds):
        self.name, self.install, self.tile, self.kinds = name, [*map(str, install)], [*map(str, tile)], kinds


def python(_):
    if subprocess.run([PYTHON, "-c", "import sys, cryptography.hazmat.primitives.asymmetric.ed25519; sys.exit(sys.version_info < (3, 11))"],
                      capture_output=True).returncode:
        raise Skip("no Python 3.11 with Debian's python3-cryptography")
    return Language("python", [PYTHON, EXAMPLES / "install.py"], [PYTHON, EXAMPLES / "tile.py"], ["mbtiles", "pmtiles"])


def node(_):
    program = shutil.which("node")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout if program else "none"
    if not program or int(version.strip().removeprefix("v").split(".")[0]) < 20:
        raise Skip(f"no Node 20 or newer (nodejs; found: {version.strip()})")
    return Language("node", [program, EXAMPLES / "install.mjs"], [program, EXAMPLES / "tile.mjs"], ["pmtiles"])


def java(folder):
    compiler, program = shutil.which("javac"), shutil.which("java")
    if not compiler or not program:
        raise Skip("no JDK (default-jdk-headless)")
    classes = folder / "classes"
    if not classes.exists():
        done = subprocess.run([compiler, "-Xlint:all", "-Werror", "-d", classes, *EXAMPLES.glob("*.java")], capture_output=True, text=True)
        expect(done.returncode == 0, f"javac: {done.stderr}{done.stdout}")
    # The small heap is enough, and starts beside much other work.
    start = [program, "-Xmx256m", "-cp", classes]
    return Language("java", [*start, "Install"], [*start, "Tile"], ["pmtiles"])


ALL = (python, node, java)
