"""Compares the history of a schedule with the jobs that were fired. Python's standard library only."""
from acceptance import Wrong, expect

RESULTS = {"done": "published", "failed": "failed"}


def check(firings, jobs, states, without_job):
    """Every firing once, in order, with its job and what became of it; `without_job` of them found nothing new.

    `firings` are those of `schedule history --json`, the oldest first, `jobs` the numbers of the jobs that were fired, `states` the states of jobs.
    """
    expect([firing["number"] for firing in firings] == list(range(1, len(firings) + 1)), f"numbers of firings: {[firing['number'] for firing in firings]}")
    expect([firing["job"] for firing in firings if "job" in firing] == jobs, "the history has other jobs than those that were fired")
    found = sum(firing["result"] == "nothing-new" and "job" not in firing for firing in firings)
    expect(found == without_job, f"{found} firings found nothing new, not {without_job}")
    expect(len(firings) == len(jobs) + without_job, f"{len(firings)} firings for {len(jobs)} jobs and {without_job} without one")
    for firing in firings:
        if "job" in firing:
            state = states[firing["job"]]
            expect(firing["result"] == RESULTS.get(state), f"firing {firing['number']} is {firing['result']}, its job {firing['job']} {state}")


def check_itself(firings, jobs, states, without_job):
    """A history with one fault is refused: a firing is lost, two have changed places, one has another result or another job."""
    at = next(number for number, firing in enumerate(firings) if "job" in firing)
    other = [dict(firing) for firing in firings]
    other[at]["result"] = "failed" if other[at]["result"] == "published" else "published"
    foreign = [dict(firing) for firing in firings]
    foreign[at]["job"] += 1
    for wrong in (firings[:-1], firings[1:], [firings[1], firings[0], *firings[2:]], other, foreign):
        try:
            check(wrong, jobs, states, without_job)
        except Wrong:
            continue
        raise Wrong("a history with a fault is taken")
