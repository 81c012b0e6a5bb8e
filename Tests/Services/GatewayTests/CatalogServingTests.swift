import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Testing
import TileBodies

@testable import Gateway

/// Lists and files of a real catalog over real sockets.
@Suite(.timeLimit(.minutes(15))) struct CatalogServingTests {
    private static let bytes = noise(300_000)
    private static var tag: String { "\"\(Digest(of: bytes).hex)\"" }

    private static func serving(
        _ body: (GatewayFixture) async throws -> Void
    ) async throws {
        let gateway = try await GatewayFixture(
            key: CatalogSecretKey(), fill: { try $0.publish("EE", bytes, in: $1) })
        do { try await body(gateway) } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    @Test func listsAreTheBytesOfTheFolderPlainAndPacked() async throws {
        try await Self.serving { gateway in
            for name in ["catalog.json", "catalog.json.sig", "packages.json"] {
                let stored = [UInt8](try Data(contentsOf: gateway.folder.appendingPathComponent("catalog/\(name)")))
                let plain = try await gateway.get("/\(name)")
                #expect(plain.status == 200 && plain.body == stored && plain.isComplete, "\(name)")
                #expect(plain.header("cache-control") == "no-cache" && plain.header("vary") == "Accept-Encoding")
                #expect(plain.header("etag") == "\"\(Digest(of: stored).hex)\"")
                let packed = try await gateway.get("/\(name)", ["Accept-Encoding": "gzip"])
                if packed.header("content-encoding") == "gzip" {
                    #expect(try Gzip.decompress(packed.body) == stored && packed.body.count < stored.count)
                    #expect(packed.header("etag") == "\"\(Digest(of: stored).hex)-gz\"")
                } else {
                    #expect(packed.body == stored)
                }
                let same = try await gateway.get("/\(name)", ["If-None-Match": plain.header("etag") ?? ""])
                #expect(same.status == 304 && same.body.isEmpty)
                let head = try await gateway.get("/\(name)", method: "HEAD")
                #expect(head.status == 200 && head.body.isEmpty)
                #expect(head.header("content-length") == String(stored.count))
            }
        }
    }

    /// `submit --wait` and `device install` follow each other at once.
    @Test func whatWasJustPublishedIsServedAtOnce() async throws {
        try await Self.serving { gateway in
            for number in 1...4 {
                try gateway.catalog.publish("LV\(number)", noise(1_000 + number), in: gateway.folder)
                let stored = [UInt8](
                    try Data(contentsOf: gateway.folder.appendingPathComponent("catalog/packages.json")))
                #expect(try await gateway.get("/packages.json").body == stored)
                #expect(try await gateway.get("/v1/packages?q=LV\(number)").text.contains("LV\(number)"))
                try gateway.catalog.publish("LT\(number)", noise(2_000 + number), in: gateway.folder)
                let file = try await gateway.get("/packages/1/LT\(number).mbtiles")
                #expect(file.status == 200 && file.body == noise(2_000 + number))
                let none = try await gateway.get("/packages/1/XX\(number).mbtiles")
                #expect(none.status == 404)
            }
        }
    }

    @Test func aCatalogThatCannotBeReadLeavesTheLastOne() async throws {
        try await Self.serving { gateway in
            let list = try await gateway.get("/packages.json").body
            let file = gateway.folder.appendingPathComponent("catalog/catalog.json")
            try Data("{".utf8).write(to: file, options: .atomic)
            for _ in 0..<20 { #expect(try await gateway.get("/packages.json").body == list) }
            #expect(try await gateway.get("/packages/9/EE.mbtiles").status == 404)
            try gateway.catalog.publish("LV", noise(1_000), in: gateway.folder)
            #expect(try await gateway.get("/packages.json").text.contains("LV"))
        }
    }

    @Test func aFileHasItsDigestAsTag() async throws {
        try await Self.serving { gateway in
            let answer = try await gateway.get("/packages/1/EE.mbtiles?update=0", ["Accept-Encoding": "gzip"])
            #expect(answer.status == 200 && answer.body == Self.bytes && answer.isComplete)
            #expect(answer.header("etag") == Self.tag)
            let digest = Data(Digest(of: Self.bytes).bytes).base64EncodedString()
            #expect(answer.header("repr-digest") == "sha-256=:\(digest):")
            #expect(answer.header("cache-control") == "public, max-age=31536000, immutable")
            #expect(answer.header("content-encoding") == nil && answer.header("content-disposition") == nil)
            let link = try #require(answer.header("link"))
            #expect(link.contains("</packages/1/EE.mbtiles>; rel=\"latest-version\""))
            #expect(link.contains("</tiles/EE@1.json>; rel=\"describedby\""))
            let saved = try await gateway.get("/packages/1/EE.mbtiles?download")
            #expect(saved.header("content-disposition") == "attachment; filename=\"EE.mbtiles\"")
            let head = try await gateway.get("/packages/1/EE.mbtiles", method: "HEAD", ["Range": "bytes=0-9"])
            #expect(head.status == 200 && head.header("content-length") == "300000" && head.body.isEmpty)
        }
    }

    /// Range, status, the part.
    private static let ranges: [(String, Int, Range<Int>)] = [
        ("bytes=0-9", 206, 0..<10), ("bytes=-5", 206, 299_995..<300_000), ("bytes=299999-", 206, 299_999..<300_000),
        ("bytes=100000-299999", 206, 100_000..<300_000), ("bytes=0-", 206, 0..<300_000),
        ("lines=0-9", 200, 0..<300_000),
        ("bytes=9-0", 200, 0..<300_000), ("bytes=131071-131072", 206, 131_071..<131_073),
    ]

    @Test func rangesAreParts() async throws {
        try await Self.serving { gateway in
            for (range, status, part) in Self.ranges {
                let answer = try await gateway.get("/packages/1/EE.mbtiles", ["Range": range])
                #expect(answer.status == status && answer.body == Array(Self.bytes[part]), "\(range)")
                let field = status == 206 ? "bytes \(part.lowerBound)-\(part.upperBound - 1)/300000" : nil
                #expect(answer.header("content-range") == field, "\(range)")
            }
            let beyond = try await gateway.get("/packages/1/EE.mbtiles", ["Range": "bytes=300000-"])
            #expect(beyond.status == 416 && beyond.header("content-range") == "bytes */300000")
            for (condition, status) in [
                (Self.tag, 206), ("\"old\"", 200), ("W/\(Self.tag)", 200), ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
            ] {
                let answer = try await gateway.get(
                    "/packages/1/EE.mbtiles", ["Range": "bytes=0-9", "If-Range": condition])
                #expect(answer.status == status, "\(condition)")
            }
            let date = try #require(try await gateway.get("/packages/1/EE.mbtiles").header("last-modified"))
            let dated = try await gateway.get("/packages/1/EE.mbtiles", ["Range": "bytes=0-9", "If-Range": date])
            #expect(dated.status == 206)
        }
    }

    @Test func severalRangesAreAMultipart() async throws {
        try await Self.serving { gateway in
            let answer = try await gateway.get("/packages/1/EE.mbtiles", ["Range": "bytes=0-1, 5-9,-3"])
            #expect(answer.status == 206 && answer.isComplete)
            let type = try #require(answer.header("content-type"))
            let boundary = String(try #require(type.split(separator: "=").last))
            #expect(type.hasPrefix("multipart/byteranges; boundary="))
            var expected: [UInt8] = []
            for part in [0..<2, 5..<10, 299_997..<300_000] {
                expected += Array(
                    "\r\n--\(boundary)\r\nContent-Type: application/vnd.sqlite3\r\nContent-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/300000\r\n\r\n"
                        .utf8)
                expected += Self.bytes[part]
            }
            expected += Array("\r\n--\(boundary)--\r\n".utf8)
            #expect(answer.body == expected)
        }
    }

    @Test func conditionsOfAFile() async throws {
        try await Self.serving { gateway in
            for (headers, status) in [
                (["If-None-Match": "\"x\", W/\(Self.tag)"], 304), (["If-None-Match": "*"], 304),
                (["If-Match": "\"x\""], 412), (["If-Match": Self.tag], 200),
                (["If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"], 412),
                (["If-Modified-Since": "Fri, 31 Dec 9999 23:59:59 GMT"], 304),
            ] {
                let answer = try await gateway.get("/packages/1/EE.mbtiles", headers)
                #expect(answer.status == status, "\(headers)")
                if status == 304 { #expect(answer.body.isEmpty && answer.header("etag") == Self.tag) }
            }
        }
    }

    @Test func onlyWhatAListNamesIsServed() async throws {
        try await Self.serving { gateway in
            let place = gateway.folder.appendingPathComponent("catalog")
            try Data("secret".utf8).write(to: place.appendingPathComponent("packages/1/OTHER.mbtiles"))
            for name in ["versions.json", "styles.json", ".lock"] {
                try Data("{}".utf8).write(to: place.appendingPathComponent(name))
            }
            for path in [
                "/versions.json", "/styles.json", "/.lock", "/packages/1/OTHER.mbtiles", "/packages/2/EE.mbtiles",
                "/packages/1/", "/packages/1", "/", "/packages/01/EE.mbtiles", "/de/packages/1/EE.mbtiles",
            ] {
                let answer = try await gateway.get(path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.header("content-type") == "application/problem+json")
            }
            for path in ["/packages/1/../../catalog.json", "/packages/1/%2e%2e/x", "/packages%2f1/EE.mbtiles", "//x"] {
                #expect(try await gateway.get(path).status == 400, "\(path)")
            }
            #expect(try await gateway.get("/catalog.json", method: "POST").status == 405)
        }
    }

    @Test func linksAreNotFollowed() async throws {
        try await Self.serving { gateway in
            let file = gateway.folder.appendingPathComponent("catalog/packages/1/EE.mbtiles")
            let aside = gateway.folder.appendingPathComponent("aside")
            try FileManager.default.moveItem(at: file, to: aside)
            #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 404)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: aside)
            #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 500)
            try FileManager.default.removeItem(at: file)
            try Data(Self.bytes.dropLast()).write(to: file)
            let damaged = try await gateway.get("/packages/1/EE.mbtiles")
            #expect(damaged.status == 500 && damaged.text.contains("\"code\":\"damaged\""))
            // A folder that is a link is not entered either.
            let folder = gateway.folder.appendingPathComponent("catalog/packages/1")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: aside, to: file)
            #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 200)
            let moved = gateway.folder.appendingPathComponent("moved")
            try FileManager.default.moveItem(at: folder, to: moved)
            try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: moved)
            #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 500)
        }
    }

    @Test func newVersionsAreSeenAndListsBelongTogether() async throws {
        try await Self.serving { gateway in
            let old = try await gateway.get("/catalog.json")
            try gateway.catalog.publish("EE", noise(1_000, seed: 2), in: gateway.folder)
            try gateway.catalog.publish("LV", noise(2_000, seed: 3), in: gateway.folder)
            _ = try await gateway.wait("/packages/1/LV.mbtiles") { $0.status == 200 }
            let new = try await gateway.get("/catalog.json")
            #expect(new.header("etag") != old.header("etag"))
            #expect(try await gateway.get("/packages/2/EE.mbtiles").body == noise(1_000, seed: 2))
            #expect(try await gateway.get("/packages/1/EE.mbtiles").body == Self.bytes)
            let link = try #require(try await gateway.get("/packages/1/EE.mbtiles").header("link"))
            #expect(link.contains("</packages/2/EE.mbtiles>; rel=\"latest-version\""))
            let signature = try CatalogSignature(decoding: try await gateway.get("/catalog.json.sig").body)
            #expect(signature.names(new.body))
            let index = try CatalogIndex(decoding: new.body)
            let list = try await gateway.get("/packages.json")
            #expect(index.editions[0].list.sha256 == Digest(of: list.body).hex)
        }
    }

    @Test func aCatalogThatIsGoneLeavesTheListsAndIsNotReady() async throws {
        try await Self.serving { gateway in
            #expect(try await gateway.get("/readyz").status == 200)
            let place = gateway.folder.appendingPathComponent("catalog/catalog.json")
            let kept = try Data(contentsOf: place)
            try Data("{}".utf8).write(to: place, options: .atomic)
            let away = try await gateway.wait("/readyz") { $0.status == 503 }
            #expect(away.header("retry-after") == "2" && away.text.contains("\"retriable\":true"))
            #expect(try await gateway.get("/healthz").status == 200)
            #expect(try await gateway.get("/catalog.json").body == [UInt8](kept))
            try kept.write(to: place, options: .atomic)
            _ = try await gateway.wait("/readyz") { $0.status == 200 }
        }
    }
}
