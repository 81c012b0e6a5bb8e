"""Renders the overlays with `kubectl kustomize`, each alone and with the components that can be taken with it.

Python's standard library and PyYAML.
"""
import itertools
import json
import pathlib
import re
import shutil
import subprocess

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent.parent
OVERLAYS = ("single", "s3")
COMPONENTS = ((), ("monitoring",), ("keda", "monitoring"), ("worker-job",))


class Wrong(Exception):
    """What must be corrected."""


def kubectl(environment):
    """A kubectl with Kustomize 5: that of this machine, otherwise that of PyPI in the virtual environment."""
    for candidate in (shutil.which("kubectl"), environment / "bin/kubectl"):
        if candidate and pathlib.Path(candidate).exists():
            said = subprocess.run([candidate, "version", "--client", "-o", "json"], capture_output=True, text=True).stdout or "{}"
            version = json.loads(said).get("kustomizeVersion", "v0")
            if int(re.match(r"v(\d+)", version)[1]) >= 5:
                return str(candidate), version
    return None, None


def variants():
    """Overlays with their components."""
    return itertools.product(OVERLAYS, COMPONENTS)


def render(program, tree, overlay, components):
    """The objects of an overlay in a copy of ops/kubernetes, with these components uncommented."""
    file = tree / "overlays" / overlay / "kustomization.yaml"
    text = before = file.read_text()
    for component in components:
        line = f"  # - ../../components/{component}\n"
        if line not in text:
            raise Wrong(f"{file.relative_to(tree)}: no line '{line.strip()}' to uncomment")
        text = text.replace(line, line.replace("# ", "", 1))
    file.write_text(text)
    try:
        done = subprocess.run([program, "kustomize", str(file.parent)], capture_output=True, text=True)
    finally:
        file.write_text(before)
    if done.returncode != 0 or done.stderr.strip():
        raise Wrong(f"{overlay} with {components}: kubectl kustomize says: {done.stderr.strip()}")
    return list(yaml.safe_load_all(done.stdout))


def copy(place):
    """A copy of ops/kubernetes in which faults can be seeded."""
    return pathlib.Path(shutil.copytree(FOLDER, place / "kubernetes", ignore=shutil.ignore_patterns("test", "__pycache__")))
