"""A publisher's server that fails: every behaviour of ops/chaos/origin.py about every kind of file, and what only files can suffer."""

import itertools

import origin as origins
from fault_case import fault
from scripted import FILE_KINDS, Turns

# The file that a scenario downloads.
SCENARIO_OF = {"list": "install", "signature": "install", "package": "install", "patch": "patch", "pack": "packs", "style": "style"}
TARGETS = list(SCENARIO_OF)
LIES = list(itertools.product(TARGETS, origins.KINDS))
FILE_LIES = list(itertools.product(TARGETS, FILE_KINDS))
# Answers after which a device waits for its 30 s of patience.
LONG = {"silence", "slow-loris", "stalled"}
# Kinds after which bytes were wrong, or the server began from the start, so that they have to come again.
WRONG = {
    "200-to-range", "416-to-range", "changed", "short-length", "long-length", "smuggled", "truncated", "chunked-cut", "gzip-bomb",
    "wrong-type", "html", "json", "garbage",
}  # fmt: skip


def spread(cases, index):
    """An order of which any beginning has something of everything: 37 divides neither 120 nor 48."""
    return cases[index * 37 % len(cases)]


def tell(case, target, kind, turns):
    scenario = SCENARIO_OF[target]
    case.notes.append(f"{kind} about the {target}")
    case.begin(scenario)
    path = path_of(case, target)
    turns = Turns(path, turns)
    case.origin.lies.append(turns)
    case.disturb(limit=150)
    # A patch with wrong bytes costs the whole file: that is another path.
    case.finish(twice={path} if kind in WRONG else ())
    if turns.kinds and len(turns.kinds) == case.lies_at_first:
        case.notes.append("never asked")


def path_of(case, target):
    """A pack: the first one that the undisturbed run asked for."""
    return case.plan.packs[0] if target == "pack" else case.plan.files[target]


@fault("a server that lies", nightly=len(LIES), short=8, limit=300)
def lies(case):
    target, kind = spread(LIES, case.index)
    if case.plan.is_short and kind in LONG:
        kind = "503"
    case.lies_at_first = 1
    tell(case, target, kind, [kind])


@fault("a file that comes wrong", nightly=len(FILE_LIES), short=6, limit=300)
def files(case):
    target, kind = spread(FILE_LIES, case.index)
    if case.plan.is_short and kind in LONG:
        kind = "slow"
    turns = ["cut", kind] if kind in ("200-to-range", "416-to-range", "changed") else [kind]
    case.lies_at_first = len(turns)
    tell(case, target, kind, turns)
