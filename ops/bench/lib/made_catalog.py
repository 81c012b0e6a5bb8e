"""A catalog of many packages, made from a catalog with one: the copies are links to its files."""
import hashlib
import json
import os
import pathlib

BLOCK = 16 << 20


class MadeCatalog:
    """A folder with `count` copies of a package, and packages whose files are plain bytes of given sizes."""

    def __init__(self, source, folder, package, count, sizes):
        self.source, self.folder = pathlib.Path(source), pathlib.Path(folder)
        self.index = json.loads((self.source / "catalog.json").read_text())
        listed = json.loads((self.source / "packages.json").read_text())
        self.entry = next(entry for entry in self.index["packages"] if entry["id"] == package)
        line = next(line for line in listed["packages"] if line["id"] == package)
        copies = [f"P{number:03}" for number in range(count)]
        self.index["packages"], listed["packages"] = [self.entry], [line]
        for file in self.entry["versions"][0]["files"]:
            self._link(file["url"], file["url"])
        for name in copies:
            self.index["packages"].append(self._copy(name, 1))
            listed["packages"].append(json.loads(json.dumps(line).replace(f"/{package}.", f"/{name}.")) | {"id": name})
        for name, size in sizes.items():
            self.index["packages"].append(self._plain(name, size))
        text = json.dumps(listed, indent=1, ensure_ascii=False).encode()
        (self.folder / "packages.json").write_bytes(text)
        edition = self.index["editions"][0]
        edition["list"] = {"url": "packages.json", "size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        edition["packages"] = len(self.index["packages"])
        self._write()

    def publish(self, name, version):
        """Puts a new version of a copy into the catalog, as the coordinator does: files first, catalog.json last, by a rename."""
        entry = next(entry for entry in self.index["packages"] if entry["id"] == name)
        entry["versions"].insert(0, self._copy(name, version)["versions"][0])
        self.index["sequence"] += 1
        self._write()

    def _write(self):
        (self.folder / "catalog.tmp").write_text(json.dumps(self.index, indent=1, ensure_ascii=False))
        os.rename(self.folder / "catalog.tmp", self.folder / "catalog.json")

    def _link(self, path, target):
        (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
        os.link(self.source / path, self.folder / target)

    def _copy(self, name, version):
        entry = json.loads(json.dumps(self.entry)) | {"id": name}
        entry["versions"] = entry["versions"][:1]
        entry["versions"][0]["version"] = version
        for file in entry["versions"][0]["files"]:
            target = f"packages/{version}/{name}.{file['format']}"
            self._link(file["url"], target)
            file["url"] = target
        return entry

    def _plain(self, name, size):
        path, digest, block = f"packages/1/{name}.mbtiles", hashlib.sha256(), os.urandom(BLOCK)
        with open(self.folder / path, "wb") as file:
            for _ in range(size // BLOCK):
                file.write(block)
                digest.update(block)
        entry = json.loads(json.dumps(self.entry)) | {"id": name}
        entry["versions"] = entry["versions"][:1]
        entry["versions"][0]["files"] = [{"format": "mbtiles", "url": path, "size": size, "sha256": digest.hexdigest()}]
        return entry
