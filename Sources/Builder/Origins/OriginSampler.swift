public import Digests
public import Errors
import Files
import Synchronization
public import Tiles
public import Tilesets

/// Fetches a sample of tiles to estimate the size of all tiles.
public enum OriginSampler {
    /// A tile that answered.
    public struct Answer: Sendable, Hashable {
        /// Which tile.
        public var tile: TileID
        /// Bytes of its body as a package stores it; 0 if the tile does not exist.
        public var bytes: Int
        /// Bytes of bodies received for it.
        public var received: Int
        /// Equal for equal bodies; 0 if the tile does not exist.
        public var body: UInt64

        /// Makes an answer from its parts.
        public init(tile: TileID, bytes: Int, received: Int, body: UInt64) {
            (self.tile, self.bytes, self.received, self.body) = (tile, bytes, received, body)
        }
    }

    /// What was learnt about one zoom.
    public struct ZoomSample: Sendable, Hashable {
        /// The zoom.
        public var zoom: Int
        /// Tiles of the mask at this zoom.
        public var tiles: UInt64
        /// The tiles that answered, ascending.
        public var answers: [Answer]
        /// Causes of failures and how often.
        public var causes: [CauseCode: Int]

        /// Tiles that failed.
        public var failed: Int { causes.values.reduce(0, +) }
        /// Tiles asked for.
        public var asked: Int { answers.count + failed }
        /// Tiles with a body.
        public var stored: Int { answers.count { $0.bytes > 0 } }

        /// Makes a sample from its parts.
        public init(zoom: Int, tiles: UInt64, answers: [Answer], causes: [CauseCode: Int] = [:]) {
            (self.zoom, self.tiles, self.answers, self.causes) = (zoom, tiles, answers, causes)
        }
    }

    /// The transfer that is needed for all tiles of a remote archive, computed from its directories.
    public struct Transfer: Sendable, Hashable {
        /// Requests for tiles if one program fetches the whole mask; several workers need a few more.
        public var requests: Int
        /// Bytes of the bodies, each counted once.
        public var needed: UInt64
        /// The same, plus the bytes between them that are fetched too.
        public var fetched: UInt64
        /// Requests for header and directories.
        public var directoryRequests = 0
        /// Bytes of header and directories.
        public var directoryBytes: UInt64 = 0

        /// Makes a forecast from its parts.
        public init(requests: Int, needed: UInt64, fetched: UInt64) {
            (self.requests, self.needed, self.fetched) = (requests, needed, fetched)
        }
    }

    /// What was learnt in all.
    public struct Sample: Sendable, Hashable {
        /// By zoom, ascending; zooms without tiles are left out.
        public var zooms: [ZoomSample]
        /// Tiles per second while sampling.
        public var tilesPerSecond: Double
        /// The error of one of the failed tiles; `nil` if none failed.
        public var detail: String?
        /// The size of the transfer, if it is known exactly.
        public var transfer: Transfer?
        /// The bodies that most of the sampled tiles have, weighed by the tiles of their zooms.
        public var bodies: [FrequentBody] = []
    }

    /// Requests up to `count` tiles of each zoom, within the limits of the tileset.
    ///
    /// The unused part of shallow zooms is given to deep zooms, in proportion to their numbers of tiles: at most
    /// `count` times the number of zooms in all. The directories of a remote archive contain the sizes of all bodies:
    /// then the result has every tile of a zoom, up to two million in all. The tiles of a zoom are spread over the
    /// mask: one at random of each of as many equal parts along the Hilbert curve. The choice depends only on mask,
    /// zooms, count and `seed`.
    /// - Throws: ``OriginsError`` when the origin cannot be opened; `CancellationError`.
    public static func sample(
        _ tileset: Tileset, mask: TileMask, zooms: ZoomRange, count: Int = 24, seed: UInt64 = 1,
        environment: [String: String]
    ) async throws -> Sample {
        let origin = try await OriginFactory.open(tileset, environment: environment)
        // A sample is small, and says itself what was answered.
        origin.trust()
        let settled = Mutex<[FetchedTile]>([])
        let counts = zooms.map { mask.count(atZoom: $0) }
        let chosen = zip(zooms, shares(of: counts, count: count)).flatMap { zoom, share in
            pick(from: mask, zoom: zoom, count: share, seed: seed &+ UInt64(zoom))
        }
        var survey: (answers: [[Answer]], transfer: Transfer)?
        if let archive = origin as? RemoteArchiveOrigin, archive.tellsSizes,
            counts.reduce(0, +) <= RemoteArchiveOrigin.maxListed
        {
            survey = try await archive.survey(mask, zip(zooms, counts).filter { $1 > 0 }.map(\.0))
            survey?.transfer.directoryRequests = archive.use.requests
            survey?.transfer.directoryBytes = UInt64(archive.use.bytes)
        }
        let start = ContinuousClock.now
        try await origin.fetch(chosen) { tiles in settled.withLock { $0 += tiles } }
        let seconds = max((ContinuousClock.now - start) / .seconds(1), 1e-6)
        let all = settled.withLock { $0 }.sorted { $0.tile < $1.tile }
        let byZoom = Dictionary(grouping: all, by: \.tile.zoom)
        var samples = zip(zooms, counts).filter { $1 > 0 }.map { zoom, tiles in
            summary(zoom: zoom, total: tiles, tiles: byZoom[zoom] ?? [])
        }
        // The directories have the size of every body; the sample shows that bodies are what they should be.
        if let survey {
            for index in samples.indices where samples[index].causes.isEmpty {
                samples[index].answers = survey.answers[index]
            }
        }
        let detail = all.lazy.compactMap { tile -> String? in
            guard case .failed(_, let detail) = tile.outcome else { return nil }
            return "\(tile.tile): \(detail)"
        }.first
        return Sample(
            zooms: samples, tilesPerSecond: Double(chosen.count) / seconds, detail: detail, transfer: survey?.transfer,
            bodies: frequent(all, chosen: Dictionary(grouping: chosen, by: \.zoom).mapValues(\.count), in: mask))
    }

