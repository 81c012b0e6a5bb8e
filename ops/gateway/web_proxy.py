"""nginx in front of a gateway, on loopback."""
import os
import pathlib
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench/lib"))
import nginx  # noqa: E402
import ports  # noqa: E402

# What nginx writes stays in the folder of the run.
HEAD = """{user}pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes {workers}; worker_rlimit_nofile 40000;
events {{ worker_connections 16384; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000; gzip_static on; include /etc/nginx/mime.types;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
    scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port} backlog=4096;
"""


class Nginx:
    """An nginx with these lines in its only server, until stop()."""

    @staticmethod
    def is_there():
        return shutil.which("nginx") or pathlib.Path("/usr/sbin/nginx").exists()

    def __init__(self, folder, lines, workers=1):
        self.folder, self.port = pathlib.Path(folder), ports.take()
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "nginx.conf"
        # Started by root it would read the folder as another user.
        user = "" if os.geteuid() else "user root; "
        config.write_text(HEAD.format(user=user, folder=self.folder, port=self.port, workers=workers) + lines + "\n    }\n}\n")
        nginx.start(str(config), f"{self.url}/there-is-no-such-file", self.folder)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self):
        nginx.stop(str(self.folder))


def proxy(port, read_timeout=60):
    """The lines that pass everything on to a gateway."""
    return f"""location / {{ proxy_pass http://127.0.0.1:{port}; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; proxy_read_timeout {read_timeout}s; }}"""
