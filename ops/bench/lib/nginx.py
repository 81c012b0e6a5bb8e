"""Starts and ends an nginx of a benchmark, which keeps its files in a folder of the run."""
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request


def start(config, url, run):
    """Starts nginx and waits until it answers at `url`, where there is no file."""
    subprocess.run([shutil.which("nginx") or "/usr/sbin/nginx", "-c", config], check=True)
    for _ in range(100):
        try:
            urllib.request.urlopen(url, timeout=1)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nginx does not answer; see {run}/error.log")


def stop(run):
    """Ends the nginx whose process id is in the folder of the run."""
    with open(f"{run}/nginx.pid") as file:
        os.kill(int(file.read()), 15)
