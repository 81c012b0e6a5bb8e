"""What a device does while something goes wrong: a store that is prepared once, and the command that is disturbed."""

import dataclasses
import json
import pickle
import shutil
import struct
import types
from pathlib import Path

import fault_world
import faults_calls
from harness import Process, Trouble
from scripted import CatalogOrigin
from store_folder import State, StoreFolder

# The order of the counters in ops/chaos/failpoint.c; `any` is the last.
KINDS = ["rename", "link", "fsync", "write", "unlink", "mkdir", "rmdir", "ftruncate", "flock", "copy_file_range", "any"]


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`before`: (stage of the catalog, words of `packhorse device`); `words`: the command, with the catalog of `stage`."""

    words: tuple
    before: tuple = ()
    stage: str = "second"
    # Whether the command names the catalog and reads it.
    asks_server: bool = True
    # Bytes that a quota leaves free besides what the undisturbed run needs; None: no quota.
    quota_slack: int | None = None


REGION = ("region", "add")
SCENARIOS = {
    "install": Scenario(("install", "LV"), (("second", ("install", "LI")),), quota_slack=600_000),
    "patch": Scenario(("update", "EE"), (("first", ("install", "EE", "LI")),)),
    "together": Scenario(("update", "--together"), (("first", ("install", "EE", "LI")),)),
    "remove": Scenario(("remove", "EE"), (("second", ("install", "LI", "--style", "demo")), ("second", ("install", "EE", "LV", "--tile-packs"))),
                       asks_server=False),
    "packs": Scenario((*REGION, "east", "--box", fault_world.EAST, "--zoom", "0-9", "--tileset", "demo"),
                      (("second", (*REGION, "west", "--box", fault_world.WEST, "--zoom", "0-9", "--tileset", "demo")),)),
    "filled": Scenario((*REGION, "huts", "--box", ",".join(map(str, fault_world.FILLED)), "--zoom", "6-9", "--tiles", "TILES"),
                       (("second", ("install", "LI")),)),
    "adopt": Scenario(("adopt", "ADOPTED", "--id", "AD"), (("second", ("install", "LI")),), asks_server=False),
    "style": Scenario(("install", "--style", "demo"), (("second", ("install", "LI")),)),
    "create": Scenario(("install", "LI")),
}  # fmt: skip


@dataclasses.dataclass
class Reference:
    """What the undisturbed run of a scenario did."""

    state: State
    digest: dict
    calls: dict
    most: int
    sent: int


class Device:
    """A store, its catalog's server, and commands on it in processes of their own."""

    def __init__(self, place, folder, port, program):
        self.place, self.store, self.port, self.program = place, StoreFolder(folder / "store"), port, program
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.processes, self.prefix, self.origin = [], (), None

    def serve(self, stage, listener=None):
        """Starts the server with the catalog of that stage; the one before ends."""
        self.end_server()
        self.origin = CatalogOrigin(pickle.loads((self.place / stage).read_bytes()), self.port, listener)
        return self.origin

    def end_server(self):
        if self.origin:
            self.origin.close()

    def words(self, scenario, words=None):
        """The command with everything that it needs."""
        place = {"TILES": self.origin.url + "tiles/{z}/{x}/{y}.pbf" if self.origin else "", "ADOPTED": self.place / "AD.mbtiles"}
        said = [place.get(word, word) for word in words or scenario.words]
        if said[0] in ("install", "update") or tuple(said[:2]) == REGION:
            said += ["--catalog", self.origin.url, "--public-key", self.place / "catalog.pub"]
        return said

    def start(self, *words, environment=None):
        number = len(self.processes)
        log = self.logs / f"{number:02d}-{words[0]}.log"
        process = Process(words[0], ["device", *words, "--store", self.store.path], log, environment, self.prefix, self.program)
        self.processes.append(process)
        return process

    def run(self, *words, environment=None, limit=60, status=None):
        """Runs a command to its end; only an ordered death may be by a signal."""
        process = self.start(*words, environment=environment)
        code = process.child.wait(limit)
        if status is not None and code != status:
            raise Trouble(f"device {' '.join(map(str, words))} ended with {code}, not {status}: {said(process)}")
        return process

    def json(self, *words):
        return json.loads(self.run(*words, "--json", status=0).out.read_text())

    def close(self):
        for process in self.processes:
            if process.is_running:
                process.kill()
        self.end_server()


def said(process):
    return " | ".join(process.log.read_text(errors="replace").strip().splitlines()[-4:])[-500:]


def prepare(name, device, template):
    """Makes the store of a scenario before its command, and keeps a copy."""
    scenario = SCENARIOS[name]
    for stage, words in scenario.before:
        device.serve(stage)
        device.run(*device.words(scenario, words), status=0)
    template.mkdir(parents=True, exist_ok=True)
    if device.store.path.exists():
        shutil.copytree(device.store.path, template / "store", dirs_exist_ok=True)


def undisturbed(name, device, library, watch):
    """Runs the command of a scenario, and reads what it did."""
    scenario = SCENARIOS[name]
    device.serve(scenario.stage)
    counts = device.logs / "counts"
    environment = {"LD_PRELOAD": str(library), "CHAOS_COUNT": str(counts)}
    seen = watch(device.store, device.store.state())
    device.run(*device.words(scenario), environment=environment, status=0)
    seen.close()
    calls = dict(zip(KINDS, struct.unpack(f"{len(KINDS)}Q", counts.read_bytes())))
    sent = sum(device.origin.sent().values())
    return Reference(device.store.state(), device.store.digest(device.origin.url), calls, seen.most, sent)


def library(folder, source="failpoint.c"):
    """A library of ops/chaos to load before libc."""
    return faults_calls.library(types.SimpleNamespace(folder=Path(folder)), Path(faults_calls.__file__).with_name(source))
