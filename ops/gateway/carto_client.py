"""The HTTP rules of CARTO's package manager as a client: what it requests, what it accepts, and how it counts errors.

Source of each rule: PackageManager.cpp, CartoPackageManager.cpp and HTTPClient.cpp of CartoDB/mobile-sdk at f7ce64c9.
Python's standard library only.
"""
import http.client
import json
import pathlib
import urllib.parse

ERRORS = {402: "DOWNLOAD_LIMIT_EXCEEDED", 403: "NO_OFFLINE_PLAN", 406: "PACKAGE_TOO_BIG"}


class PackageError(Exception):
    """What the listener gets: the name of the type."""


class CartoClient:
    def __init__(self, list_url, folder, key="", seconds=60):
        self.list_url, self.folder, self.key, self.seconds = list_url, pathlib.Path(folder), key, seconds
        self.folder.mkdir(parents=True, exist_ok=True)
        self.packages, self.installed, self.requests = {}, {}, []

    def load_list(self):
        """onPackageListUpdated: the whole document each time, and every member that the SDK requires with its type."""
        status, _, body = self._request(self.list_url, 0)
        if status != 200:
            raise PackageError("LIST")
        self.packages = {}
        for entry in json.loads(body)["packages"]:
            for name, kinds in (("id", str), ("version", (int, str)), ("size", (int, str)), ("url", str), ("tile_mask", str)):
                if not isinstance(entry[name], kinds) or isinstance(entry[name], bool):
                    raise PackageError(f"{name} of {entry.get('id')} would stop the SDK")
            if not urllib.parse.urlsplit(entry["url"]).path.endswith(".mbtiles") or "://" not in entry["url"]:
                raise PackageError(f"the address {entry['url']} would not be taken for a map")
            self.packages[entry["id"]] = entry

    def download(self, package, stop_after=None):
        """Downloads a listed package, or goes on where it stopped; `stop_after` bytes is a pause. True when it is installed."""
        entry = self.packages[package]
        url = entry["url"].replace("{key}", self.key)
        url += ("&" if "?" in url else "?") + f"update={int(package in self.installed)}"
        return self._download(package, int(entry["version"]), int(entry["size"]), url, stop_after)

    def download_box(self, template, mask, package, stop_after=None):
        """A package of a mask: its size is not known, its version is the next one."""
        version = self.installed.get(package, 0) + 1
        return self._download(package, version, 0, template.replace("{tilemask}", mask), stop_after)

    def file(self, package, version):
        return self.folder / f"__Nuti_pkgmgr_{package}.{version}.mbtiles"

    def _download(self, package, version, size, url, stop_after):
        target = self.file(package, version)
        error = None
        # One retry, before which the part is deleted.
        for _ in range(2):
            have = target.stat().st_size if target.exists() else 0
            try:
                status, is_whole, _ = self._request(url, have, target, stop_after)
            except (OSError, http.client.HTTPException):
                error = "CONNECTION"
            else:
                if 200 <= status < 300:
                    if not is_whole:
                        return False
                    if size in (0, target.stat().st_size):
                        self._install(package, version)
                        return True
                    error = "SYSTEM"
                else:
                    error = ERRORS.get(status, "SYSTEM")
            target.unlink(missing_ok=True)
        raise PackageError(error)

    def _install(self, package, version):
        old = self.installed.get(package)
        self.installed[package] = version
        if old is not None:
            self.file(package, old).unlink(missing_ok=True)

    def _request(self, url, start, target=None, stop_after=None):
        """Status, whether the body ended, and the body when it goes into no file. Redirects are followed as the SDK does."""
        for _ in range(5):
            parts = urllib.parse.urlsplit(url)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=self.seconds)
            headers = {"Accept": "*/*", "Referer": "app://example"}
            if start:
                headers["Range"] = f"bytes={start}-"
            self.requests.append((url, start))
            try:
                connection.request("GET", parts.path + ("?" + parts.query if parts.query else ""), None, headers)
                response = connection.getresponse()
                if response.status in (301, 302, 303, 307, 308):
                    url = urllib.parse.urljoin(url, response.getheader("Location"))
                    continue
                if start and response.status == 206 and not (response.getheader("Content-Range") or "").startswith(f"bytes {start}-"):
                    raise OSError("another range than the requested one")
                if target is None:
                    return response.status, True, response.read()
                with target.open("ab") as file:
                    received = 0
                    while piece := response.read1(65536):
                        file.write(piece)
                        received += len(piece)
                        if stop_after is not None and received >= stop_after:
                            return response.status, False, b""
                    if response.length not in (None, 0):
                        raise OSError("the body ended early")
                return response.status, True, b""
            finally:
                connection.close()
        raise OSError("too many redirects")
