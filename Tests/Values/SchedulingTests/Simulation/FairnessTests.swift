import Scheduling
import Testing
import Tiles

/// What a world without faults promises.
struct FairnessTests {
    /// When the small job has ended, counted from its submission, together with a big one or alone.
    private func time(seed: UInt64, isAlone: Bool) -> Int64? {
        var world = Simulation(seed: seed, isQuiet: true)
        var random = SeededRandom(state: seed)
        for _ in 0..<4 { world.addWorker(&random, steps: 100...200) }
        func spec(_ index: Int, _ width: Int) -> SimSpec {
            SimSpec(
                index: index, zooms: ZoomRange(min: 11, max: 12) ?? .all,
                masks: [SimSpec.rectangle(1_000 * (index + 1), 500, width, 16)], allowedMissing: 0, priority: 0,
                weight: 1)
        }
        world.addClient(spec(0, isAlone ? 1 : 400), at: 0)
        world.addClient(spec(1, 60), at: 20_000)
        guard world.live() == nil else { return nil }
        return world.endedAt[2].map { $0 - 20_000 }
    }

    @Test func twoJobsThatOverlapAskForEachTileOnce() {
        for seed: UInt64 in 0..<5 {
            var world = Simulation(seed: seed, isQuiet: true)
            var random = SeededRandom(state: seed)
            for _ in 0..<4 { world.addWorker(&random, steps: 100...200) }
            func spec(_ index: Int) -> SimSpec {
                SimSpec(
                    index: index, zooms: ZoomRange(min: 11, max: 12) ?? .all,
                    masks: [SimSpec.rectangle(1_000 + 10 * index, 500, 40, 20 + 20 * index)], allowedMissing: 0,
                    priority: 0, weight: 1)
            }
            world.addClient(spec(0), at: 0)
            world.addClient(spec(1), at: 5_000)
            #expect(world.live() == nil)
            let tiles = world.specs[0].union.union(world.specs[1].union).count(in: world.specs[0].zooms)
            #expect(world.origin.asked == Int(tiles))
        }
    }

    @Test func aCityBesideAPlanetEndsWithinTwiceItsSoloTime() throws {
        for seed: UInt64 in 0..<10 {
            let alone = try #require(time(seed: seed, isAlone: true))
            let shared = try #require(time(seed: seed, isAlone: false))
            // What workers have in hand when the city comes is finished first: a grant round, which a longer job does not notice.
            #expect(shared <= 2 * alone + 10_000, "seed \(seed): \(alone) ms alone, \(shared) ms shared")
        }
    }
}
