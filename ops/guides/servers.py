"""The servers that the guides name: of tiles (the demo world), of archives and catalogs (nginx), of maps that are drawn
(map_service.py), of buckets (ops/s3).

Python's standard library only.
"""
import os
import pathlib
import subprocess
import time

OPS = pathlib.Path(__file__).resolve().parent.parent
S3_PACKAGE = pathlib.Path("/usr/lib/python3/dist-packages/swift/common/middleware/s3api/s3api.py")


def has_s3():
    """Whether an S3 server can be started; `make s3-test` sets PACKHORSE_S3_TEST, and then there must be one."""
    return S3_PACKAGE.exists() or "PACKHORSE_S3_TEST" in os.environ


class Servers:
    """The tile server, web server and S3 server of one guide."""

    def __init__(self, folder, program):
        self.running = []
        self.tiles = self.start([program, "demo-origin", "--port", "0"], "http://", folder / ".tiles")
        (folder / "www").mkdir()
        (folder / ".nginx").mkdir()
        self.files = self.start([OPS / "e2e/nginx-tiles", folder / "www", folder / ".nginx"], "ready ", folder / ".web")
        self.maps = self.start(["/usr/bin/python3", OPS / "guides/map_service.py"], "ready ", folder / ".maps")
        self.s3 = None

    def start_s3(self, folder):
        """Starts the S3 server, with the bucket `packhorse`."""
        command = ["/usr/bin/python3", OPS / "s3/serve.py", folder / ".s3", "--bucket", "packhorse"]
        self.s3 = self.start(command, "ready ", folder / ".s3-said")

    def start(self, command, sign, said):
        """Starts a server, and returns the address that it prints behind `sign`."""
        with said.open("wb") as output:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.running.append(process)
        # The S3 server computes for two seconds before it serves: a minute and more beside forty busy processes.
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline and process.poll() is None:
            for line in said.read_text(errors="replace").splitlines():
                if line.startswith(sign):
                    return line.removeprefix("ready ").split()[0]
            time.sleep(0.02)
        raise RuntimeError(f"{command[0]} does not serve: {said.read_text(errors='replace')}")

    def stop(self):
        """Ends all of them."""
        for process in self.running:
            process.terminate()
        for process in self.running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
