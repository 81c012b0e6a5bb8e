import Digests
import Files
import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

struct PMTilesPatchTests {
    let fixture: PMTilesPatchFixture
    var patch: URL { fixture.file("made.patch") }
    var result: URL { fixture.file("result.pmtiles") }

    init() throws { fixture = try PMTilesPatchFixture() }

    @Test func theOldFileAndThePatchGiveTheNewFileByteForByte() throws {
        let next = try fixture.mbtiles.nextVersion().url
        let new = try fixture.exported(next)
        let made = try Patch.make(old: fixture.old, new: new, into: patch)
        // The same tiles differ as between the MBTiles files.
        let counts = try Patch.compare(old: fixture.mbtiles.old, new: next)
        #expect(made.counts.added == counts.added && made.counts.added > 0)
        #expect(made.counts.changed == counts.changed && made.counts.changed > 0)
        #expect(made.counts.removed == counts.removed && made.counts.removed > 0)
        #expect(made.counts.unchanged == counts.unchanged)
        #expect(try made.isExact && made.counts.before == Digest(of: bytes(fixture.old)).hex)
        let whole = try Digest.ofFile(new)
        let applied = try Patch.apply(
            patch, to: fixture.old, into: result, expecting: whole.digest, size: whole.size)
        #expect(try bytes(result) == bytes(new))
        #expect(applied.digest == whole.digest && applied.size == whole.size && applied.tilesHash == nil)
        #expect(try applied.tiles == PMTilesFile(path: new.path).header.addressedTiles)
        #expect(made.size < whole.size / 2)
        let compared = try Patch.compare(old: fixture.old, new: new)
        #expect(compared == made.counts)
        // And back.
        try Patch.make(old: new, new: fixture.old, into: patch, replacing: true)
        try Patch.apply(patch, to: result, into: result, replacing: true)
        #expect(try bytes(result) == bytes(fixture.old))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.file("").path).allSatisfy { !$0.hasPrefix(".") }
        )
    }

    @Test func theChangedTilesAreThoseOfThePatchOfMBTiles() throws {
        let next = try fixture.mbtiles.nextVersion().url
        let new = try fixture.exported(next)
        try Patch.make(old: fixture.mbtiles.old, new: next, into: patch)
        let rows = try fixture.mbtiles.rows(patch).compactMap { row -> TileID? in
            let place = row.prefix(3).compactMap { Int.fromDatabaseValue($0) }
            return TileID(zoom: place[0], x: place[1], tmsY: place[2])
        }
        #expect(rows.count > 5)
        let tiles = try #require(try Patch.changedTiles(old: fixture.old, new: new, limit: rows.count))
        #expect(Set(tiles) == Set(rows) && tiles.count == rows.count)
        #expect(try Patch.changedTiles(old: fixture.old, new: new, limit: rows.count - 1) == nil)
        #expect(try Patch.changedTiles(old: new, new: new, limit: 0) == [])
    }

    @Test func twoFilesGiveOnePatch() throws {
        let new = try fixture.exported(try fixture.mbtiles.nextVersion().url)
        let first = try Patch.make(old: fixture.old, new: new, into: patch)
        let again = try Patch.make(old: fixture.old, new: new, into: fixture.file("again.patch"))
        #expect(first == again)
    }

    @Test func equalFilesAreOneCopy() throws {
        let made = try Patch.make(old: fixture.old, new: fixture.old, into: patch)
        #expect(made.counts.isEmpty && made.counts.bodyBytes == 0 && made.size < 150)
        #expect(try Patch.apply(patch, to: fixture.old, into: result).digest == Digest.ofFile(fixture.old).digest)
    }

    @Test func oneChangedTileIsItsBodyAndTheDirectory() throws {
        let body = vectorTile("other and longer than before, so that all places behind it are others")
        let next = try fixture.mbtiles.version("one") { index, sample in index == 20 ? body : sample.body }
        let new = try fixture.exported(next.url)
        let made = try Patch.make(old: fixture.old, new: new, into: patch)
        #expect(made.counts.changed == 1 && made.counts.added + made.counts.removed == 0)
        #expect(made.counts.bodyBytes == UInt64(body.count))
        let header = try PMTilesFile(path: new.path).header
        #expect(made.size < UInt64(body.count) + header.root.length + header.metadata.length + 400)
        #expect(try Patch.apply(patch, to: fixture.old, into: result).digest == Digest.ofFile(new).digest)
    }

    /// 30,000 entries in leaves, a sea in runs, and a block of tiles that is new, gone or changed.
    @Test(arguments: [0, 1, 2])
    func archivesWithLeaves(kind: Int) throws {
        func archive(_ name: String, _ body: (Int, Int) -> String?) throws -> URL {
            var tiles: [(Int, Int, Int, [UInt8])] = []
            for column in 0..<170 {
                for row in 0..<200 {
                    guard let text = body(column, row) else { continue }
                    tiles.append((8, column, row, vectorTile(text)))
                }
            }
            let file = fixture.file("\(name).mbtiles")
            try foreignFile(file, [["format", "pbf"], ["name", "large"]], tiles)
            return try fixture.exported(file)
        }
        func text(_ column: Int, _ row: Int) -> String { column % 16 > 12 && row < 160 ? "sea" : "\(column) \(row)" }
        let old = try archive("large-old") { kind == 0 && $0 / 10 == 7 ? nil : text($0, $1) }
        let new = try archive("large-new") { column, row in
            if kind == 1, column / 10 == 7 { return nil }
            return kind == 2 && (column + row) % 33 == 0 ? "changed \(column) \(row)" : text(column, row)
        }
        #expect(try PMTilesFile(path: new.path).header.leaves.length > 0)
        let made = try Patch.make(old: old, new: new, into: patch)
        #expect([made.counts.added, made.counts.removed, made.counts.changed][kind] > 900)
        #expect(made.counts.unchanged > 25_000)
        #expect(try Patch.apply(patch, to: old, into: result).digest == Digest.ofFile(new).digest)
        #expect(try bytes(result) == bytes(new))
    }

    /// Files of other writers: leaves before bodies, bodies in any order, bytes that nothing names.
    @Test func archivesOfOtherLayouts() throws {
        let sample = fixture.file("sample.pmtiles")
        let padded = SampleArchive.bytes(layer: "roads", zoom: 3, padding: 20_000)
        try Data(padded).write(to: sample)
        for (old, new) in [(sample, fixture.old), (fixture.old, sample), (sample, sample)] {
            try Patch.make(old: old, new: new, into: patch, replacing: true)
            try Patch.apply(patch, to: old, into: result, replacing: true)
            #expect(try bytes(result) == bytes(new))
        }
        var random = SplitMix(state: 4)
        for number in 0..<40 {
            let (old, new) = (try disordered(&random, "a\(number)"), try disordered(&random, "b\(number)"))
            try Patch.make(old: old, new: new, into: patch, replacing: true)
            try Patch.apply(patch, to: old, into: result, replacing: true)
            #expect(try bytes(result) == bytes(new))
        }
    }

    /// An archive whose bodies lie anywhere in its section, also within one another.
    private func disordered(_ random: inout SplitMix, _ name: String) throws -> URL {
        var header = PMTilesHeader()
        (header.internalCompression, header.tileCompression) = (1, 1)
        (header.format, header.maxZoom) = (.png, 8)
        var entries: [PMTilesDirectory.Entry] = []
        var tile: UInt64 = 0
        for _ in 0..<40 {
            tile += random.next() % 3
            let run = 1 + random.next() % 4
            entries.append(.init(tile: tile, run: run, length: 1 + random.next() % 60, offset: random.next() % 900))
            tile += run
        }
        let root = PMTilesDirectory(entries: entries).encoded
        // Few different bytes, so that bodies are often equal by chance.
        let bodies = (0..<1_000).map { UInt8($0 / 60 % 3) ^ (random.next() % 50 == 0 ? 1 : 0) }
        header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
        header.metadata = .init(offset: header.root.end, length: 0)
        header.tiles = .init(offset: header.root.end + 10, length: UInt64(bodies.count))
        let url = fixture.file("\(name).pmtiles")
        try Data(header.encoded + root + [UInt8](repeating: 7, count: 10) + bodies + Array("end".utf8)).write(to: url)
        return url
    }

    /// The applier that the document gives to others.
    @Test func theApplierOfTheDocumentMakesTheNewFile() throws {
        let new = try fixture.exported(try fixture.mbtiles.nextVersion().url)
        try Patch.make(old: fixture.old, new: new, into: patch)
        let status = try runApplier(
            of: "pmtiles-patch.md", as: fixture.file("apply.py"), patch: patch, old: fixture.old, into: result)
        #expect(status == 0)
        #expect(try bytes(result) == bytes(new))
    }
}
