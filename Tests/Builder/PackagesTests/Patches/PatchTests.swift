import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

struct PatchTests {
    let fixture: PatchFixture
    var patch: URL { fixture.scratch.file("patch.mbtiles") }
    var result: URL { fixture.scratch.file("result.mbtiles") }

    init() throws { fixture = try PatchFixture() }

    @Test func theOldVersionAndThePatchGiveTheNewFileByteForByte() throws {
        let new = try fixture.nextVersion()
        let made = try Patch.make(old: fixture.old, new: new.url, into: patch)
        let (before, after) = (Set(try fixture.rows(fixture.old)), Set(try fixture.rows(new.url)))
        let places = (Set(before.map { $0.dropLast() }), Set(after.map { $0.dropLast() }))
        #expect(made.counts.added == UInt64(places.1.subtracting(places.0).count) && made.counts.added > 0)
        #expect(made.counts.removed == UInt64(places.0.subtracting(places.1).count) && made.counts.removed > 0)
        #expect(made.counts.unchanged == UInt64(before.intersection(after).count))
        #expect(made.counts.changed == UInt64(places.0.intersection(places.1).count) - made.counts.unchanged)
        #expect(made.counts.changed > 0 && made.size < new.receipt.size)
        #expect(made.counts.before == fixture.oldReceipt.tilesHash && made.counts.after == new.receipt.tilesHash)

        let applied = try Patch.apply(patch, to: fixture.old, into: result, expecting: new.receipt.digest)
        #expect(try bytes(result) == bytes(new.url))
        #expect(applied.digest == new.receipt.digest && applied.size == new.receipt.size)
        #expect(applied.tiles == new.receipt.tiles && applied.tilesHash == new.receipt.tilesHash)
        #expect(try Digest.ofFile(fixture.old).digest == fixture.oldReceipt.digest)
        // Only the requested files exist.
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.scratch.folder.path)
        #expect(
            names.filter { !$0.hasPrefix("shard") }.sorted()
                == ["new", "old", "patch", "result"].map { "\($0).mbtiles" })
    }

    @Test func thePatchIsTheSameFileEachTimeWhateverTheDialects() throws {
        let new = try fixture.nextVersion()
        let first = try Patch.make(old: fixture.old, new: new.url, into: patch)
        for dialect in PatchFixture.schemas.keys.sorted() {
            let (old, other) = (try fixture.converted(fixture.old, dialect), try fixture.converted(new.url, dialect))
            for (left, right) in [(fixture.old, other), (old, new.url), (old, other)] {
                let again = try Patch.make(old: left, new: right, into: patch, replacing: true)
                #expect(again.digest == first.digest, "\(dialect)")
            }
            // The result is in our own layout, whatever the old file's.
            let applied = try Patch.apply(patch, to: old, into: result, replacing: true)
            #expect(applied.digest == new.receipt.digest, "\(dialect)")
        }
    }

    /// A killed `apply --in-place` leaves a hidden file; the next one removes it, and nothing else.
    @Test func unfinishedFilesOfKilledProcessesAreRemoved() throws {
        _ = try Patch.make(old: fixture.old, new: fixture.old, into: patch)
        let digits = String(repeating: "a", count: 32)
        let folder = fixture.scratch.folder
        let left = [".result.mbtiles.\(digits).new.tmp", ".result.mbtiles.\(digits).new.tmp-journal"]
        let others = [
            ".result.mbtiles.mine.new.tmp", ".other.mbtiles.\(digits).new.tmp", ".result.mbtiles.\(digits).tmp",
        ]
        for name in left + others { try Data("half".utf8).write(to: folder.appending(path: name)) }
        func there(_ names: [String]) -> [String] {
            names.filter { FileManager.default.fileExists(atPath: folder.appending(path: $0).path) }
        }
        var other: FolderInUse? = FolderInUse(folder) {}
        try Patch.apply(patch, to: fixture.old, into: result)
        #expect(there(left) == left, "another process may write them")
        withExtendedLifetime(other) {}
        other = nil
        try Patch.apply(patch, to: fixture.old, into: result, replacing: true)
        #expect(there(left).isEmpty && there(others) == others)
    }

    @Test func anEmptyPatchGivesTheSameTiles() throws {
        let made = try Patch.make(old: fixture.old, new: fixture.old, into: patch)
        #expect(made.counts.isEmpty && made.counts.unchanged == fixture.oldReceipt.tiles)
        #expect(try fixture.rows(patch).isEmpty)
        #expect(try fixture.metadata(patch)["agg_tiles_hash"] == "D41D8CD98F00B204E9800998ECF8427E")
        #expect(try Patch.apply(patch, to: fixture.old, into: result).digest == fixture.oldReceipt.digest)
    }

    @Test func oneChangedTileIsOneRow() throws {
        let body = vectorTile("other")
        let new = try fixture.version("one") { index, sample in index == 20 ? body : sample.body }
        let made = try Patch.make(old: fixture.old, new: new.url, into: patch)
        #expect(made.counts.changed == 1 && made.counts.added + made.counts.removed == 0)
        #expect(made.counts.bodyBytes == UInt64(body.count) && made.size < 6_000)
        let rows = try fixture.rows(patch)
        let tile = fixture.world.samples[20].tile
        #expect(
            rows.map { $0.map(\.storage.value) as NSArray } == [[tile.zoom, tile.x, tile.tmsY, Data(body)] as NSArray])
        #expect(try Patch.apply(patch, to: fixture.old, into: result).digest == new.receipt.digest)
    }

    @Test func tilesCanAllGoAndComeBack() throws {
        let empty = try fixture.converted(fixture.old, "flat")
        let none = try fixture.edited(empty, "DELETE FROM tiles; DELETE FROM metadata WHERE name = 'agg_tiles_hash'")
        let gone = try Patch.make(old: fixture.old, new: none, into: patch)
        #expect(gone.counts.removed == fixture.oldReceipt.tiles && gone.counts.bodyBytes == 0)
        #expect(try fixture.rows(patch).allSatisfy { $0[3].isNull })
        #expect(try Patch.apply(patch, to: fixture.old, into: result).tiles == 0)
        let back = try Patch.make(old: result, new: fixture.old, into: patch, replacing: true)
        #expect(back.counts.added == fixture.oldReceipt.tiles)
        let applied = try Patch.apply(patch, to: result, into: result, replacing: true)
        #expect(applied.digest == fixture.oldReceipt.digest)
    }

    /// The tile with one letter of its name changed.
    private static func renamed(_ body: [UInt8]) -> [UInt8]? {
        guard var raw = try? Gzip.decompress(body), raw.count > 10 else { return nil }
        raw[raw.count - 10] ^= 1
        return Gzip.compress(raw)
    }

    /// A vector tile of several kilobytes in which one name changes has a delta of some dozen bytes.
    @Test func deltasAreSmallerAndGiveTheSameFile() throws {
        let fixture = try PatchFixture(padding: 2_000)
        let new = try fixture.version("edited") { index, sample in
            switch (index % 9, sample.body) {
            case (0, let body?), (3, let body?), (6, let body?): Self.renamed(body)
            case (4, _): nil
            case (5, nil): vectorTile("new")
            default: sample.body
            }
        }
        let whole = try Patch.make(old: fixture.old, new: new.url, into: fixture.scratch.file("whole.mbtiles"))
        let made = try Patch.make(
            old: fixture.old, new: new.url, into: fixture.scratch.file("deltas.mbtiles"), deltas: true)
        #expect(made.counts.deltas > 10 && made.size * 2 < whole.size, "\(made.size) of \(whole.size) bytes")
        #expect(made.counts.changed == whole.counts.changed && made.counts.removed > 0 && made.counts.added > 0)
        let file = fixture.scratch.file("deltas.mbtiles")
        #expect(try Patch.apply(file, to: fixture.old, into: result).digest == new.receipt.digest)
        let report = try PackageVerify.run(file)
        #expect(report.isVerified && report.tilesPerZoom.reduce(0) { $0 + $1.tiles } == report.tiles)
        #expect(report.tiles == made.counts.changed + made.counts.removed + made.counts.added)
        let lost = try fixture.edited(file, "DELETE FROM tile_deltas WHERE rowid = 3")
        let torn = try fixture.edited(file, "UPDATE tile_deltas SET tile_delta = x'0102' WHERE rowid = 3")
        for (damaged, code) in [(lost, PackagesError.Code.badPatch), (torn, .patchMismatch)] {
            let error = #expect(throws: PackagesError.self) {
                try Patch.apply(damaged, to: fixture.old, into: result, replacing: true)
            }
            #expect(error?.code == code)
        }
        #expect(try Digest.ofFile(result).digest == new.receipt.digest)
    }

    @Test func aPatchIsVerifiedLikeAPackage() throws {
        try Patch.make(old: fixture.old, new: try fixture.nextVersion().url, into: patch)
        let report = try PackageVerify.run(patch)
        #expect(report.isVerified && report.seal == .valid, "\(report.problems)")
    }

    @Test func aComparisonTellsTheSameAndWritesNothing() throws {
        let new = try fixture.nextVersion()
        let counts = try Patch.compare(old: fixture.old, new: new.url)
        #expect(!FileManager.default.fileExists(atPath: patch.path))
        #expect(try Patch.make(old: fixture.old, new: new.url, into: patch).counts == counts)
    }

    @Test func anExistingFileIsKeptUnlessItMayBeReplaced() throws {
        try Data("mine".utf8).write(to: patch)
        let code = #expect(throws: PackagesError.self) {
            try Patch.make(old: fixture.old, new: fixture.old, into: patch)
        }
        #expect(code?.code == .exists)
        #expect(try bytes(patch) == Array("mine".utf8))
    }

    @Test func aStoppedRunLeavesNothing() throws {
        struct Stop: Error {}
        let new = try fixture.nextVersion()
        #expect(throws: Stop.self) {
            try Patch.make(old: fixture.old, new: new.url, into: patch) { _ in throw Stop() }
        }
        try Patch.make(old: fixture.old, new: new.url, into: patch)
        var written = 0
        #expect(throws: Stop.self) {
            try Patch.apply(patch, to: fixture.old, into: result) {
                written += 1
                if $0 > 0 { throw Stop() }
            }
        }
        #expect(written > 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.scratch.folder.path)
        #expect(!names.contains { $0.contains("result") || $0.hasSuffix(".tmp") })
    }
}
