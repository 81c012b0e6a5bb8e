import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// What must be refused, and leaves the old package as it was.
struct PatchRefusalTests {
    let fixture: PatchFixture
    let new: (url: URL, receipt: PackageReceipt)
    let patch: URL
    var result: URL { fixture.scratch.file("result.mbtiles") }

    init() throws {
        fixture = try PatchFixture(padding: 60)
        new = try fixture.nextVersion()
        patch = fixture.scratch.file("patch.mbtiles")
        try Patch.make(old: fixture.old, new: new.url, into: patch)
    }

    private func code(_ patch: URL, to old: URL? = nil) throws -> String? {
        let target = old ?? fixture.old
        let before = try Digest.ofFile(target).digest
        do {
            // In place, where a mistake would hurt most.
            _ = try Patch.apply(patch, to: target, into: target, replacing: true)
            return nil
        } catch let error as PackagesError {
            #expect(try Digest.ofFile(target).digest == before, "the old package was changed")
            return "\(error.code)"
        }
    }

    @Test(arguments: [
        ("DELETE FROM tiles WHERE rowid = 1", "bad-patch"),
        ("UPDATE tiles SET tile_data = x'00' WHERE rowid = 2", "bad-patch"),
        ("UPDATE tiles SET tile_data = NULL WHERE rowid = 2", "bad-patch"),
        ("UPDATE tiles SET tile_data = 'text' WHERE rowid = 2", "bad-patch"),
        ("UPDATE tiles SET zoom_level = 23 WHERE rowid = 2", "bad-patch"),
        ("UPDATE tiles SET tile_row = -1 WHERE rowid = 2", "bad-patch"),
        ("UPDATE tiles SET tile_column = 'x' WHERE rowid = 2", "bad-patch"),
        ("UPDATE metadata SET value = '0' WHERE name = 'agg_tiles_hash'", "bad-patch"),
        ("UPDATE metadata SET value = '0' WHERE name = 'agg_tiles_hash_before_apply'", "patch-mismatch"),
        ("UPDATE metadata SET value = '0' WHERE name = 'agg_tiles_hash_after_apply'", "bad-patch"),
        ("DELETE FROM metadata WHERE name = 'agg_tiles_hash_before_apply'", "bad-patch"),
        ("DELETE FROM metadata WHERE name = 'agg_tiles_hash_after_apply'", "bad-patch"),
        ("DROP TABLE tiles", "bad-patch"), ("DROP TABLE metadata", "bad-patch"),
        ("DROP TABLE tiles; CREATE VIEW tiles AS SELECT 1 AS zoom_level", "bad-patch"),
    ])
    func anEditedPatchIsRefused(sql: String, expected: String) throws {
        #expect(try code(fixture.edited(patch, sql)) == expected)
    }

    @Test func aPatchForAnotherVersionIsRefused() throws {
        #expect(try code(patch, to: new.url) == "patch-mismatch")
        #expect(try code(fixture.old, to: new.url) == "bad-patch")
    }

    @Test func aPackageWithAnotherTileIsRefused() throws {
        let other = try fixture.edited(fixture.old, "UPDATE tiles_data SET tile_data = x'00' WHERE tile_data_id = 1")
        #expect(try code(patch, to: other) == "patch-mismatch")
        let error = #expect(throws: PackagesError.self) { try Patch.compare(old: other, new: new.url) }
        #expect(error?.code == .badSource)
    }

    @Test func aPatchOfAPatchIsRefused() throws {
        for (old, new) in [(patch, new.url), (fixture.old, patch)] {
            let error = #expect(throws: PackagesError.self) { try Patch.compare(old: old, new: new) }
            #expect(error?.code == .badSource)
        }
    }

    @Test func otherBytesThanExpectedAreRefused() throws {
        let error = #expect(throws: PackagesError.self) {
            try Patch.apply(patch, to: fixture.old, into: result, expecting: fixture.oldReceipt.digest)
        }
        #expect(error?.code == .verificationFailed)
        #expect(!FileManager.default.fileExists(atPath: result.path))
    }

    @Test func aPatchCutAnywhereIsRefused() throws {
        let whole = try bytes(patch)
        let cut = fixture.scratch.file("cut.mbtiles")
        for step in 0..<20 {
            try Data(whole[..<(whole.count * step / 20)]).write(to: cut)
            #expect(try code(cut) == "bad-patch", "cut to \(step)/20")
        }
        try Data(whole.dropLast()).write(to: cut)
        #expect(try code(cut) == "bad-patch")
    }

    @Test func aFlippedBitIsRefused() throws {
        let whole = try bytes(patch)
        let flipped = fixture.scratch.file("flipped.mbtiles")
        var random = SplitMix(state: 5)
        for _ in 0..<200 {
            let bit = Int.random(in: 0..<whole.count * 8, using: &random)
            var copy = whole
            copy[bit / 8] ^= 1 << UInt8(bit % 8)
            try Data(copy).write(to: flipped)
            let refusal = try code(flipped)
            #expect(["bad-patch", "patch-mismatch"].contains(refusal), "bit \(bit % 8) of byte \(bit / 8)")
        }
    }

    /// A seal that was lost or does not fit is damage, whatever the tiles say.
    @Test func aBrokenSealIsRefused() throws {
        for (file, expected) in [(patch, "bad-patch"), (fixture.old, "bad-source")] {
            var copy = try bytes(file)
            let place = try #require(Data(copy).range(of: Data("packhorse_seal".utf8))).lowerBound
            copy[place + 8] ^= 1
            let damaged = fixture.scratch.file("damaged.mbtiles")
            try Data(copy).write(to: damaged)
            #expect(try file == patch ? code(damaged) == expected : code(patch, to: damaged) == expected)
        }
    }

    @Test func filesThatAreNoPackageAreRefused() throws {
        let file = fixture.scratch.file("x")
        for content in [Data(), Data("hello".utf8), Data(repeating: 0, count: 5_000)] {
            try content.write(to: file)
            #expect(try code(file) == "bad-patch")
            #expect(try code(patch, to: file) == "bad-source")
        }
        let error = #expect(throws: PackagesError.self) {
            try Patch.apply(fixture.scratch.file("absent"), to: fixture.old, into: result)
        }
        #expect(error?.code == .io)
    }
}
