import Synchronization
public import Tiles
public import Tilesets

/// Fetches a few tiles to tell how large many will be.
public enum OriginSampler {
    /// What was learnt about one zoom.
    public struct ZoomSample: Sendable, Hashable {
        /// The zoom.
        public var zoom: Int
        /// Tiles of the mask at this zoom.
        public var tiles: UInt64
        /// Tiles asked for.
        public var asked: Int
        /// Of these, tiles with a body.
        public var stored: Int
        /// Of these, tiles that failed; they do not count for the mean.
        public var failed: Int
        /// Bytes of a stored body, empty tiles counted as 0.
        public var meanBytes: Double
        /// Half the width of the 95 % interval of ``meanBytes``; 0 when every tile answered, `nil` when too few did to tell.
        public var marginBytes: Double?
        /// Causes of failures and how often.
        public var causes: [String: Int]

        /// The estimate for all tiles of the zoom, in bytes.
        public var totalBytes: Double { meanBytes * Double(tiles) }
        /// Half the width of its 95 % interval, in bytes; `nil` when too few tiles answered to tell.
        public var totalMargin: Double? { marginBytes.map { $0 * Double(tiles) } }
    }

    /// What was learnt in all.
    public struct Sample: Sendable, Hashable {
        /// By zoom, ascending; zooms without tiles are left out.
        public var zooms: [ZoomSample]
        /// Tiles per second while sampling.
        public var tilesPerSecond: Double
    }

    /// Asks for up to `count` tiles of each zoom, as politely as the tileset says.
    ///
    /// The choice is uniform over the mask and depends on `seed` alone. The interval is Student's, with the correction for
    /// a finite population.
    /// - Throws: ``OriginsError`` when the origin cannot be opened; `CancellationError`.
    public static func sample(
        _ tileset: Tileset, mask: TileMask, zooms: ZoomRange, count: Int = 24, seed: UInt64 = 1,
        environment: [String: String]
    ) async throws -> Sample {
        let origin = try await OriginFactory.open(tileset, environment: environment)
        let answers = Mutex<[Int: [FetchedTile]]>([:])
        var chosen: [TileID] = []
        for zoom in zooms { chosen += pick(mask, zoom, count, seed: seed &+ UInt64(zoom)) }
        let start = ContinuousClock.now
        try await origin.fetch(chosen) { tiles in
            answers.withLock { answers in
                for tile in tiles { answers[tile.tile.zoom, default: []].append(tile) }
            }
        }
        let seconds = max((ContinuousClock.now - start) / .seconds(1), 1e-6)
        let byZoom = answers.withLock { $0 }
        let samples = byZoom.sorted { $0.key < $1.key }.map { zoom, tiles in
            summary(zoom, mask.count(atZoom: zoom), tiles)
        }
        return Sample(zooms: samples, tilesPerSecond: Double(chosen.count) / seconds)
    }

    /// Tiles chosen uniformly without repetition: a cell of a zoom that can be listed, then a descendant of it, thrown
    /// away when the mask does not hold it.
    static func pick(_ mask: TileMask, _ zoom: Int, _ count: Int, seed: UInt64) -> [TileID] {
        let total = mask.count(atZoom: zoom)
        guard total > UInt64(max(count, 0)) else {
            return total == 0 ? [] : Array(mask.tiles(atZoom: zoom, under: .root))
        }
        var coarse = zoom
        while coarse > 0, mask.count(atZoom: coarse) > 20_000 { coarse -= 1 }
        let cells = Array(mask.tiles(atZoom: coarse, under: .root))
        var generator = SplitMix64(state: seed)
        var chosen: Set<TileID> = []
        for _ in 0..<(count * 1_000) where chosen.count < count {
            guard let cell = cells.randomElement(using: &generator) else { break }
            let side = 1 << (zoom - coarse)
            let x = cell.x * side + Int.random(in: 0..<side, using: &generator)
            let y = cell.y * side + Int.random(in: 0..<side, using: &generator)
            if let tile = TileID(zoom: zoom, x: x, y: y), mask.contains(tile) { chosen.insert(tile) }
        }
        return chosen.sorted()
    }

    private static func summary(_ zoom: Int, _ total: UInt64, _ tiles: [FetchedTile]) -> ZoomSample {
        var sizes: [Double] = []
        var causes: [String: Int] = [:]
        var stored = 0
        for tile in tiles {
            switch tile.outcome {
            case .stored(let body, _, _):
                stored += 1
                sizes.append(Double(body.count))
            case .empty: sizes.append(0)
            // Nothing is known of the tiles of a sample, so none can be as it was.
            case .unchanged: causes["http-304", default: 0] += 1
            case .failed(let cause, _): causes[cause, default: 0] += 1
            }
        }
        let number = Double(sizes.count)
        let mean = sizes.isEmpty ? 0 : sizes.reduce(0, +) / number
        // One tile alone says nothing of others.
        var margin: Double? = UInt64(sizes.count) >= total ? 0 : nil
        if sizes.count > 1 {
            let variance = sizes.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (number - 1)
            let finite = total > 1 ? max(0, (Double(total) - number) / (Double(total) - 1)) : 0
            // Student's t for 95 %, within 5 % of the tables from 5 degrees of freedom on.
            margin = (1.96 + 2.6 / (number - 1)) * (variance / number * finite).squareRoot()
        }
        return ZoomSample(
            zoom: zoom, tiles: total, asked: tiles.count, stored: stored, failed: tiles.count - sizes.count,
            meanBytes: mean, marginBytes: margin, causes: causes)
    }
}

/// A small generator whose numbers depend on the seed alone (Steele, Lea, Flood: SplitMix, 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
