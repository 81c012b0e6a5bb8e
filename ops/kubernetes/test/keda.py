"""Evaluates the query of the ScaledObject with promtool, for states of a cluster."""
import shutil
import subprocess

import render
import yaml

# ready, leased, backoff batches; fetching, merging jobs; jobs that are paused, that wait for another; the value of the query.
STATES = [
    ("nothing to do", (0, 0, 0), (0, 0), (0, 0), 0),
    ("a new job without workers", (40, 0, 0), (1, 0), (0, 0), 40),
    ("all is leased", (0, 16, 0), (1, 0), (0, 0), 16),
    ("a batch waits for its next attempt", (0, 0, 1), (1, 0), (0, 0), 1),
    ("only a merge is left", (0, 0, 0), (0, 1), (0, 0), 8),
    ("the only job is paused", (40, 0, 0), (1, 0), (1, 0), 0),
    ("one of two jobs is paused", (40, 2, 0), (2, 0), (1, 0), 42),
    ("one is paused, the other waits for it", (40, 0, 0), (2, 0), (1, 1), 0),
]


def check(folder):
    """Says what was checked. Raises Wrong."""
    if not shutil.which("promtool"):
        return "the query of KEDA was not evaluated: no promtool here; ops/bootstrap --monitoring installs Debian's package"
    query = yaml.safe_load((render.FOLDER / "components/keda/scaledobject.yaml").read_text())["spec"]["triggers"][0]["metadata"]["query"]
    tests = []
    for name, batches, jobs, waiting, wanted in STATES:
        values = [("job_batches", "state", "ready leased backoff done", (*batches, 7)), ("jobs", "state", "fetching merging publishing done", (*jobs, 0, 5)),
                  ("jobs_waiting", "reason", "order job origin worker", (*waiting, 1, 1))]
        tests.append({"name": name, "interval": "1m", "input_series": [
            {"series": f'packhorse_{family}{{{label}="{value}"}}', "values": f"{number}x2"}
            for family, label, words, numbers in values for value, number in zip(words.split(), numbers)],
            "promql_expr_test": [{"expr": query, "eval_time": "1m", "exp_samples": [{"labels": "{}", "value": wanted}]}]})
    file = folder / "keda.test.yml"
    file.write_text(yaml.safe_dump({"rule_files": [], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True)
    if done.returncode != 0:
        raise render.Wrong(f"components/keda/scaledobject.yaml: the query: {done.stdout}{done.stderr}")
    return f"the query of KEDA, {len(STATES)} states of a cluster"
