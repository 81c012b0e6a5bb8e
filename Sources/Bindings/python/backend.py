"""Makes the wheel of the package for pip (PEP 517), with the libofflinemaps.so that lies in its folder, if there is one.

Python's standard library only.
"""
import base64
import hashlib
import pathlib
import re
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "offlinemaps"


def field(name):
    """A text of pyproject.toml; Python 3.9 has no reader of TOML."""
    return re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.M)[1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = field("version")
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted((HERE / PACKAGE).iterdir())
             if path.suffix in {".py", ".typed", ".so"}}
    has_library = any(name.endswith(".so") for name in files)
    system = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform()) if has_library else "any"
    tag = f"py3-none-{system}"
    home = f"{PACKAGE}-{version}.dist-info"
    files[f"{home}/METADATA"] = (f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\nSummary: {field('description')}\n"
                                 f"Requires-Python: {field('requires-python')}\n").encode()
    files[f"{home}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: {PACKAGE}\nRoot-Is-Purelib: {str(not has_library).lower()}\nTag: {tag}\n").encode()
    record = []
    for name, body in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(body)}\n")
    files[f"{home}/RECORD"] = "".join([*record, f"{home}/RECORD,,\n"]).encode()
    wheel = f"{PACKAGE}-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return wheel
