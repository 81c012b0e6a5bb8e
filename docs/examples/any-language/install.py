"""Installs or updates one package of a signed catalog. Needs python3-cryptography (Ed25519) and Python 3.11.

usage: python3 install.py CATALOG-URL KEY-FILE ID FORMAT FOLDER      (FORMAT is mbtiles or pmtiles)
"""
import base64, hashlib, http.client, json, os, pathlib, re, sys, urllib.request
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

if len(sys.argv) != 6:
    sys.exit(__doc__.strip().splitlines()[-1])
url, key_file, name, kind, folder = sys.argv[1:]
url, folder = url.rstrip("/") + "/", pathlib.Path(folder)

def get(path, limit=64 << 20):
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        body = answer.read(limit + 1)
    return body if len(body) <= limit else sys.exit(f"{path} is larger than {limit} bytes")

def write(path, body):  # a reader sees the old file or the new one
    with open(f"{path}.new", "wb") as file:
        file.write(body), file.flush(), os.fsync(file.fileno())
    os.replace(f"{path}.new", path)

def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

def catalog():  # the list, when it is signed with the key and not older than the last one
    body, signed = get("catalog.json"), json.loads(get("catalog.json.sig", 1 << 20))
    text = re.search(r"ed25519-public:([A-Za-z0-9+/]{43}=)(?!\S)", pathlib.Path(key_file).read_text()) or sys.exit("this is no public key")
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(text[1]))
    fitting = [s["signature"] for s in signed["signatures"] if s["sha256"] == hashlib.sha256(body).hexdigest()]
    key.verify(base64.b64decode(fitting[0]), body) if fitting else sys.exit("no signature is of this list: run again")
    listed, seen = json.loads(body), folder / "sequence"
    if (listed["format"], listed["format_version"]) != ("packhorse-catalog", 1):
        sys.exit("this list has another format")
    if seen.exists() and listed.get("sequence", 0) < int(seen.read_text()):
        sys.exit("this list is older than one that was seen before")
    write(seen, str(listed.get("sequence", 0)).encode())
    return listed

def install(file, target):
    if not re.fullmatch("[0-9a-f]{64}", file["sha256"]) or re.search(r"^/|:|\\|(^|/)\.\.?(/|$)|[?#%]", file["url"]):
        sys.exit("the list has a wrong digest or address")
    part = folder / f"{name}.{kind}.{file['sha256'][:16]}.part"
    for old in folder.glob(f"{name}.{kind}.*.part"):
        old == part or old.unlink()  # of a version that is no longer the newest
    have = part.stat().st_size if part.exists() else 0
    if have < file["size"]:
        wanted = urllib.request.Request(url + file["url"], headers={"Range": f"bytes={have}-"} if have else {})
        with urllib.request.urlopen(wanted, timeout=60) as answer, open(part, "ab" if answer.status == 206 else "wb") as output:
            have = have if answer.status == 206 else 0  # 200: this server sends the whole file
            while have <= file["size"] and (piece := answer.read(1 << 16)):
                have += output.write(piece)
            output.flush(), os.fsync(output.fileno())
    if have < file["size"]:
        sys.exit(f"interrupted after {have} of {file['size']} bytes: run again, and it continues")
    if have != file["size"] or digest(part) != file["sha256"]:
        part.unlink(), sys.exit("the file is damaged: it was removed")
    os.replace(part, target)

try:
    folder.mkdir(parents=True, exist_ok=True)
    package = next(p for p in catalog()["packages"] if p["id"] == name and p["edition"] == "")
    newest, target = package["versions"][0], folder / f"{name}.{kind}"
    file = next(f for f in newest["files"] if f["format"] == kind)
    if target.exists() and digest(target) == file["sha256"]:
        print(f"version {newest['version']} is installed")
    else:
        install(file, target)
        print(f"installed version {newest['version']}")
except InvalidSignature:
    sys.exit("the signature is wrong")
except StopIteration:
    sys.exit(f"the catalog has no package {name} in the format {kind}")
except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as problem:
    sys.exit(f"{type(problem).__name__}: {problem}")
