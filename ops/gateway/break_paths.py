"""Number 3 of ops/gateway-break: no path gives a byte of a file that no list names."""
import os

from acceptance import expect
from break_site import Incomplete, ask

SECRET = b"packhorse-secret-"
# What is planted, and must not come out.
PLANTED = ["versions.json", "styles.json", ".lock", ".hidden", "secret.txt", "packages/secret.mbtiles", "packages/1/SECRET.mbtiles",
           "packages/1/.SECRET.mbtiles", "packages/2/LI.mbtiles", "packages/1/LI.mbtiles.part", "packages/1/LI.mbtiles;a", "patches/LI/0-1.mbtiles",
           "packs/small/1/0/0/SECRET.mbtiles", "styles/1/secret.zip", "regions/SECRET.json", "de/packages/1/LI.mbtiles", "de/packages.json",
           "groups/extracts/packages/1/m1.mbtiles", "groups/extracts/packages.json", "regions/LI.json", "catalog.json.new", "packages.json~"]
LISTED = ["catalog.json", "packages.json", "packages/1/LI.mbtiles", "packages/1/KK.mbtiles"]


def plant(site):
    """A catalog with three listed packages, in which and beside which secrets lie; one listed file is a link to a secret."""
    catalog = site.folder / "paths" / "catalog"
    for package in ("LI", "KK", "LINKED"):
        site.publish(catalog, package)
    (catalog.parent / "outside.txt").write_bytes(SECRET + b"outside")
    for number, name in enumerate(PLANTED):
        path = catalog / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SECRET + str(number).encode())
    linked = catalog / "packages/1/LINKED.mbtiles"
    # As large as the listed file, so that only the link tells them apart.
    (catalog.parent / "large").write_bytes(SECRET.ljust(linked.stat().st_size, b"x"))
    linked.unlink()
    os.symlink("../../../large", linked)
    os.symlink("../../../outside.txt", catalog / "packages/1/LINK.mbtiles")
    os.symlink("/etc", catalog / "packages/3")
    os.symlink("..", catalog / "packages/up")
    os.symlink("/etc/passwd", catalog / "passwd")
    return catalog


