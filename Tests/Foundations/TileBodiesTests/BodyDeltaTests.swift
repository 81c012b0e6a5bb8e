import Foundation
import Testing

@testable import TileBodies

struct BodyDeltaTests {
    private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    /// Bodies with something cut, put in, moved, repeated; and the edges.
    private var pairs: [(old: [UInt8], new: [UInt8])] {
        let base = noise(5_000, seed: 1)
        let other = noise(900, seed: 2)
        return [
            ([], []), ([], base), (base, []), (base, base), (base, other), ([7], [7, 7]),
            (base, Array(base[..<2_000] + other + base[2_000...])), (base, Array(base[..<100] + base[3_000...])),
            (base, Array(base[2_500...] + base[..<2_500])), (base, base + base + base),
            (base, base.enumerated().map { $0 % 700 == 699 ? $1 ^ 1 : $1 }),
            ([UInt8](repeating: 0, count: 100_000), [UInt8](repeating: 0, count: 70_000) + [1]),
        ]
    }

    @Test func aScriptGivesTheNewBytesBack() throws {
        for (old, new) in pairs {
            let script = CopyScript.make(from: old, to: new)
            #expect(try CopyScript.apply(script, to: old, limit: 1 << 20) == new)
            #expect(script.count <= new.count + 20)
        }
    }

    @Test func aSmallChangeIsASmallDelta() throws {
        let old = noise(20_000, seed: 3)
        var new = old
        new[9_000] ^= 4
        new.insert(contentsOf: [1, 2, 3], at: 15_000)
        var delta = BodyDelta()
        let maybe = delta.make(from: Gzip.compress(old), to: Gzip.compress(new))
        let made = try #require(maybe)
        #expect(made.count < 60)
        #expect(try BodyDelta.apply(made, to: Gzip.compress(old)) == Gzip.compress(new))
        #expect(try BodyDelta.apply(made, to: old) == Gzip.compress(new), "how the old body was packed does not matter")
    }

    @Test func bodiesOfOtherPackersComeBackExactly() throws {
        let old = noise(300, seed: 4) + [UInt8](repeating: 9, count: 9_000) + noise(300, seed: 5)
        let new = noise(300, seed: 4) + [UInt8](repeating: 9, count: 9_000) + noise(301, seed: 5)
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 0, 3]
        for packing in Packing.allCases where packing != .stored {
            let body = try #require(packing.pack(new, header: header))
            #expect(try Gzip.decompress(body) == new)
            var delta = BodyDelta()
            let maybe = delta.make(from: old, to: body)
            let made = try #require(maybe, "\(packing)")
            #expect(try BodyDelta.apply(made, to: old) == body)
        }
        // A body from an unknown packer has no delta.
        var strange = try #require(Packing.zlibSixNine.pack(new, header: header))
        strange[3] = 8
        strange.insert(contentsOf: [0x61, 0], at: 10)
        var delta = BodyDelta()
        #expect(delta.make(from: old, to: strange) == nil)
    }

    @Test func whatIsNoSmallerIsNoDelta() {
        var delta = BodyDelta()
        #expect(delta.make(from: noise(500, seed: 6), to: noise(500, seed: 7)) == nil)
        #expect(delta.make(from: [], to: []) == nil)
    }

    @Test func damagedDeltasNeverTrap() throws {
        let old = noise(2_000, seed: 8)
        let new = Array(old[..<900] + noise(40, seed: 9) + old[1_000...])
        var delta = BodyDelta()
        let maybe = delta.make(from: old, to: new)
        let made = try #require(maybe)
        for count in 0..<made.count {
            #expect(throws: TileBodiesError.self) { try BodyDelta.apply(Array(made[..<count]), to: old) }
        }
        let script = CopyScript.make(from: old, to: new)
        for bit in 0..<script.count * 8 {
            var copy = script
            copy[bit / 8] ^= 1 << UInt8(bit % 8)
            // Other bytes or an error; the hash of the package detects the former.
            _ = try? CopyScript.apply(copy, to: old, limit: 1 << 20)
            _ = try? CopyScript.apply(copy, to: [], limit: 1 << 20)
        }
        let hostile: [[UInt8]] = [
            [], [5], [0x80], [5, 0, 0, 0], [5, 9, 1], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [5, 0, 5, 1], [5, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0, 1],
        ]
        for bytes in hostile {
            #expect(throws: TileBodiesError.self, "\(bytes)") {
                try CopyScript.apply(bytes, to: [1, 2, 3], limit: 100)
            }
        }
    }
}
