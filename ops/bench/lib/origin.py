"""The origin: Debian's nginx, one worker process, loopback only."""
import os
import subprocess
import time

import nginx

PLAIN, COUNTED = 18080, 18081
# Ports that answer later, and by how many seconds.
FAR, FARTHER = (18083, 0.03), (18084, 0.3)
# TLS, with HTTP/2 for those who ask for it; at once, and as late as FAR.
TLS, TLS_FAR = 18085, 18086

TEMPLATE = """
{user}
daemon on;
pid {run}/nginx.pid;
error_log {run}/error.log warn;
{module}
worker_processes 1;
worker_rlimit_nofile 65536;
events {{ worker_connections 4096; multi_accept on; }}
http {{
  log_format times '$msec $request_uri $connection';
  access_log off;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_timeout 65; keepalive_requests 100000000;
  types {{ application/x-protobuf pbf; image/png png; application/json json; }}
  default_type application/octet-stream;
  client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f;
  uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  map $uri $coding {{ ~\\.pbf$ gzip; default ""; }}
  root {trees};
  server {{ listen 127.0.0.1:{plain} backlog=1024; location / {{ add_header Content-Encoding $coding; }} }}
  server {{
    listen 127.0.0.1:{counted} backlog=1024;
    access_log {run}/{counted}.log times buffer=1m flush=1s;
    location / {{ add_header Content-Encoding $coding; }}
  }}
  ssl_certificate {run}/cert.pem; ssl_certificate_key {run}/key.pem;
  server {{
    listen 127.0.0.1:{tls} backlog=1024 ssl http2;
    access_log {run}/{tls}.log times buffer=1m flush=1s;
    location / {{ add_header Content-Encoding $coding; }}
  }}
  {far}
}}
"""
FAR_SERVER = """
  server {{
    listen 127.0.0.1:{port} backlog=1024{more};
    access_log {run}/{port}.log times buffer=1m flush=1s;
    location / {{ echo_sleep {delay}; echo_exec @tiles; }}
    location @tiles {{ add_header Content-Encoding $coding; }}
  }}
"""
ECHO_MODULE = "/usr/lib/nginx/modules/ngx_http_echo_module.so"


class Origin:
    """Serves the folder of trees on PLAIN, on COUNTED with a log, on FAR and FARTHER with a delay before each answer, and with TLS."""

    def __init__(self, trees, run):
        self.run, self.trees = run, trees
        os.makedirs(run, exist_ok=True)
        self.has_far = os.path.exists(ECHO_MODULE)
        late = [(*FAR, ""), (*FARTHER, ""), (TLS_FAR, FAR[1], " ssl http2")]
        far = "".join(FAR_SERVER.format(port=port, run=run, delay=delay, more=more) for port, delay, more in late)
        module = f"load_module {ECHO_MODULE};" if self.has_far else ""
        self.config, self.certificate = f"{run}/nginx.conf", f"{run}/cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{run}/key.pem",
                        "-out", self.certificate], check=True, stderr=subprocess.DEVNULL)
        with open(self.config, "w") as file:
            file.write(TEMPLATE.format(run=run, trees=trees, plain=PLAIN, counted=COUNTED, tls=TLS, module=module,
                                       # Root's folders are closed to nginx's own user.
                                       user="user root;" if os.geteuid() == 0 else "",
                                       far=far if self.has_far else ""))

    def __enter__(self):
        nginx.start(self.config, f"http://127.0.0.1:{PLAIN}/", self.run)
        return self

    def __exit__(self, *_):
        nginx.stop(self.run)

    def requests(self, port):
        """(time, path, connection) of each request to a port with a log since the last call, by time, after nginx has written them down."""
        time.sleep(1.5)
        path = f"{self.run}/{port}.log"
        with open(path) as file:
            lines = [line.split() for line in file]
        os.truncate(path, 0)
        return sorted((float(at), uri, connection) for at, uri, connection in lines)