def targets():
    """At least 150 targets, each with a byte that a lenient server would take for another path."""
    dots = ["..", "%2e%2e", "%2E%2E", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae", "%f0%80%80%ae%f0%80%80%ae", "%u002e%u002e", "..;",
    "..%00",
            "..%20", "...", "%ef%bc%8e%ef%bc%8e", "%e2%80%a4%e2%80%a4", "..%5c", "..%2f", "..%c0%af", "..%252f", "..%e2%88%95"]
    for dot in dots:
        yield f"/{dot}/outside.txt"
        yield f"/packages/{dot}/secret.txt"
        yield f"/packages/1/{dot}/{dot}/{dot}/outside.txt"
        yield f"/{dot}/{dot}/{dot}/{dot}/{dot}/etc/passwd"
    for name in PLANTED:
        yield "/" + name
    base = "/packages/1/LI.mbtiles"
    yield from ["//packages/1/LI.mbtiles", "/packages//1/LI.mbtiles", "/packages/1//LI.mbtiles", "/./packages/1/LI.mbtiles",
                "/packages/./1/LI.mbtiles",
                base + "/", base + "/.", base + "/..", base + "%00", base + "%00.json", base + ";a=b", base + "%20", base + ".", base + "%2f",
                base + "/x",
                base + "%0d%0aX:y", base + "\\", base + "%5c", "/packages\\1\\LI.mbtiles", "/packages%5c1%5cLI.mbtiles", "/packages/1%2fLI.mbtiles",
                "/packages%2f1%2fLI.mbtiles", "/%70ackages/01/LI.mbtiles", "/packages/+1/LI.mbtiles", "/packages/1.0/LI.mbtiles",
                "/packages/0x1/LI.mbtiles",
                "/packages/%d9%a1/LI.mbtiles", "/packages/%ef%bc%91/LI.mbtiles", "/packages/1/li.mbtiles", "/PACKAGES/1/LI.mbtiles",
                "/packages/-1/LI.mbtiles",
                "/packages/4294967297/LI.mbtiles", "/packages/18446744073709551617/LI.mbtiles",
                # The Kelvin sign is canonically equivalent to K.
                "/packages/1/%e2%84%aaK.mbtiles", "/packages/1/K%e2%84%aa.mbtiles", "/tiles/%e2%84%aaK.json", "/v1/packages/%e2%84%aaK",
                "/packages/1/L%cc%80I.mbtiles", "/packages/1/LI.mbtiles%cc%80", "/packages/1/%ff%fe.mbtiles", "/packages/1/LI%ed%a0%80.mbtiles"]
    yield from ["/packages/1/LINK.mbtiles", "/packages/1/LINKED.mbtiles", "/packages/3/passwd", "/packages/up/secret.txt", "/passwd",
                "/tiles/LINKED.json@1",
                "/tiles/LINKED/0/0/0", "/tiles/LINKED@1/0/0/0", "/style/LINKED/style.json", "/style/..%2f..%2fsecret/style.json",
                "/style/small/..%2f..%2fsecret.txt", "/style/small/../../secret.txt", "/ui/../secret.txt", "/ui/..%2fsecret.txt",
                "/ui/%2e%2e/secret.txt",
                "/ui//etc/passwd", "/problems/..%2fsecret.txt", "/world/..%2fsecret.txt", "/world/fonts/..%2f..%2f/0-255.pbf",
                "/tiles/..%2f..%2fLI.json",
                "/tiles/LI.json?edition=../..", "/tiles/LI@1/0/0/0?format=../../secret.txt", "/tiles/LI.json?edition=groups/extracts",
                "/carto/..%2f..%2f/packages.json", "/carto/small/..%2f..%2fsecret.mbtiles", "/v1/packages?group=../..&at=9,47"]
    for letter in ("a", "%41", "%2e", "/a", "../", ";", "\\", "%e2%84%aa"):
        yield "/packages/1/" + letter * (4_096 // len(letter)) + ".mbtiles"
    yield from ["secret.txt", "*", "", "/?/../secret.txt", "/#/../secret.txt", "http://a/../secret.txt", "http://a/packages/1/..%2f..%2fsecret.txt",
                "file:///etc/passwd", "http:///etc/passwd", "ftp://a/secret.txt", "//etc/passwd", "/secret.txt?download",
                "/packages/1/SECRET.mbtiles?download"]


def paths(site):
    """150 paths with dots, escapes, NUL, backslashes, overlong UTF-8, links and long names: never a byte of a file that no list names."""
    catalog = plant(site)
    gateway = site.gateway_of(catalog, "--metrics", "open")
    listed = {"/" + name: (catalog / name).read_bytes() for name in LISTED}
    findings, statuses, count = [], {}, 0
    for path, body in listed.items():
        answer = ask(gateway, path)
        expect((answer.status, answer.body) == (200, body), f"{path} gave {answer.status}")
    marks = (SECRET, b"root:x:")
    for target in targets():
        for method in ("GET", "HEAD"):
            try:
                answer = ask(gateway, target, method=method)
            except Incomplete:
                continue
            statuses[answer.status] = statuses.get(answer.status, 0) + 1
            if any(mark in answer.body or mark in str(answer.headers).encode() for mark in marks):
                findings.append(f"{method} {target[:80]} gave a secret")
            # A query or a fragment is no part of a path.
            is_page = target.startswith(("/?", "/#", "/tiles/LI.json?edition=groups", "/v1/packages?"))
            is_about_link = target.startswith("/tiles/LINKED") or target == "/packages/1/LINKED.mbtiles"
            wanted = {200, 400, 404} if is_page else {400, 404, 500} if is_about_link else {400, 404, 414}
            if answer.status not in wanted:
                findings.append(f"{method} {target[:80]} gave {answer.status}, {len(answer.body)} bytes")
        count += 1
    expect(ask(gateway, "/packages/1/LINKED.mbtiles").code() == "damaged", "a listed file that is a link is not reported as damaged")
    expect(gateway.process.poll() is None and ask(gateway, "/healthz").status == 200, "the gateway does not answer any more")
    gateway.kill()
    expect(count >= 150, f"only {count} paths were tried")
    expect(not findings, f"{len(findings)} findings for {count} paths: " + " | ".join(findings[:8]))
    print(f"      {count} paths, statuses {statuses}", flush=True)


ALL = {3: paths}
