import Digests
import Errors
import Files
import Foundation
import Shards
import TestSupport
import Testing
import Tiles

/// Damage never passes: each of these reads must end in an error, and none in a trap.
struct ShardDamageTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch(rewrites: true) }

    /// Reads a file made of these bytes completely; `true` when that ended in a `StorageError`.
    private func isRefused(_ bytes: [UInt8]) throws -> Bool {
        let url = scratch.file("damaged")
        try Data(bytes).write(to: url)
        do {
            _ = try read(url)
            return false
        } catch is StorageError {
            return true
        }
    }

    @Test func everyFlippedBitOfASmallShardIsFound() throws {
        let tiles = try samples(9, bodyBytes: 12)
        try write(tiles, to: scratch.file("a"))
        var damaged = try bytes(scratch.file("a"))
        #expect(try !isRefused(damaged))
        for bit in 0..<damaged.count * 8 {
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if try !isRefused(damaged) { Issue.record("bit \(bit % 8) of byte \(bit / 8) passed") }
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        }
    }

    @Test func randomFlippedBitsOfALargerShardAreFound() throws {
        try write(try samples(600, bodyBytes: 1_500), to: scratch.file("a"))
        var damaged = try bytes(scratch.file("a"))
        var random = SplitMix(state: 42)
        for _ in 0..<500 {
            let bit = Int.random(in: 0..<damaged.count * 8, using: &random)
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if try !isRefused(damaged) { Issue.record("bit \(bit % 8) of byte \(bit / 8) passed") }
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        #expect(try !isRefused(damaged))
    }

    @Test func aShardCutAtAnyLengthOrPrefixedOrExtendedIsRefused() throws {
        try write(try samples(18, bodyBytes: 12), to: scratch.file("a"))
        let whole = try bytes(scratch.file("a"))
        for length in 0..<whole.count {
            if try !isRefused(Array(whole[..<length])) { Issue.record("\(length) of \(whole.count) bytes passed") }
        }
        #expect(try isRefused(whole + [0]))
        #expect(try isRefused([0] + whole))
        #expect(try isRefused(whole + whole))
    }

    @Test func randomBytesBetweenTrueEndsAreRefused() throws {
        try write(try samples(60, bodyBytes: 50), to: scratch.file("a"))
        let whole = try bytes(scratch.file("a"))
        var random = SplitMix(state: 5)
        for _ in 0..<300 {
            let start = Int.random(in: 0..<whole.count, using: &random)
            let count = Int.random(in: 1...min(64, whole.count - start), using: &random)
            let noise = random.bytes(count)
            guard noise != Array(whole[start..<start + count]) else { continue }
            #expect(try isRefused(whole[..<start] + noise + whole[(start + count)...]))
        }
    }

    @Test func theDigestNamesTheFile() throws {
        try write(try samples(3, bodyBytes: 5), to: scratch.file("a"))
        let error = #expect(throws: StorageError.self) {
            try ShardReader(scratch.file("a"), expecting: Digest(of: [UInt8]()))
        }
        #expect(error?.code == .digestMismatch)
    }

    @Test func anotherVersionIsNamedAsSuch() throws {
        try write(try samples(3, bodyBytes: 5), to: scratch.file("a"))
        var newer = try bytes(scratch.file("a"))
        // The version in the footer, made whole again by the footer's own digest.
        let payload = newer.count - 152
        newer[payload + 8] = 2
        newer.replaceSubrange((newer.count - 32)..., with: Digest(of: newer[payload..<newer.count - 32]).bytes)
        try Data(newer).write(to: scratch.file("b"))
        let error = #expect(throws: StorageError.self) { try ShardReader(scratch.file("b")) }
        #expect(error?.code == .unsupportedVersion)
    }

    /// A consistent footer can still be wrong; nothing may be allocated or read only because of its values.
    @Test func aFooterThatLiesAboutSizesIsRefused() throws {
        try write(try samples(40, bodyBytes: 30), to: scratch.file("a"))
        let whole = try bytes(scratch.file("a"))
        let payload = whole.count - 152
        for field in [12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52] {
            for value: UInt32 in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
                var lying = whole
                for byte in 0..<4 {
                    lying[payload + field + byte] = UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))
                }
                lying.replaceSubrange((lying.count - 32)..., with: Digest(of: lying[payload..<lying.count - 32]).bytes)
                if lying == whole { continue }
                if try !isRefused(lying) { Issue.record("field \(field) = \(value) passed") }
            }
        }
    }
}
