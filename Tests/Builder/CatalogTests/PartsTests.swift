import CatalogFormat
import Digests
import Errors
import Foundation
import Testing
import Tiles

@testable import Catalog

/// Packages that are published in parts.
struct PartsTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/")
    }

    /// A package in parts that hold these texts.
    func request(_ id: String, _ texts: [String], formats: [String] = []) throws -> PublishRequest {
        var request = try scratch.request(id, texts[0], size: UInt64(texts.reduce(0) { $0 + $1.utf8.count }))
        request.parts = try texts.enumerated().map { index, text in
            var part = try scratch.request("\(id)-\(index + 1)", text)
            part.part = CatalogPart(of: id, number: index + 1, count: texts.count)
            part.tiles = 10
            part.files = try formats.map { try scratch.other($0, "\(text) as \($0)") }
            return part
        }
        return request
    }

    private func listed() throws -> [String] {
        try catalog.packages().map { "\($0.id) \($0.version) \($0.part?.number ?? 0)/\($0.part?.count ?? 0)" }
    }

    private func code(_ body: () throws -> Void) -> CatalogError.Code? {
        #expect(throws: CatalogError.self) { try body() }?.code
    }

    @Test func partsHaveOneVersionAndAreOneChange() throws {
        let first = try catalog.publish(try request("CA", ["a", "b"]))
        #expect(first.version == 1 && first.pathInside == "packages/1/CA-1.mbtiles" && !first.unchanged)
        #expect(try listed() == ["CA-1 1 1/2", "CA-2 1 2/2"])
        let sequence = try catalog.index().sequence
        #expect(try catalog.publish(try request("CA", ["a", "b"])).unchanged)
        #expect(try catalog.index().sequence == sequence)
        // One part changes: all get the new version.
        let second = try catalog.publish(try request("CA", ["a", "c"]))
        #expect(second.version == 2 && !second.unchanged)
        #expect(try listed() == ["CA-1 2 1/2", "CA-2 2 2/2"])
        #expect(try catalog.verify().isVerified)
        let index = try CatalogIndex(decoding: Array(try Data(contentsOf: scratch.file("catalog/catalog.json"))))
        #expect(index.packages.map(\.part) == (1...2).map { CatalogPart(of: "CA", number: $0, count: 2) })
        #expect(index.packages.map { $0.versions.map(\.version) } == [[2, 1], [2, 1]])
        #expect(try #require(index.sequence) > sequence ?? 0)
    }

    @Test func moreThanNineAreInTheOrderOfTheirNumbers() throws {
        _ = try catalog.publish(try request("CA", (1...11).map { "part \($0)" }))
        let list = CatalogList(packages: try catalog.packages())
        #expect(list.parts(of: "CA").map { $0.part?.number } == Array(1...11))
        #expect(try catalog.wholePackages().map(\.id) == ["CA"])
        #expect(try catalog.wholePackages().first?.tiles == 110)
    }

    @Test func partsThatNoLongerExistLeaveTheListAndStayAsAVersion() throws {
        _ = try catalog.publish(try request("CA", ["a", "b", "c"]))
        let before = try #require(try catalog.index().sequence)
        #expect(try catalog.publish(try request("CA", ["d", "e"])).version == 2)
        #expect(try listed() == ["CA-1 2 1/2", "CA-2 2 2/2"])
        #expect(FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/CA-3.mbtiles").path))
        #expect(FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/CA-1.mbtiles").path))
        #expect(try #require(try catalog.index().sequence) > before)
        // A part that comes back does not use a version again.
        #expect(try catalog.publish(try request("CA", ["a", "b", "c"])).version == 3)
        #expect(try listed() == ["CA-1 3 1/3", "CA-2 3 2/3", "CA-3 3 3/3"])
        #expect(try catalog.verify().isVerified)
        // A version goes with all of its parts.
        #expect(try catalog.prune(keep: 2, dryRun: false).versions == ["CA-1 1", "CA-2 1", "CA-3 1"])
        #expect(!FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/CA-3.mbtiles").path))
        #expect(try catalog.prune(keep: 1, dryRun: false).versions == ["CA-1 2", "CA-2 2"])
        // A withdrawn package takes the parts along that only earlier versions had.
        #expect(try catalog.publish(try request("CA", ["d", "e"])).version == 4)
        #expect(try catalog.remove(["CA"], dryRun: false).versions.contains("CA-3 3"))
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.file("catalog").path)
        #expect(files.filter { $0.hasSuffix(".mbtiles") } == [])
    }

    @Test func aPackageBecomesPartsAndOneFileAgain() throws {
        #expect(try catalog.publish(try scratch.request("CA", "whole")).version == 1)
        #expect(try catalog.publish(try request("CA", ["half", "rest"])).version == 2)
        #expect(try listed() == ["CA-1 2 1/2", "CA-2 2 2/2"])
        #expect(try catalog.publish(try scratch.request("CA", "whole again")).version == 3)
        #expect(try listed() == ["CA 3 0/0"])
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.file("catalog/packages").path)
        #expect(
            files.filter { $0.hasSuffix(".mbtiles") }.sorted() == [
                "1/CA.mbtiles", "2/CA-1.mbtiles", "2/CA-2.mbtiles", "3/CA.mbtiles",
            ])
        // A client that has the first file does not find an earlier version of a part there.
        #expect(try catalog.index().packages.map { $0.versions.map(\.version) } == [[3, 1]])
        #expect(try catalog.verify().isVerified)
    }

    @Test func aFormatIsAddedToTheVersionOfEachPart() throws {
        _ = try catalog.publish(try request("CA", ["a", "b"]))
        let added = try catalog.publish(try request("CA", ["a", "b"], formats: ["pmtiles"]))
        #expect(added.version == 1 && !added.unchanged)
        #expect(try catalog.packages().map { $0.files.map(\.format) } == [["pmtiles"], ["pmtiles"]])
        // A part of another format counts as another build.
        var other = try request("CA", ["a", "b"], formats: ["pmtiles"])
        other.parts[1].files = [try scratch.other("pmtiles", "others")]
        #expect(try catalog.publish(other).version == 2)
    }

    @Test func namesOfOthersAreRefused() throws {
        _ = try catalog.publish(try scratch.request("CA-2", "another"))
        #expect(code { _ = try catalog.publish(try request("CA", ["a", "b"])) } == .badRequest)
        _ = try catalog.publish(try request("NV", ["a", "b"]))
        #expect(code { _ = try catalog.publish(try scratch.request("NV-1", "another")) } == .badRequest)
        #expect(try listed() == ["CA-2 1 0/0", "NV-1 1 1/2", "NV-2 1 2/2"])
        #expect(code { try catalog.checkPartNames(["CA"]) } == .badRequest)
        #expect(code { try catalog.checkPartNames(["x", "x-1"]) } == .badRequest)
        try catalog.checkPartNames(["NV", "austria", "x", "x-01"])
    }

    @Test func theWholePackageIsComparedWithTheOneBefore() throws {
        _ = try catalog.publish(
            try request("CA", [String(repeating: "a", count: 90), String(repeating: "b", count: 90)]))
        #expect(code { _ = try catalog.publish(try request("CA", ["x", "y"])) } == .packageShrunk)
        // Parts have tiles in common, so their bytes say nothing about one file; its tiles do.
        var small = try scratch.request("CA", "small")
        small.tiles = 9
        #expect(code { _ = try catalog.publish(small) } == .packageShrunk)
        var other = try request("CA", ["c", "d"])
        (other.tileset, other.options.allowsShrink) = ("roads", true)
        for part in other.parts.indices { other.parts[part].tileset = "roads" }
        #expect(try catalog.publish(other).version == 2)
        other.tileset = "terrain"
        #expect(code { _ = try catalog.publish(other) } == .otherTileset)
        #expect(code { try catalog.check(["CA"], of: "terrain") } == .otherTileset)
    }

    @Test func tilesThatSeveralPartsHaveCountOnce() throws {
        let zooms = try #require(ZoomRange(min: 0, max: 6))
        let whole = TileMask(full: 6)
        // Each part has zooms 0 to 5 of the whole package, and some of the tiles of zoom 6.
        let start = try #require(TileID(zoom: 6, x: 0, y: 0)).hilbertID
        func parted(_ count: Int, tiles: UInt64) throws -> PublishRequest {
            let starts = (0..<count).compactMap { TileID(hilbertID: start + UInt64(4_096 * $0 / count)) }
            let common = String(repeating: "c", count: 200)
            let texts = (0..<count).map { "\(common) \($0) of \(count)" }
            let size = texts.reduce(0) { $0 + $1.utf8.count }
            var request = try scratch.request("CA", texts[0], mask: whole.cartoWire, size: UInt64(size))
            (request.zooms, request.tiles) = (zooms, tiles)
            request.parts = try starts.enumerated().map { index, start in
                let next = index + 1 < count ? starts[index + 1] : nil
                let mask = whole.part(from: start, before: next, common: 6)
                var part = try scratch.request("CA-\(index + 1)", texts[index], mask: mask.cartoWire)
                part.part = CatalogPart(of: "CA", number: index + 1, count: count)
                (part.zooms, part.tiles) = (zooms, mask.count(in: zooms))
                return part
            }
            return request
        }
        let all = whole.count(in: zooms)
        #expect(try catalog.publish(try parted(6, tiles: all)).version == 1)
        let listed = try #require(try catalog.list(.main).whole("CA"))
        #expect(listed.tiles == Int64(all) && listed.size > 1_200)
        // A third of the parts has all tiles and a third of the bytes.
        #expect(try catalog.publish(try parted(2, tiles: all)).version == 2)
        let other = try Catalog(scratch.file("other"), create: true, baseURL: "https://maps.example/")
        _ = try other.publish(try parted(6, tiles: all))
        let difference = CatalogDifference(
            new: [.main: try catalog.list(.main).packages], old: [.main: try other.list(.main).packages])
        #expect(difference.packages.map(\.shrinkage) == [0], "\(difference.packages)")
        // Less than half of the tiles are still refused.
        #expect(code { _ = try other.publish(try parted(2, tiles: all / 3)) } == .packageShrunk)
    }

    /// The list of another machine may say anything.
    @Test func numbersOfAHostileListAreBounded() {
        let parts = (1...2).map { number in
            CatalogEntry(
                id: "CA-\(number)", version: 1, size: .max, url: "https://maps.example/x",
                tileMask: TileMask(full: 3).cartoWire,
                metainfo: [:], sha256: "a", tilesHash: "a", tiles: number == 1 ? .min : .max, minZoom: 0, maxZoom: 3,
                part: CatalogPart(of: "CA", number: number, count: 2))
        }
        #expect(CatalogEntry(parts: parts)?.tiles == .max)
        #expect(CatalogEntry.bytes(of: parts, comparedWith: 1) <= UInt64(Int64.max))
    }

    @Test func aWithdrawnPackageGoesWithItsParts() throws {
        _ = try catalog.publish(try request("CA", ["a", "b"]))
        #expect(code { _ = try catalog.remove(["CA-1"], dryRun: false) } == .badRequest)
        let gone = try catalog.remove(["CA"], dryRun: false)
        #expect(gone.files == ["packages/1/CA-1.mbtiles", "packages/1/CA-2.mbtiles"])
        #expect(try listed().isEmpty)
    }

    @Test func aFileAboveTheLimitIsNotPublished() throws {
        var request = try scratch.request("CA", String(repeating: "x", count: 200))
        request.options.maxFile = 100
        #expect(code { _ = try catalog.publish(request) } == .badRequest)
    }

    @Test func aListWithAWrongPartIsRefused() throws {
        _ = try catalog.publish(try request("CA", ["a", "b"]))
        let text = try scratch.text("catalog/catalog.json")
        for (old, new) in [
            ("\"number\" : 2", "\"number\" : 3"), ("\"of\" : \"CA\"", "\"of\" : \"CB\""),
        ] {
            let wrong = text.replacingOccurrences(of: old, with: new)
            try #require(wrong != text, "\(text)")
            #expect(code { _ = try CatalogIndex(decoding: Array(wrong.utf8)) } == .corrupt)
        }
    }
}
