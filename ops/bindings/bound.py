"""How the driver of each language is built and started, and what that needs.

Python's standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from acceptance import Skip, expect

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BINDINGS = ROOT / "Sources/Bindings"
HEADER = ROOT / "Sources/Client/OfflineMapsC"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC"]


class Bound:
    """The driver of a language: `words` start it, with these variables in addition."""

    def __init__(self, name, words, **variables):
        self.name, self.words, self.variables = name, [*map(str, words)], {k: str(v) for k, v in variables.items()}


def compiler():
    """A compiler for C: the system's, or the one that comes with Swift."""
    swift = shutil.which("swift")
    own = pathlib.Path(os.path.realpath(swift)).parent / "clang" if swift else None
    found = shutil.which("cc") or shutil.which("clang") or (own if own and own.exists() else None)
    if not found:
        raise Skip("no C compiler (cc, clang)")
    return str(found)


def make(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    expect(done.returncode == 0, f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def c(world):
    program = world.folder / "drive-c"
    if not program.exists():
        make(compiler(), *STRICT, "-I", HEADER, HERE / "drive.c", "-o", program, "-L", world.library.parent, "-lofflinemaps",
             f"-Wl,-rpath,{world.library.parent}")
    return Bound("c", [program])


def python(world):
    # The interpreter of this script: bootstrap installs it.
    return Bound("python", [sys.executable, "-B", HERE / "drive.py"], PYTHONPATH=BINDINGS / "python", OFFLINEMAPS_LIBRARY=world.library)


def java(world):
    javac, program = shutil.which("javac"), shutil.which("java")
    if not javac or not program:
        raise Skip("no JDK (default-jdk-headless)")
    include = pathlib.Path(os.path.realpath(javac)).parent.parent / "include"
    if not (include / "jni.h").exists():
        raise Skip(f"the JDK of {javac} has no jni.h")
    folder = world.folder / "java"
    if not folder.exists():
        native = world.folder / "native"
        native.mkdir(exist_ok=True)
        # As docs/other-languages.md says: both libraries in one folder, which the first one names by $ORIGIN.
        make(compiler(), *STRICT, "-shared", "-I", HEADER, "-I", include, "-I", include / "linux", BINDINGS / "java/offlinemaps_jni.c",
             "-o", native / "libofflinemaps_jni.so", "-L", world.library.parent, "-lofflinemaps", "-Wl,-rpath,$ORIGIN")
        shutil.copy(world.library, native / "libofflinemaps.so")
        make(javac, "-d", folder, *(BINDINGS / "java/offlinemaps").glob("*.java"), HERE / "Drive.java")
    # The small heap is enough, and starts beside much other work.
    options = ["-Xmx256m", f"-Djava.library.path={world.folder / 'native'}", "-cp", folder]
    if version(program) >= 22:
        options.insert(0, "--enable-native-access=ALL-UNNAMED")
    return Bound("java", [program, *options, "Drive"])


def version(program):
    """The number of a JDK: 17, 25; 0 when it does not say."""
    said = subprocess.run([program, "-version"], capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr.split('"')
    number = said[1].split(".")[0] if len(said) > 1 else "0"
    return int(number) if number.isdigit() else 0


ALL = (c, python, java)
