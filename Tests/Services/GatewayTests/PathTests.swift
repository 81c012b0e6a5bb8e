import CatalogFormat
import Testing
import WebRequests

@testable import Gateway

struct PathTests {
    @Test func segmentsAreDecodedOnce() {
        #expect(RequestPath("/a/b%20c/%E2%82%AC")?.segments == ["a", "b c", "€"])
        #expect(RequestPath("/a%2525")?.segments == ["a%25"])
        #expect(RequestPath("/")?.segments == [""])
        #expect(RequestPath("/a/")?.segments == ["a", ""])
        #expect(RequestPath("http://host:1/a?b")?.segments == ["a"])
        #expect(RequestPath("http://host")?.segments == [""])
        let path = RequestPath("/a?x=1&y=a+b%26c&x=2&z")
        #expect(path?.parameter("x") == "1" && path?.parameter("y") == "a b&c" && path?.parameter("z") == "")
        #expect(path?.parameter("w") == nil)
    }

    @Test(arguments: [
        "", "a", "*", "/../a", "/a/..", "/a/%2e%2e/b", "/a/%2E./b", "/./a", "/a%2fb", "/a%5cb", "/a\\b", "/a%00", "/%",
        "/%4", "/%zz", "/%c0%af", "/%ff", "//a", "/a//b", "ftp://x/a", "/a%0ab", "/a%7f",
        // The Kelvin sign, and an e with its accent apart.
        "/%e2%84%aa", "/e%cc%81",
    ]) func pathsThatAreRefused(_ target: String) { #expect(RequestPath(target) == nil) }

    @Test func aLongPathIsRefused() {
        let most = RequestPath.maxBytes
        #expect(RequestPath("/" + String(repeating: "a", count: most - 1)) != nil)
        #expect(RequestPath("/" + String(repeating: "a", count: most)) == nil)
    }

    @Test(arguments: [
        "catalog.json", "catalog.json.sig", "packages.json", "de/packages.json", "groups/terrain/packages.json",
        "groups/terrain/zh-Hant/packages.json", "packages/1/EE.mbtiles", "de/packages/12/EE.pmtiles",
        "patches/EE/1-2.mbtiles", "groups/g/patches/EE/1-2.mbtiles", "regions/EE.json", "styles/3/streets.zip",
        "packs/streets/6/36/19/0123456789abcdef.mbtiles", "de/packs/streets/0/0/0/0123456789abcdef.mbtiles",
    ]) func pathsOfACatalogAreWrittenAsTheyAreRead(_ text: String) {
        #expect(CatalogPath(text.split(separator: "/").map(String.init))?.text == text)
    }

    @Test(arguments: [
        "versions.json", "styles.json", ".lock", "packages", "packages/1", "packages/01/EE.mbtiles",
        "packages/-1/EE.mbtiles", "packages/1/.hidden", "packages/99999999999/EE.mbtiles", "packages/1/a b",
        "groups/packages.json", "groups/UPPER/packages.json", "deutsch/packages.json", "de/fr/packages.json",
        "patches/EE/1.mbtiles", "patches/EE/1-2-3.mbtiles", "patches/EE/1-2.zip", "regions/EE", "styles/x/a.zip",
        "packages/1/EE.mbtiles/", "packs/a/0/0/0", "de/styles/1/a.zip", "packages/1/E;E", "",
    ]) func otherPathsNameNothing(_ text: String) {
        #expect(CatalogPath(text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)) == nil)
    }
}
