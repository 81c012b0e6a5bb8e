import Digests
import Files
import Foundation
import PackageFiles
import TestSupport
import Testing
import Tiles

/// Patches of files of any kind.
struct OpaquePatchTests {
    private let scratch: Scratch
    private var patch: URL { scratch.file("made.patch") }
    private var result: URL { scratch.file("result") }

    init() throws { scratch = try Scratch() }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let url = scratch.file(name)
        try Data(bytes).write(to: url)
        return url
    }

    /// Makes a patch between two files, applies it, and compares the result; returns the bytes of the patch.
    private func cross(_ old: [UInt8], _ new: [UInt8]) throws -> Int {
        let (before, after) = (try file("old", old), try file("new", new))
        let made = try Patch.makeOpaque(old: before, new: after, into: patch, replacing: true)
        #expect(made.isExact && made.counts.isEmpty)
        #expect(made.counts.before == Digest(of: old).hex && made.counts.after == Digest(of: new).hex)
        let applied = try Patch.apply(
            patch, to: before, into: result, replacing: true, expecting: Digest(of: new), size: UInt64(new.count))
        #expect(try bytes(result) == new)
        #expect(applied.size == UInt64(new.count) && applied.tiles == 0 && applied.tilesHash == nil)
        #expect(try made.digest == Digest(of: bytes(patch)) && made.size == UInt64(bytes(patch).count))
        // The same patch each time, and nothing else in the folder.
        let again = try Patch.makeOpaque(old: before, new: after, into: scratch.file("again"), replacing: true)
        #expect(again == made)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).count == 5)
        return Int(made.size)
    }

    /// Blocks of 64 KiB in another order, three small changes, and bytes that came and went.
    @Test func movedBytesAreCopiedAndChangedOnesPacked() throws {
        var random = SplitMix(state: 1)
        let blocks = (0..<16).map { _ in random.bytes(65_536) }
        var moved = [8, 9, 10, 0, 1, 2, 15, 3, 4, 5, 6, 7, 14, 13, 12, 11].map { blocks[$0] }
        for block in [1, 6, 12] { moved[block].replaceSubrange(30_000..<30_100, with: random.bytes(100)) }
        moved[3].removeSubrange(0..<777)
        moved[9].insert(contentsOf: random.bytes(500), at: 1_000)
        let size = try cross(blocks.flatMap { $0 }, moved.flatMap { $0 })
        #expect(size < 1_400, "\(size) bytes for 800 that are new")
    }

    /// A number in every record of 48 bytes changes: no stretch is long enough for a copy.
    @Test func recordsThatChangeAllOverArePackedWithWhatTheyWere() throws {
        var random = SplitMix(state: 2)
        let records = (0..<6_000).map { _ in random.bytes(40) }
        func table(_ order: [Int], _ shift: Int) -> [UInt8] {
            order.flatMap { index -> [UInt8] in
                let number = index * 7_919 + shift
                return records[index] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
        }
        let old = table(Array(0..<6_000), 0)
        #expect(try cross(old, table(Array(0..<6_000), 99)) < old.count / 3)
        // A third moved to the front: short stretches say where it was.
        #expect(try cross(old, table(Array(4_000..<6_000) + Array(0..<4_000), 99)) < old.count / 3)
    }

    @Test func filesOfEverySizeAndLikeness() throws {
        var random = SplitMix(state: 3)
        let noise = random.bytes(300_000)
        let zeros = [UInt8](repeating: 0, count: 300_000)
        let empty: [UInt8] = []
        #expect(try cross(noise, noise) < 160)
        #expect(try cross(noise, Array(noise.dropFirst(100_000))) < 170)
        #expect(try cross(Array(noise.dropFirst(100_000)), noise) < 101_000)
        for (old, new) in [
            (empty, empty), (empty, [1]), ([1], empty), ([1], [1]), ([1], [2]), (empty, zeros), (zeros, noise),
            (noise, zeros),
            (zeros, zeros), (Array(noise.prefix(31)), Array(noise.prefix(32))), (Array(noise.prefix(600)), noise),
            (noise, Array(noise.suffix(600))),
        ] {
            #expect(try cross(old, new) <= 200 + new.count)
        }
        // Any two files, with stretches of few different bytes, which are often equal by chance.
        for _ in 0..<30 {
            func any() -> [UInt8] {
                (0..<random.next() % 12).flatMap { _ -> [UInt8] in
                    let start = Int(random.next() % 250_000)
                    switch random.next() % 4 {
                    case 0: return [UInt8](repeating: UInt8(random.next() % 3), count: start / 50)
                    case 1: return (0..<start / 80).map { _ in UInt8(random.next() % 2) }
                    default: return Array(noise[start..<start + Int(random.next() % 9_000)])
                    }
                }
            }
            let (old, new) = (any(), any())
            #expect(try cross(old, new) <= 300 + new.count)
        }
    }

    /// Literals of more than one section, after a prefix that is not the whole old file.
    @Test func sectionsFollowOneAnother() throws {
        var random = SplitMix(state: 4)
        // Five million bytes of few different words: zstd packs them, and no word is long enough for a copy.
        let words = (0..<200).map { _ in random.bytes(50) }
        func text(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in words[Int(random.next() % 200)] } }
        let (old, new) = (text(20_000), text(100_000))
        #expect(try cross(old, new) < new.count / 6)
    }

    @Test func aStoppedMakerLeavesNothingAndGivesTheSameLater() throws {
        struct Stop: Error {}
        var random = SplitMix(state: 5)
        let old = try file("old", random.bytes(2_500_000))
        let new = try file("new", Array(try bytes(old).reversed()))
        var calls = 0
        let whole = try Patch.makeOpaque(old: old, new: new, into: patch) { calls += 1 }
        #expect(calls >= 4)
        for last in 0..<calls {
            var left = last
            #expect(throws: Stop.self) {
                try Patch.makeOpaque(old: old, new: new, into: scratch.file("stopped")) {
                    if left == 0 { throw Stop() }
                    left -= 1
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).count == 3)
        }
        #expect(try Patch.makeOpaque(old: old, new: new, into: patch, replacing: true) == whole)
        var steps = 0
        try Patch.apply(patch, to: old, into: result) { _ in steps += 1 }
        #expect(throws: Stop.self) {
            try Patch.apply(patch, to: old, into: scratch.file("stopped")) { _ in
                steps -= 1
                if steps == 1 { throw Stop() }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("stopped").path))
        #expect(try bytes(result) == bytes(new))
    }

    /// The applier that the document gives to others.
    @Test func theApplierOfTheDocumentMakesTheNewFile() throws {
        var random = SplitMix(state: 6)
        let old = random.bytes(200_000)
        var new = Array(old[120_000...] + old[..<100_000])
        new.replaceSubrange(50_000..<50_090, with: Array("what is new in this file, twice twice twice twice".utf8))
        new += [UInt8](repeating: 7, count: 5_000) + old[110_000..<110_200]
        let (before, after) = (try file("old", old), try file("new", new))
        try Patch.makeOpaque(old: before, new: after, into: patch)
        let status = try runApplier(
            of: "companion-patch.md", as: scratch.file("apply.py"), patch: patch, old: before, into: result)
        #expect(status == 0)
        #expect(try bytes(result) == bytes(after))
    }
}
