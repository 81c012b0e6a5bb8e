import Scheduling
import Tiles

/// The server tiles come from: it changes, fails and goes away, and remembers who asked for what and when.
struct SimOrigin {
    enum Answer {
        case tile(version: UInt64)
        case failed(Trouble)
    }
    struct Request {
        let at: Int64
        let worker: Int
        let job: JobID
    }

    private let changes: [Int64]
    private let outages: [ClosedRange<Int64>]
    private let flaky: Int64
    private let bad: Int64
    private let poison: Int64
    private var random: SeededRandom
    private(set) var asked = 0
    /// The last request of each job by each worker.
    private(set) var last: [JobID: [Int: Int64]] = [:]

    init(_ swarm: Swarm, end: Int64, random: SeededRandom) {
        var random = random
        changes = swarm.originChanges ? (0..<3).map { _ in random.below(end) }.sorted() : []
        outages =
            swarm.originOutage
            ? (0..<2).map { _ in
                let start = random.below(end)
                return start...(start + random.below(Int64(30_000)))
            } : []
        (flaky, bad, poison) = (swarm.flakyTile, swarm.badTile, swarm.poison)
        self.random = random
    }

    /// The version of a tile that the origin serves; 1 at first.
    ///
    /// A change touches one tile in three.
    func version(of tile: TileID, at now: Int64) -> UInt64 {
        UInt64(changes.enumerated().count { $1 <= now && SimOrigin.roll(tile, 20 + UInt64($0)) % 3 == 0 }) + 1
    }

    /// Whether the origin has nothing for the tile, whatever the version.
    static func isEmpty(_ tile: TileID) -> Bool { roll(tile, 3) % 8 == 0 }

    /// Whether a batch with the tile fails as a whole.
    func isPoison(_ tile: TileID) -> Bool { SimOrigin.roll(tile, 11) % 1_000 < UInt64(poison) }

    /// Whether the origin never delivers the tile.
    func isBad(_ tile: TileID) -> Bool { SimOrigin.roll(tile, 7) % 1_000 < UInt64(bad) }

    mutating func ask(_ tile: TileID, for job: JobID, by worker: Int, now: Int64, isHealed: Bool) -> Answer {
        asked += 1
        last[job, default: [:]][worker] = now
        if isBad(tile) { return .failed(Trouble(cause: "http-404", detail: "gone for good")) }
        if !isHealed {
            if outages.contains(where: { $0.contains(now) }) {
                return .failed(Trouble(cause: "http-503", detail: "outage"))
            }
            if random.perMille(flaky) { return .failed(Trouble(cause: "timeout", detail: "flaky")) }
        }
        return .tile(version: SimOrigin.isEmpty(tile) ? 0 : version(of: tile, at: now))
    }

    private static func roll(_ tile: TileID, _ salt: UInt64) -> UInt64 {
        var print = Fingerprint()
        print.add(salt)
        print.add(tile)
        return SeededRandom.mix(print.value)
    }
}