    private static func frequent(_ tiles: [FetchedTile], chosen: [Int: Int], in mask: TileMask) -> [FrequentBody] {
        let weights = Dictionary(
            uniqueKeysWithValues: chosen.map { ($0, Double(mask.count(atZoom: $0)) / Double(max(1, $1))) })
        var tally = BodyTally()
        for tile in tiles {
            guard case .stored(let body, _, _) = tile.outcome else { continue }
            tally.add(Digest(of: body), bytes: body.count, weight: weights[tile.tile.zoom] ?? 1)
        }
        return tally.frequent
    }

    /// How many tiles of each zoom are asked for.
    static func shares(of counts: [UInt64], count: Int) -> [Int] {
        var shares = counts.map { Int(min($0, UInt64(max(count, 0)))) }
        // Two passes: the part that one zoom cannot use is given to another.
        for _ in 0..<2 {
            let spare = max(count, 0) * counts.count - shares.reduce(0, +)
            let open = zip(counts, shares).map { $0 - UInt64($1) }
            let sum = open.reduce(0, +)
            guard spare > 0, sum > 0 else { break }
            for index in shares.indices {
                let part = Double(spare) * Double(open[index]) / Double(sum)
                shares[index] += min(Int(part), Int(clamping: open[index]))
            }
        }
        return shares
    }

    /// One tile of each of `count` equal parts of a zoom along the Hilbert curve; all tiles when there are no more.
    static func pick(from mask: TileMask, zoom: Int, count: Int, seed: UInt64) -> [TileID] {
        let total = mask.count(atZoom: zoom)
        guard total > UInt64(max(count, 0)) else {
            return total == 0 ? [] : Array(mask.tiles(atZoom: zoom, under: .root))
        }
        // Cells that can be listed, and the number of tiles before each.
        var coarse = zoom
        while coarse > 0, mask.count(atZoom: coarse) > 20_000 { coarse -= 1 }
        let cells = Array(mask.tiles(atZoom: coarse, under: .root))
        var starts: [UInt64] = []
        var sum: UInt64 = 0
        for cell in cells {
            starts.append(sum)
            sum += coarse == zoom ? 1 : mask.restricted(to: cell).count(atZoom: zoom)
        }
        var generator = SplitMix(state: seed)
        var next = 0
        return (0..<max(count, 0)).compactMap { part in
            let low = UInt64(Double(total) * Double(part) / Double(count))
            let high = max(low + 1, UInt64(Double(total) * Double(part + 1) / Double(count)))
            let rank = UInt64.random(in: low..<min(high, total), using: &generator)
            while next + 1 < cells.count, starts[next + 1] <= rank { next += 1 }
            return mask.tiles(atZoom: zoom, under: cells[next]).dropFirst(Int(rank - starts[next])).first { _ in true }
        }
    }

    /// FNV-1a, 64 bits: enough to distinguish a thousand bodies that were not made to collide.
    private static func hash(_ body: [UInt8]) -> UInt64 {
        body.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static func summary(zoom: Int, total: UInt64, tiles: [FetchedTile]) -> ZoomSample {
        var sample = ZoomSample(zoom: zoom, tiles: total, answers: [])
        for tile in tiles {
            switch tile.outcome {
            case .stored(let body, _, _):
                sample.answers.append(
                    Answer(tile: tile.tile, bytes: body.count, received: tile.received, body: hash(body)))
            case .empty:
                sample.answers.append(Answer(tile: tile.tile, bytes: 0, received: tile.received, body: 0))
            // A sample has no known tiles, so no tile can be unchanged.
            case .unchanged: sample.causes[CauseCode(status: 304), default: 0] += 1
            case .failed(let cause, _): sample.causes[cause, default: 0] += 1
            }
        }
        return sample
    }
}
