"""Number 4 of ops/gateway-break: ranges and conditions of a file, compared with the answers of nginx for the same file."""
import email.utils
import re

from acceptance import Skip, expect
from break_site import ask
from web_proxy import Nginx

# Values of Range for a file of N bytes; L is the last one.
RANGES = [
    None, "bytes=0-4", "BYTES=0-4", "Bytes=0-4", "bytes=0-", "bytes=L-", "bytes=L-L", "bytes=-5", "bytes=-1", "bytes=-N", "bytes=0-L", "bytes=0-N",
    "bytes=1-L",
    "bytes=N-", "bytes=N-N", "bytes=999999999-", "bytes=4-999999999", "bytes=0-0", "bytes=100-199", "bytes=0-9223372036854775806", "bytes=00000-0004",
    "bytes=0-1,3-4", "bytes=0-1, 3-4", "bytes=0-1,2-3", "bytes=0-1,-2", "bytes=0-1,L-", "bytes=0-0,2-2,4-4,6-6,8-8", "bytes=0-1,N-", "bytes=N-,0-1",
    "bytes=N-,999999999-", "bytes=0-1 , 3-4", "bytes=0-9,10-19,30-39", "bytes=5-5,L-L", "bytes=0-0,1-1", "bytes=10-19,-10", "bytes=100-,0-1",
    "bytes=0-99,200-",
    "items=0-4", "bytes 0-4", "bytes", "=0-4", "seconds=1-2", "0-4", "byte=0-4", "bytes:0-4", "",
    "bytes=0-1,1-2", "bytes=0-4,2-6", "bytes=5-6,0-1", "bytes=-2,0-1", "bytes=0-,0-", "bytes=0-4,0-4", "bytes=0-,-5",
    "bytes=-0", "bytes=-0,0-1", "bytes=-999999999",
    "bytes=5-4", "bytes=", "bytes=-", "bytes=a-b", "bytes=1-2-3", "bytes=+1-2", "bytes=0x1-2", "bytes=1.5-2", "bytes=--1", "bytes=0-1,x",
    "bytes=x,0-1",
    "bytes=0-1;2-3", "bytes=0 -1", "bytes=0- 1", "bytes= 0-1", "bytes =0-1", "bytes=1", "bytes=,", "bytes=,0-1,,3-4,", "bytes=0-1,",
    "bytes=0-4,5-4", "bytes=1-2 3-4",
    "bytes=99999999999999999999999-", "bytes=0-99999999999999999999999", "bytes=-99999999999999999999999", "bytes=0-18446744073709551615",
]

TAG = "If-None-Match: {tag}"
CONDITIONS = [
    [], [TAG], ["If-None-Match: W/{tag}"], ["If-None-Match: *"], ['If-None-Match: "x"'], ['If-None-Match: "x", {tag}'],
    ['If-None-Match: "x",W/{tag}'],
    ['If-None-Match: {tag}, "x"'], ['If-None-Match: W/"x"'], ['If-None-Match: "x", "y", "z"'], ["If-None-Match: {bare}"], ["If-None-Match: nonsense"],
    ['If-None-Match: "'], ["If-None-Match: "], ['If-None-Match: "x,{bare}"'], ["If-None-Match: w/{tag}"], ["If-None-Match: {tag}{tag}"],
    ["If-None-Match:  {tag} "],
    ['If-None-Match: "x" {tag}'], ["If-None-Match: , {tag}"],
    ["If-Match: {tag}"], ["If-Match: *"], ['If-Match: "x"'], ['If-Match: "x", {tag}'], ["If-Match: W/{tag}"], ['If-Match: "x", W/{tag}'],
    ["If-Match: nonsense"],
    ["If-Match: "], ["If-Match: {bare}"], ['If-Match: {tag}, "x"'],
    ["If-Modified-Since: {date}"], ["If-Modified-Since: {after}"], ["If-Modified-Since: {before}"], ["If-Modified-Since: nonsense"],
    ["If-Modified-Since: {rfc850}"], ["If-Modified-Since: {asctime}"], ["If-Modified-Since: "], ["If-Modified-Since: {seconds}"],
    ["If-Unmodified-Since: {date}"], ["If-Unmodified-Since: {after}"], ["If-Unmodified-Since: {before}"], ["If-Unmodified-Since: nonsense"],
    ["If-Unmodified-Since: {rfc850}"], ["If-Unmodified-Since: {asctime}"],
    ['If-None-Match: "x"', "If-Modified-Since: {date}"], [TAG, "If-Modified-Since: {date}"], [TAG, "If-Modified-Since: {before}"],
    ["If-Match: {tag}", "If-Unmodified-Since: {before}"], ['If-Match: "x"', "If-Unmodified-Since: {date}"], ["If-Match: {tag}", TAG],
    ['If-Match: "x"', TAG],
    ["If-Unmodified-Since: {date}", TAG], ["If-Unmodified-Since: {before}", TAG], ["If-Match: *", 'If-None-Match: "x"'],
    ["Range: bytes=0-4", "If-Range: {tag}"], ["Range: bytes=0-4", 'If-Range: "x"'], ["Range: bytes=0-4", "If-Range: W/{tag}"],
    ["Range: bytes=0-4", "If-Range: {date}"], ["Range: bytes=0-4", "If-Range: {before}"], ["Range: bytes=0-4", "If-Range: {after}"],
    ["Range: bytes=0-4", "If-Range: nonsense"], ["Range: bytes=0-4", "If-Range: *"], ["Range: bytes=N-", 'If-Range: "x"'], ["Range: bytes=N-",
    "If-Range: {tag}"],
    ["Range: bytes=0-4", TAG], ["Range: bytes=0-4", 'If-Match: "x"'], ["Range: bytes=N-", TAG], ["Range: bytes=0-4", "If-Modified-Since: {date}"],
]

