"""Checks with other programs as clients: numbers 12, 17 and 18 of ops/gateway-check."""
import http.client
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import threading
import time

from acceptance import Skip, expect, wait
from gateway_site import Gateway, Site

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def openapi(site):
    """schemathesis finds no answer that the OpenAPI document does not describe, in both roles."""
    python = environment(site, "schemathesis==4.32.5", "openapi-spec-validator==0.9.0")
    # It withdraws packages and makes schedules, so it gets a cluster of its own.
    folder = site.folder / "schemathesis"
    folder.mkdir()
    site = Site(folder, site.program, padding=0)
    try:
        schemathesis(site, python)
    finally:
        site.close()


def schemathesis(site, python):
    """Validates the document and runs it in both roles."""
    document = site.folder / "openapi.json"
    document.write_bytes(site.gateway.get("/openapi.json").body)
    valid = subprocess.run([python.parent / "openapi-spec-validator", document], capture_output=True, text=True)
    expect(valid.returncode == 0, f"openapi-spec-validator: {valid.stdout}{valid.stderr}")
    for role in ("viewer", "operator"):
        # Events and backups would run without an end or fill the disk; the rest is what the document has.
        done = subprocess.run(
            [python.parent / "schemathesis", "run", document, "--url", site.gateway.url, "--max-examples", "20", "--workers", "1",
             "--header", f"Authorization: Bearer {site.tokens[role]}", "--exclude-path-regex", "/v1/(events|backups)|/carto|/maparea",
             "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
             "--request-timeout", "10", "--suppress-health-check", "all", "--no-color"],
            cwd=site.folder, capture_output=True, text=True, timeout=900)
        (site.logs / f"schemathesis-{role}.txt").write_text(done.stdout + done.stderr)
        failures = [line for line in done.stdout.splitlines() if line.startswith("- ") or re.match(r"_+ [A-Z]+ /", line)]
        expect(done.returncode == 0, f"as {role}: " + " | ".join(failures[:6]) + done.stderr[-300:])


def environment(site, *packages):
    """The python of an environment below .build/gateway-check with these packages of PyPI."""
    folder = ROOT / ".build/gateway-check/venv"
    python = folder / "bin/python"
    try:
        if not python.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["python3", "-m", "venv", folder], check=True, capture_output=True, text=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--timeout", "20", "--retries", "1", *packages],
                       check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Skip(f"{packages[0]} cannot be installed here: {said[-1] if said else error}") from error
    return python


def slow_clients(site):
    """With slowhttptest in four modes and 10,000 idle connections, tiles come in time, memory is bounded, and no descriptor is lost."""
    program = shutil.which("slowhttptest")
    if not program:
        raise Skip("slowhttptest is not installed (apt-get install slowhttptest)")
    gateway = Gateway(site, "--max-connections", "20000")
    pid, path = gateway.process.pid, site.file("EE")[0]
    before = descriptors(pid)
    idle = idle_connections(gateway.port, 10_000)
    took, worst = [], 0
    stop = threading.Event()
    reader = threading.Thread(target=read_tiles, args=(gateway, took, stop))
    reader.start()
    try:
        # Head, body, read and range, each with 500 connections for 10 s.
        for mode in (["-H"], ["-B"], ["-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "32"], ["-R"]):
            target = f"{gateway.url}/{path}" if mode[0] in ("-X", "-R") else f"{gateway.url}/catalog.json"
            subprocess.run([program, *mode, "-c", "500", "-r", "250", "-l", "10", "-p", "5", "-u", target], cwd=site.folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            worst = max(worst, memory(pid))
    finally:
        stop.set()
        reader.join()
        for connection in idle:
            connection.close()
    took.sort()
    p99 = took[len(took) * 99 // 100]
    wait("the end of all connections", lambda: descriptors(pid) <= before + 3, 75)
    gateway.kill()
    expect(len(idle) >= 9_000, f"only {len(idle)} idle connections were taken")
    expect(worst <= 256 << 20, f"the gateway had {worst >> 20} MiB")
    expect(p99 <= 0.1 * pace(), f"p99 of {len(took)} tiles was {p99 * 1000:.0f} ms")


def pace():
    """The limit of 100 ms holds for a machine with a free core; PACE=3 allows three times as much on a busy one."""
    return float(os.environ.get("PACE", "1"))


def idle_connections(port, count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(count + 1_000, soft), hard), hard))
    found = []
    for number in range(count):
        # An address takes 64 connections, so these come from many addresses of the loopback network.
        connection = socket.socket()
        connection.settimeout(5)
        try:
            connection.bind((f"127.{1 + number // 12_000}.{number // 50 % 240}.{1 + number % 50}", 0))
            connection.connect(("127.0.0.1", port))
        except OSError:
            connection.close()
            break
        found.append(connection)
    return found


def read_tiles(gateway, took, stop):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=20)
    while not stop.is_set():
        began = time.monotonic()
        try:
            connection.request("GET", "/tiles/EE/0/0/0")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()
        took.append(time.monotonic() - began)
        time.sleep(0.01)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def memory(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def metrics(site):
    """After 10,000 unknown paths and many jobs /metrics has at most 2,500 series, and no counter fell."""
    first = samples(site.gateway)
    connection = http.client.HTTPConnection("127.0.0.1", site.gateway.port, timeout=20)
    for number in range(10_000):
        connection.request("GET", f"/unknown-{number}/{number % 97}")
        connection.getresponse().read()
    connection.close()
    second = samples(site.gateway)
    expect(len(second) <= 2_500, f"/metrics has {len(second)} series")
    counters = [name for name in first if name.partition("{")[0].endswith(("_total", "_count", "_bucket", "_sum"))]
    fell = [name for name in counters if second.get(name, 0) < first[name]]
    expect(not fell, f"these counters fell: {fell[:5]}")
    others = sum(value for name, value in second.items() if name.startswith('packhorse_gateway_http_requests_total{route="other"'))
    expect(others >= 10_000, f"{others} requests of unknown paths were counted")


def samples(gateway):
    found = {}
    for line in gateway.get("/metrics", role="viewer").body.decode().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            expect(name not in found, f"{name} is there twice")
            found[name] = float(value)
    return found


ALL = {12: openapi, 17: slow_clients, 18: metrics}
