#!/usr/bin/python3
"""An S3 server that checks signatures: OpenStack Swift with its S3 layer, all four servers in one process, for tests.

usage: ops/s3/serve.py FOLDER [--port N] [--bucket NAME]... [--stay | --remove]

Serves on 127.0.0.1 only, keeps everything under FOLDER, prints `ready URL URL` once it answers, and ends with its parent
(--stay: not; --remove: and takes FOLDER along). The clock of the second URL is two hours ahead. Access key `test:tester`, secret `testing`, region
us-east-1; a request may be 900 s off the clock. Needs the Debian package that `ops/s3-server install` brings.
"""

import argparse
import logging
import os
import pathlib
import shutil
import signal
import sys

import eventlet
import eventlet.corolocal
import eventlet.wsgi

eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True, time=True)

from swift.common import utils, wsgi  # noqa: E402
from swift.common.middleware.s3api.utils import S3Timestamp  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.swob import Request  # noqa: E402

SERVERS = ("account", "container", "object")

BACKEND = """[DEFAULT]
devices = {folder}/node
mount_check = false
bind_ip = 127.0.0.1
swift_dir = {folder}/etc
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""

FILTERS = """catch_errors gatekeeper listing_formats bulk s3api tempauth slo dlo versioned_writes symlink copy"""
PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
swift_dir = {folder}/etc
[pipeline:main]
pipeline = {filters} proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
""" + "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in FILTERS.split()).replace(
    "use = egg:swift#s3api\n", "use = egg:swift#s3api\nlocation = us-east-1\ns3_acl = false\nallowable_clock_skew = 900\n"
).replace("use = egg:swift#tempauth\n", "use = egg:swift#tempauth\nuser_test_tester = testing .admin\n"
).replace("use = egg:swift#versioned_writes\n", "use = egg:swift#versioned_writes\nallow_object_versioning = true\n")

SWIFT = "[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n" \
        "[storage-policy:0]\nname = gold\ndefault = yes\n"


class Cache(dict):
    """What the servers use of memcached, in this process: a daemon less."""

    def __bool__(self):
        return True

    def get(self, key, *_, **__):
        return dict.get(self, key)

    def set(self, key, value, *_, **__):
        self[key] = value

    def incr(self, key, delta=1, *_, **__):
        self[key] = int(self.get(key) or 0) + delta
        return self[key]

    def decr(self, key, delta=1, *_, **__):
        return self.incr(key, -delta)

    def delete(self, key, *_, **__):
        self.pop(key, None)

    def get_multi(self, keys, *_, **__):
        return [self.get(key) for key in keys]

    def set_multi(self, mapping, *_, **__):
        self.update(mapping)


def ring(path, port):
    """A ring of one device."""
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d1", "weight": 1,
                     "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(str(path))


def prepared(app, cache, clock, ahead):
    """An application with a cache, and a clock that is so many seconds ahead."""
    def call(environment, start_response):
        environment["swift.cache"] = cache
        clock.ahead = ahead
        return app(environment, start_response)
    return call


def make_bucket(app, name):
    """What an administrator would have done before."""
    request = Request.blank(f"/v1/AUTH_test/{name}", method="PUT")
    request.environ["swift.authorize"] = lambda _: None
    request.environ["swift.authorize_override"] = True
    response = request.get_response(app)
    if response.status_int // 100 != 2:
        sys.exit(f"serve.py: bucket {name}: {response.status}")


def main():
    parser = argparse.ArgumentParser(usage="ops/s3/serve.py FOLDER [--port N] [--bucket NAME]... [--stay | --remove]")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--bucket", action="append", default=[])
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--remove", action="store_true")
    options = parser.parse_args()
    parent = os.getppid()
    folder = options.folder.resolve()
    etc = folder / "etc"
    etc.mkdir(parents=True, exist_ok=True)
    (folder / "node" / "d1").mkdir(parents=True, exist_ok=True)
    (etc / "swift.conf").write_text(SWIFT)
    utils.set_swift_dir(str(etc))

    sockets = {name: eventlet.listen(("127.0.0.1", 0)) for name in SERVERS}
    sockets["proxy"] = eventlet.listen(("127.0.0.1", options.port))
    for name in SERVERS:
        ring(etc / f"{name}.ring.gz", sockets[name].getsockname()[1])
        (etc / f"{name}.conf").write_text(BACKEND.format(folder=folder, name=name))
    (etc / "proxy.conf").write_text(PROXY.format(folder=folder, filters=FILTERS))

    class FileLog(logging.FileHandler):
        """Where the servers would use syslog."""
        LOG_LOCAL0 = 0

        def __init__(self, *_, **__):
            super().__init__(folder / "log")

    utils.ThreadSafeSysLogHandler = FileLog
    quiet = logging.getLogger("eventlet")
    quiet.addHandler(FileLog())
    clock, plain_now = eventlet.corolocal.local(), S3Timestamp.now
    S3Timestamp.now = classmethod(lambda cls, *a, **k: cls(float(plain_now()) + getattr(clock, "ahead", 0)))

    def serve(listener, app):
        eventlet.spawn(eventlet.wsgi.server, listener, app, quiet, protocol=wsgi.SwiftHttpProtocol, log_output=False,
                       keepalive=True, debug=False)

    for name in SERVERS:
        serve(sockets[name], wsgi.loadapp(str(etc / f"{name}.conf")))
    proxy, cache = wsgi.loadapp(str(etc / "proxy.conf")), Cache()
    ahead = eventlet.listen(("127.0.0.1", 0))
    serve(sockets["proxy"], prepared(proxy, cache, clock, 0))
    serve(ahead, prepared(proxy, cache, clock, 7200))
    for bucket in options.bucket:
        make_bucket(prepared(proxy, cache, clock, 0), bucket)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    ports = [listener.getsockname()[1] for listener in (sockets["proxy"], ahead)]
    print("ready " + " ".join(f"http://127.0.0.1:{port}" for port in ports), flush=True)
    while options.stay or os.getppid() == parent:
        eventlet.sleep(0.5)
    if options.remove:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