# Where the gateway differs: its status, why, and the cases.
DIFFERENCES = [
    (200, "RFC 9110, 14.2 allows to ignore ranges that overlap or do not ascend; one request then never gets more bytes than the file has",
     ["bytes=100-,0-1", "bytes=0-1,1-2", "bytes=0-4,2-6", "bytes=5-6,0-1", "bytes=-2,0-1", "bytes=0-4,0-4"]),
    (200, "RFC 9110, 14.1.1 and 14.2: a Range that breaks the grammar is ignored; 416 is for a valid one",
     ["bytes=5-4", "bytes=-", "bytes=a-b", "bytes=1-2-3", "bytes=+1-2", "bytes=0x1-2", "bytes=1.5-2", "bytes=--1", "bytes=0-1,x", "bytes=x,0-1",
     "bytes=0-1;2-3",
      "bytes=1", "bytes=,", "bytes=1-2 3-4", "bytes=0-4,5-4", "bytes=0 -1", "bytes=0- 1"]),
    (206, "RFC 9110, 5.6.1.2: a recipient ignores empty elements of a list", ["bytes=,0-1,,3-4,", "bytes=0-1,"]),
    (206, "RFC 9110, 14.1.2: a last position beyond the end is the end, however large",
     ["bytes=0-99999999999999999999999", "bytes=-99999999999999999999999", "bytes=0-18446744073709551615"]),
    (200, "RFC 9110, 13.1.4: a date that is not valid is ignored", ["If-Unmodified-Since: nonsense"]),
    (304, "RFC 9110, 13.2.2: If-Modified-Since is not looked at where If-None-Match is", [f"{TAG}; If-Modified-Since: {{before}}"]),
    (200, "RFC 9110, 13.2.2: If-Unmodified-Since is not looked at where If-Match is", ["If-Match: {tag}; If-Unmodified-Since: {before}"]),
]
INTENDED = {case if case.startswith("If") else f"Range: {case}": (status, why) for status, why, cases in DIFFERENCES for case in cases}


def outcome(answer, size):
    """What can be compared: the status, and the parts of the body."""
    if answer.status == 206 and "multipart" in answer.headers["content-type"]:
        parts = re.findall(rb"Content-Range: bytes (\d+)-(\d+)/(\d+)\r\n\r\n", answer.body)
        return 206, tuple((int(first), int(last)) for first, last, all_ in parts if int(all_) == size)
    if answer.status == 206:
        first, last = map(int, re.fullmatch(r"bytes (\d+)-(\d+)/%d" % size, answer.headers["content-range"]).groups())
        return 206, ((first, last),)
    return answer.status, ()


def is_right(answer, body):
    """Whether the bytes of an answer are those of the file at the places that it states."""
    status, parts = outcome(answer, len(body))
    if status == 206 and len(parts) > 1:
        return all(body[first:last + 1] in answer.body for first, last in parts)
    return answer.body == body if status == 200 else status != 206 or answer.body == body[parts[0][0]:parts[0][1] + 1]


def places(line, size):
    """A field with the numbers of the file."""
    return re.sub(r"\bN\b", str(size), re.sub(r"\bL\b", str(size - 1), line)) if line.startswith("Range") else line


def same_as_nginx(site):
    """80 ranges and 60 conditions have the answers of nginx for the same file, except where the table says why not."""
    if not Nginx.is_there():
        raise Skip("nginx is not installed")
    folder = site.folder / "nginx-catalog"
    site.publish(folder, "LI")
    gateway = site.gateway_of(folder)
    path, size = "/packages/1/LI.mbtiles", (folder / "packages/1/LI.mbtiles").stat().st_size
    body = (folder / path[1:]).read_bytes()
    front = Nginx(site.folder / "nginx-4", f"location / {{ root {folder}; gzip_static off; if_modified_since before; }}")
    modified = int((folder / path[1:]).stat().st_mtime)
    dates = {name: email.utils.formatdate(modified + by, usegmt=True) for name, by in (("date", 0), ("before", -1), ("after", 1))}
    parsed = email.utils.parsedate_to_datetime(dates["date"])
    dates.update(rfc850=parsed.strftime("%A, %d-%b-%y %H:%M:%S GMT"), asctime=parsed.strftime("%a %b %e %H:%M:%S %Y"), seconds=str(modified))
    rows = [[f"Range: {text}"] if text is not None else [] for text in RANGES] + CONDITIONS
    findings = []
    try:
        tags = {server.port: ask(server, path, method="HEAD").headers["etag"] for server in (gateway, front)}
        for row in rows:
            found = []
            for server in (gateway, front):
                tag = tags[server.port]
                fields = [line.format(tag=tag, bare=tag.strip('"'), **dates) for line in row]
                answer = ask(server, path, *[places(line, size) for line in fields])
                found.append(outcome(answer, size))
                if server is gateway and not is_right(answer, body):
                    findings.append(f"{row}: the bytes are not those of the file")
            wanted, reason = INTENDED.get("; ".join(row), (None, ""))
            if reason and found[0][0] != wanted:
                findings.append(f"{row}: {found[0]}, not {wanted} ({reason})")
            if not reason and found[0] != found[1]:
                findings.append(f"{row}: gateway {found[0]}, nginx {found[1]}")
            if reason and found[0] == found[1]:
                findings.append(f"{row}: nginx gives the same now, {found[1]}")
    finally:
        front.stop()
        gateway.kill()
    expect(not findings, f"{len(findings)} findings in {len(rows)} cases: " + " | ".join(findings))
    print(f"      {len(RANGES)} ranges, {len(CONDITIONS)} conditions, {len(INTENDED)} intended differences", flush=True)


ALL = {4: same_as_nginx}
