"""A bucket in memory that speaks as much S3 as a push needs: with conditions, with faults, and with a judge of each change."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

# What the program needs to sign requests; the bucket does not check it.
KEYS = {"AWS_ACCESS_KEY_ID": "chaos", "AWS_SECRET_ACCESS_KEY": "chaos", "AWS_REGION": "us-east-1"}
NAME = "maps"


def tag(body):
    """The entity tag of an object; equal for equal bytes, as with S3."""
    return f'"{hashlib.md5(body).hexdigest()}"'


class Bucket:
    """Serves on 127.0.0.1; `fate(method, name, number)` decides about each request, which is counted from 1.

    A fate is None, a status, "lost" (carried out, no answer), "closed" (nothing done, no answer), seconds to wait before it is
    carried out, or a function that is called with "before" and with "after".
    """

    def __init__(self, compares=True, fate=None):
        self.compares, self.fate = compares, fate or (lambda *_: None)
        self.objects, self.number, self.troubles = {}, 0, []
        self.lock = threading.RLock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def respond(self):
                owner.respond(self)

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = respond

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A client that was killed is no fault of the bucket."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    # Requests

    def respond(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        parts = urlsplit(request.path)
        name = parts.path.removeprefix(f"/{NAME}").lstrip("/")
        with self.lock:
            self.number += 1
            fate = self.fate(request.command, name, self.number)
        if isinstance(fate, float):
            time.sleep(fate)
            fate = None
        if callable(fate):
            fate("before")
        if fate == "closed":
            return self.cut(request)
        if isinstance(fate, int):
            status, headers, answer = fate, {}, b""
        elif not name:
            status, headers, answer = 200, {}, self.listed(parse_qs(parts.query).get("prefix", [""])[0])
        else:
            status, headers, answer = self.carry_out(request, name, body)
        if callable(fate):
            fate("after")
        if fate == "lost":
            return self.cut(request)
        request.send_response(status)
        for key, value in {**headers, "Content-Length": len(answer)}.items():
            request.send_header(key, str(value))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(answer)

    def cut(self, request):
        request.close_connection = True
        request.connection.shutdown(2)

    def carry_out(self, request, name, body):
        with self.lock:
            old = self.objects.get(name)
            if request.command == "PUT":
                if status := self.refusal(request.headers, old):
                    return status, {}, b""
                self.objects[name] = body
                self.judge(f"PUT {name}")
                return 200, {"ETag": tag(body)}, b""
            if request.command == "DELETE":
                self.objects.pop(name, None)
                self.judge(f"DELETE {name}")
                return 204, {}, b""
            if old is None:
                return 404, {}, b"<Error><Code>NoSuchKey</Code></Error>"
            return 200, {"ETag": tag(old)}, old

    def refusal(self, headers, old):
        """The status for a put whose condition is false."""
        absent, unchanged = headers.get("If-None-Match"), headers.get("If-Match")
        if not self.compares:
            return None
        if absent and old is not None:
            return 412
        if unchanged and (old is None or tag(old) != unchanged):
            return 404 if old is None else 412
        return None

    def listed(self, prefix):
        with self.lock:
            rows = "".join(
                f"<Contents><Key>{escape(name)}</Key><Size>{len(body)}</Size></Contents>"
                for name, body in sorted(self.objects.items()) if name.startswith(prefix)
            )
        return f"<ListBucketResult>{rows}<IsTruncated>false</IsTruncated></ListBucketResult>".encode()

    # The judge

    def judge(self, change):
        """What clients could have found wrong after a change: a list names a file that is not there, or has other bytes."""
        for prefix in {name.removesuffix("catalog.json") for name in self.objects if name.endswith("catalog.json")}:
            self.troubles += [f"after {change}: {trouble}" for trouble in self.faults(prefix)]

    def faults(self, prefix, at_rest=False):
        """What is wrong with the catalog below a prefix; at rest its lists must be those that it names."""
        document = self.objects.get(f"{prefix}catalog.json")
        if document is None:
            return ["there is no catalog.json"] if at_rest else []
        index = json.loads(document)
        found = []
        for package in index["packages"]:
            for version in package["versions"]:
                for file in version["files"] + version["patches"]:
                    body = self.objects.get(prefix + file["url"])
                    if body is None or hashlib.sha256(body).hexdigest() != file["sha256"]:
                        found.append(f"{file['url']} is {'missing' if body is None else 'another file'}")
        signature = self.objects.get(f"{prefix}catalog.json.sig")
        digest = hashlib.sha256(document).hexdigest()
        if signature and digest not in [signed["sha256"] for signed in json.loads(signature)["signatures"]]:
            found.append("catalog.json has no signature")
        for edition in index["editions"] if at_rest else []:
            body = self.objects.get(prefix + edition["list"]["url"], b"")
            if hashlib.sha256(body).hexdigest() != edition["list"]["sha256"]:
                found.append(f"{edition['list']['url']} is not the list that catalog.json names")
        return found
