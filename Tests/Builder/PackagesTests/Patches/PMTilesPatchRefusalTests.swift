import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Packages
import TestSupport
import Testing

/// Patches of PMTiles archives that must be refused, and leave the old file as it was.
struct PMTilesPatchRefusalTests {
    let fixture: PMTilesPatchFixture
    let new: URL
    let patch: URL

    init() throws {
        fixture = try PMTilesPatchFixture()
        new = try fixture.exported(try fixture.mbtiles.nextVersion().url)
        patch = fixture.file("right.patch")
        try Patch.make(old: fixture.old, new: new, into: patch)
    }

    private func code(
        _ patch: URL, to old: URL? = nil, expecting: Digest? = nil, size: UInt64? = nil
    ) throws -> PackagesError.Code? {
        let target = old ?? fixture.old
        let before = try Digest.ofFile(target).digest
        do {
            // In place, where a mistake would hurt most.
            try Patch.apply(patch, to: target, into: target, replacing: true, expecting: expecting, size: size)
            return nil
        } catch let error as PackagesError {
            #expect(try Digest.ofFile(target).digest == before, "the old file was changed")
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.file("").path)
            #expect(names.allSatisfy { !$0.hasPrefix(".") && !$0.hasSuffix(".tmp") }, "\(names)")
            return error.code
        }
    }

    @Test func everyFlippedByteAndEveryCutIsFound() throws {
        let right = try bytes(patch)
        let changed = fixture.file("changed.patch")
        for place in stride(from: 8, to: right.count, by: max(1, right.count / 300)) {
            var wrong = right
            wrong[place] ^= 0x10
            try Data(wrong).write(to: changed)
            #expect(try code(changed) == .badPatch, "byte \(place)")
            try Data(right.prefix(place)).write(to: changed)
            #expect(try code(changed) == .badPatch, "cut at \(place)")
        }
        try Data(right + [0]).write(to: changed)
        #expect(try code(changed) == .badPatch)
        try Data().write(to: changed)
        #expect(try code(changed) == .badPatch)
    }

    @Test func anotherFileIsRefused() throws {
        #expect(try code(patch, to: new) == .patchMismatch)
        let other = fixture.file("other.pmtiles")
        var wrong = try bytes(fixture.old)
        wrong[wrong.count / 2] ^= 1
        try Data(wrong).write(to: other)
        #expect(try code(patch, to: other) == .patchMismatch)
        #expect(try code(patch, to: fixture.mbtiles.old) == .patchMismatch)
    }

    @Test func aFileThatTheCatalogDoesNotNameIsNotMade() throws {
        let digest = try Digest.ofFile(new).digest
        #expect(try code(patch, expecting: Digest(of: [1])) == .verificationFailed)
        #expect(try code(patch, expecting: digest, size: 1) == .verificationFailed)
        #expect(try code(patch, expecting: digest, size: try Digest.ofFile(new).size) == nil)
    }

    /// Scripts with right checksums that ask for what is not there, or for too much.
    @Test func hostileScriptsAreRefused() throws {
        let old = try bytes(fixture.old)
        let size = UInt64(old.count)
        let big = UInt64.max
        func step(_ literal: UInt64, _ copied: UInt64, _ place: UInt64?) -> [UInt8] {
            varint(literal) + varint(copied) + (place.map { varint($0) } ?? [])
        }
        let scripts: [(name: String, script: [UInt8], newSize: UInt64)] = [
            ("beyond the end", step(0, size, 2), size), ("one too many", step(0, size + 1, 0), size + 1),
            ("backwards from 0", step(0, 1, 1), 1), ("far backwards", step(0, 1, big), 1),
            ("far forwards", step(0, 1, big - 1), 1), ("a length of 2^64 - 1", step(0, big, 0), 10),
            ("an overflow", step(big, big, 0), 10), ("literals that are not there", step(10, 0, nil), 10),
            ("nothing", step(0, 0, nil), 0), ("too short", step(0, size - 1, 0), size),
            ("too long", step(0, size, 0) + step(0, 5, 1), size), ("no last number", varint(0) + varint(size), size),
            ("an open varint", [0x80], 1), ("a varint of 11 bytes", [UInt8](repeating: 0x80, count: 10) + [1], 1),
            ("a varint of 65 bits", [UInt8](repeating: 0xFF, count: 9) + [2, 0], 1),
            ("a varint that is not the shortest", [0x80, 0] + varint(size) + [0], size), ("no script", [], 5),
        ]
        for (name, script, newSize) in scripts {
            let url = try fixture.patch("hostile.patch", old: old, new: old, script: script, newSize: newSize)
            #expect(try code(url) == .badPatch, "\(name)")
        }
        let spare = try fixture.patch("spare.patch", old: old, new: old, script: step(0, size, 0), literals: [1])
        #expect(try code(spare) == .badPatch)
        let wrong = try fixture.patch("wrong.patch", old: old, new: [1, 2, 3], script: step(0, 3, 0))
        #expect(try code(wrong) == .badPatch)
        for size in [UInt64(1) << 63, .max] {
            let long = try fixture.patch("long.patch", old: old, new: old, script: [], scriptSize: size)
            #expect(try code(long) == .badPatch)
            let huge = try fixture.patch("huge.patch", old: old, new: old, script: [], newSize: size)
            #expect(try code(huge) == .badPatch)
        }
        let newer = try fixture.patch("newer.patch", old: old, new: old, script: step(0, size, 0), version: 3)
        #expect(try code(newer) == .badPatch)
    }

    @Test func filesOfTwoFormatsHaveNoPatch() throws {
        let target = fixture.file("none.patch")
        for (old, new) in [(fixture.old, fixture.mbtiles.old), (fixture.mbtiles.old, new)] {
            let error = #expect(throws: PackagesError.self) { try Patch.make(old: old, new: new, into: target) }
            #expect(error?.code == .badSource)
        }
        let error = #expect(throws: PackagesError.self) {
            try Patch.make(old: fixture.old, new: new, into: target, deltas: true)
        }
        #expect(error?.code == .unsupported)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test func damagedArchivesAreRefused() throws {
        let damaged = fixture.file("damaged.pmtiles")
        var wrong = try bytes(fixture.old)
        for place in 127..<400 { wrong[place] = 0xFF }
        try Data(wrong).write(to: damaged)
        for (old, new) in [(damaged, new), (new, damaged)] {
            let error = #expect(throws: PackagesError.self) {
                try Patch.make(old: old, new: new, into: fixture.file("none.patch"))
            }
            #expect(error?.code == .badSource)
        }
    }
}
