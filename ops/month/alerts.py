"""Which alerts of ops/monitoring the pages of metrics mean. Python's standard library only.

A rule waits minutes before it fires, to pass over short states; here every page counts, except where LIMITS says how long a state may last.
"""
import re
from pathlib import Path

from acceptance import Wrong, expect

RULES = Path(__file__).resolve().parents[1] / "monitoring/packhorse.rules.yml"
LINE = re.compile(r"^(packhorse_\w+(?:\{[^}]*\})?) (\S+)$", re.M)
FAILED_JOBS, FAILED_PUBLICATIONS = 'packhorse_jobs{state="failed"}', 'packhorse_publications_total{result="failed"}'
START, WAITING = "packhorse_process_start_timestamp_seconds", 'packhorse_jobs_waiting{reason="worker"}'
SKIPPED, BACKUP, DEGRADED = "packhorse_schedules_skipped_total", "packhorse_state_backup_age_seconds", "packhorse_coordinator_degraded"
FREE, SIZE, FAILING = "packhorse_disk_free_bytes", "packhorse_disk_size_bytes", "packhorse_schedules_failing"
DOWN = "CoordinatorDown"

# Seconds on a quiet machine, each times the patience of the harness: an age that a backup may have, how long a job may wait for a worker
# (workers that start are not there at once), and how long the page of metrics may take.
LIMITS = {"StateBackupOld": 30, "NoWorkers": 10, DOWN: 10}


def above(name, limit=0.0):
    return lambda now, before: now.get(name, 0) > limit


def grown(start):
    """Whether a number whose name begins so has grown since the page before."""
    return lambda now, before: before is not None and any(value > before.get(name, 0) for name, value in now.items() if name.startswith(start))


def nearly_full(now, before):
    return any(value < 0.05 * now[SIZE + name[len(FREE):]] for name, value in now.items() if name.startswith(FREE))


# Alerts by name: the metric of the rule.
METRICS = {
    "StateNotWritable": DEGRADED, "NoWorkers": WAITING, "ScheduleFailed": FAILING, "StateBackupOld": BACKUP, "DiskNearlyFull": FREE,
    "JobFailed": FAILED_JOBS, "PublicationsFail": FAILED_PUBLICATIONS, "ScheduleSkipped": SKIPPED, "FailedWork": "packhorse_failed_", "Restarts": START,
    DOWN: "up{",
}  # fmt: skip
# Alerts about what happened; all others are about a state that lasts.
EVENTS = {"JobFailed", "PublicationsFail", "ScheduleSkipped", "FailedWork", "Restarts"}


class Meaning:
    """What the pages since the last call of `begin` mean: `seen`. `held` has the states of the last page."""

    def __init__(self, patience):
        self.limits = {name: limit * patience for name, limit in LIMITS.items()}
        self.rules = {name: grown(metric) if name in EVENTS else above(metric) for name, metric in METRICS.items() if name != DOWN}
        self.rules["StateBackupOld"] = above(BACKUP, self.limits["StateBackupOld"])
        self.rules["DiskNearlyFull"] = nearly_full
        self.rules["Restarts"] = lambda now, before: before is not None and before[START] != now[START]
        self.seen, self.held, self.last, self.since = set(), set(), None, {}

    def begin(self):
        self.seen = set()

    def take(self, page, seconds):
        """A page of metrics, or None when there was no answer, at a time of a clock that only goes forward."""
        if page is None:
            self.held = {DOWN}
            self.seen.add(DOWN)
            return
        now, before = {name: float(value) for name, value in LINE.findall(page)}, self.last
        if before is not None and before[START] != now[START]:
            # Counters of a process begin at 0.
            before = {name: value for name, value in before.items() if "_total" not in name}
        true = {name for name, rule in self.rules.items() if rule(now, before)}
        self.since = {name: self.since.get(name, seconds) for name in true}
        self.seen |= {name for name, since in self.since.items() if name == "StateBackupOld" or seconds - since >= self.limits.get(name, 0)}
        self.held, self.last = true - EVENTS, now


def compare(seen, must, may):
    """Refuses alerts that had to be seen and were not, and others than those that may be seen."""
    expect(must <= seen, f"no metric meant {sorted(must - seen)}; seen: {sorted(seen)}")
    expect(seen <= must | may, f"metrics meant {sorted(seen - must - may)} although nothing of this happened")


def check_names():
    """The rules of ops/monitoring use these metrics."""
    rules = dict(re.findall(r"- alert: Packhorse(\w+)\n((?:(?! *- alert).*\n)*)", RULES.read_text()))
    for name, metric in METRICS.items():
        expect(metric in rules.get(name, ""), f"{RULES.name}: the alert {name} does not use {metric}")


def check_itself():
    """Each alert is seen in pages that mean it, and in no other; a day that says something else is refused."""
    disk = '{folder="/data"}'
    calm = dict.fromkeys([DEGRADED, WAITING, FAILING, BACKUP, FAILED_JOBS, FAILED_PUBLICATIONS, SKIPPED], 0) | {START: 1, FREE + disk: 50, SIZE + disk: 100}
    failed = 'packhorse_failed_tiles_total{cause="page"}'
    seeded = {DEGRADED: "StateNotWritable", WAITING: "NoWorkers", FAILING: "ScheduleFailed", FAILED_JOBS: "JobFailed",
              FAILED_PUBLICATIONS: "PublicationsFail", SKIPPED: "ScheduleSkipped", failed: "FailedWork"}  # fmt: skip
    cases = [({}, set())] + [({metric: 1}, {alert}) for metric, alert in seeded.items()]
    cases += [({BACKUP: 29}, set()), ({BACKUP: 31}, {"StateBackupOld"}), ({FREE + disk: 4}, {"DiskNearlyFull"}), ({START: 2}, {"Restarts"}), (None, {DOWN})]
    cases += [({START: 2, failed: 1}, {"Restarts", "FailedWork"})]
    for change, expected in cases:
        meaning = Meaning(1)
        for seconds, values in ((0, calm), (1, change), (20, change)):
            meaning.take(None if values is None else "".join(f"{name} {value}\n" for name, value in (calm | values).items()), seconds)
        expect(meaning.seen == expected, f"pages with {change} mean {sorted(meaning.seen)}, not {sorted(expected)}")
    expect(METRICS.keys() == set().union(*(alerts for _, alerts in cases)), "an alert has no seeded page")
    for seen, must, may in ((set(), {DOWN}, set()), ({DOWN}, set(), {"Restarts"})):
        try:
            compare(seen, must, may)
        except Wrong:
            continue
        raise Wrong(f"{seen} is taken where {must} must and {may} may be seen")
