"""Where results are kept: ops/bench/RESULTS.md, and what a run was measured on."""
import os
import re
import subprocess

ROOT = os.path.abspath(f"{os.path.dirname(os.path.abspath(__file__))}/../../..")


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(": ")[1].strip() for line in file if line.startswith("model name")), "unknown")
    date = subprocess.run(["date", "+%F"], capture_output=True, text=True).stdout.strip()
    return f"{date}, commit {commit()}, {os.cpu_count()} × {model}, load {os.getloadavg()[0]:.1f} at the end"


def write(task, title, text):
    """Replaces what the last run of a make task wrote between its marks in RESULTS.md."""
    path = f"{ROOT}/ops/bench/RESULTS.md"
    with open(path) as file:
        whole = file.read()
    begin, end = f"<!-- make {task} -->\n", f"<!-- end of make {task} -->\n"
    if begin not in whole:
        whole += f"\n## {title}\n\n{begin}{end}"
    whole = re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{text}\n{end}", whole, flags=re.S)
    with open(path, "w") as file:
        file.write(whole)
