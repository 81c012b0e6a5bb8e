"""wrk as the client of a benchmark: prepared requests in random order, and what wrk measured."""
import json
import pathlib
import re
import subprocess

# The requests lie in a file with a byte 1 between them. With a pause each connection waits before a request, so that the rate is fixed.
SCRIPT = """local requests = {}
for line in io.open("%s"):read("*a"):gmatch("[^\\1]+") do requests[#requests + 1] = line end
function init(args) math.randomseed(%d) end
request = function() return requests[math.random(#requests)] end
%s
done = function(summary, latency)
    local wrong = summary.errors
    io.write(string.format('\\nRESULT {"seconds": %%f, "requests": %%d, "bytes": %%d, "p50": %%f, "p99": %%f, "p999": %%f, ' ..
        '"connect": %%d, "read": %%d, "write": %%d, "status": %%d, "timeout": %%d}\\n', summary.duration / 1e6, summary.requests, summary.bytes,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3,
        wrong.connect, wrong.read, wrong.write, wrong.status, wrong.timeout))
end
"""


class Wrk:
    """Runs wrk with one thread."""

    def __init__(self, folder):
        self.folder, self.count = pathlib.Path(folder), 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def start(self, base, requests, connections=64, seconds=3, rate=None):
        """A process that sends these requests; each is a path, or a path and its header fields."""
        self.count += 1
        listed, script = self.folder / f"requests-{self.count}", self.folder / f"wrk-{self.count}.lua"
        host = base.removeprefix("http://")
        texts = []
        for one in requests:
            path, fields = one if isinstance(one, tuple) else (one, {})
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
            texts.append("\r\n".join(lines))
        listed.write_text("\1".join(texts))
        # All connections together have the rate.
        pause = f"delay = function() return {1000 * connections / rate:.3f} * (0.5 + math.random()) end" if rate else ""
        script.write_text(SCRIPT % (listed, self.count, pause))
        return subprocess.Popen(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s", "-s", str(script), base],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def result(process):
        """Requests and bytes a second, and percentiles in milliseconds; RuntimeError after any wrong answer."""
        text = process.communicate()[0]
        found = re.search(r"^RESULT (.*)$", text, re.M)
        if process.returncode or not found:
            raise RuntimeError(f"wrk ended with {process.returncode}: {text}")
        result = json.loads(found[1])
        if any(result[name] for name in ("connect", "read", "write", "status", "timeout")):
            raise RuntimeError(f"wrk got wrong answers: {result}")
        return {**result, "rate": result["requests"] / result["seconds"], "bytes_rate": result["bytes"] / result["seconds"]}

    def __call__(self, *words, **more):
        return self.result(self.start(*words, **more))
