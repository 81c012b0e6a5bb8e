import TestSupport
import Testing
import Tiles

@testable import TileBodies

/// Fifty thousand damaged bodies: each is taken or refused, none stops the process.
struct MutationTests {
    @Test(.timeLimit(.minutes(15)))
    func damagedBodiesNeverTrap() {
        var seeds = Samples.rasters
        seeds.append((.mvt, VectorSamples.plain))
        seeds.append((.mvt, Gzip.compress(VectorSamples.plain)))
        seeds.append((.mlt, MLTSamples.tile))
        let checker = BodyChecker(limit: 1 << 20)
        var dice = SplitMix(state: 2)
        var refused = 0
        for round in 0..<50_000 {
            let (format, seed) = seeds[round % seeds.count]
            let body = damaged(seed, &dice)
            do {
                _ = try checker.check(
                    body, coding: [.identity, .gzip, .deflate][Int(dice.next() % 3)], declared: format)
            } catch {
                refused += 1
            }
            _ = try? checker.summary(of: body)
        }
        #expect(refused > 30_000)
    }

    private func damaged(_ seed: [UInt8], _ dice: inout SplitMix) -> [UInt8] {
        var body = seed
        for _ in 0...dice.next() % 4 where !body.isEmpty {
            let index = Int(dice.next() % UInt64(body.count))
            switch dice.next() % 6 {
            case 0: body[index] ^= 1 << UInt8(dice.next() % 8)
            case 1: body[index] = UInt8(truncatingIfNeeded: dice.next())
            case 2: body.remove(at: index)
            case 3: body.insert(UInt8(truncatingIfNeeded: dice.next()), at: index)
            case 4: body[index] = [0, 0x7f, 0x80, 0xff][Int(dice.next() % 4)]
            default: body.removeLast(min(body.count, Int(dice.next() % 9)))
            }
        }
        return body
    }
}
