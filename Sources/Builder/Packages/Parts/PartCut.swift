internal import PackageFiles
internal import TextFormats
internal import Tiles

/// Cuts a package into parts of limited size: runs of the Hilbert curve, each with the low zooms of the whole package.
///
/// A pure function of the sizes of the tiles. A tile between the low zooms and the grid is in each part that has a place below it.
struct PartCut: Sendable {
    /// One part.
    struct Part: Hashable, Sendable {
        /// The place on the curve of the grid where it begins.
        let first: UInt64
        /// Where the next part begins; `nil` for the last one.
        let next: UInt64?
        /// Bytes of its file, as far as is known before it is written.
        let bytes: UInt64
    }

    /// Some tiles at one place: those that begin there, the upper zooms first.
    private struct Step: Sendable {
        let place: UInt64
        let tiles: [(zoom: Int, bytes: UInt64)]

        var bytes: UInt64 { tiles.reduce(0) { $0 + $1.bytes } }
    }

    /// The zoom of the places.
    let grid: Int
    /// Every part has all tiles of the zooms below this number.
    let common: Int
    /// Bytes that every part has: what a file has without tiles, and the tiles of the low zooms.
    let base: UInt64
    private let fixed: UInt64
    private let steps: [Step]

    /// Bytes of the package as one file.
    let total: UInt64

    /// The largest share of the limit that the low zooms may take.
    static let baseShare = 1.0 / 16

    /// Sorts the tiles.
    ///
    /// - Parameters:
    ///   - tiles: Bytes of each tile by its zoom and its place on the curve of that zoom; a tile at the zoom of the grid has the bytes of all
    ///     tiles below it too.
    ///   - grid: The deepest zoom of the tiles.
    ///   - fixed: Bytes of a file without tiles.
    init(_ tiles: [Int: [UInt64: UInt64]], grid: Int, fixed: UInt64, limit: UInt64) {
        var (low, common): (UInt64, Int) = (0, 0)
        for zoom in 0..<max(grid, 0) {
            let sum = low + (tiles[zoom]?.values.reduce(0, +) ?? 0)
            guard Double(sum) <= Double(limit) * Self.baseShare else { break }
            (low, common) = (sum, zoom + 1)
        }
        let base = fixed + low
        var places: [UInt64: [(zoom: Int, bytes: UInt64)]] = [:]
        var total = base
        for zoom in common...grid {
            for (place, bytes) in tiles[zoom] ?? [:] {
                places[place << UInt64(2 * (grid - zoom)), default: []].append((zoom, bytes))
                total += bytes
            }
        }
        (self.grid, self.common, self.fixed, self.base, self.total) = (grid, common, fixed, base, total)
        steps = places.map { Step(place: $0, tiles: $1) }.sorted { $0.place < $1.place }
    }

    /// The part that begins at a place: as many tiles as fit.
    ///
    /// - Parameters:
    ///   - place: 0, or where the part before ends.
    ///   - scale: What a byte of the sizes takes in the files.
    /// - Throws: `too-large` when not even the tiles of one place fit; it names the least limit that works.
    func part(from place: UInt64, limit: UInt64, scale: Double = 1) throws(PackagesError) -> Part {
        var bytes = base + reaching(place)
        var isEmpty = true
        for step in steps[index(of: place)...] {
            let more = step.bytes
            guard Self.scaled(bytes + more, scale) <= limit else {
                if isEmpty { throw tooLarge(step.place, bytes + more, limit: limit, scale: scale) }
                return Part(first: place, next: step.place, bytes: Self.scaled(bytes, scale))
            }
            bytes += more
            isEmpty = false
        }
        return Part(first: place, next: nil, bytes: Self.scaled(bytes, scale))
    }

    /// All parts.
    func parts(limit: UInt64, scale: Double = 1) throws(PackagesError) -> [Part] {
        var parts: [Part] = []
        var next: UInt64? = 0
        while let place = next {
            let part = try part(from: place, limit: limit, scale: scale)
            parts.append(part)
            next = part.next
        }
        return parts
    }

    /// Bytes of the tiles that begin before a place and reach into it.
    private func reaching(_ place: UInt64) -> UInt64 {
        var bytes: UInt64 = 0
        for zoom in common..<max(common, grid) {
            let shift = UInt64(2 * (grid - zoom))
            let begin = (place >> shift) << shift
            guard begin < place, let step = steps[index(of: begin)...].first, step.place == begin else { continue }
            bytes += step.tiles.first { $0.zoom == zoom }?.bytes ?? 0
        }
        return bytes
    }

    /// The number of the first step at a place or behind it.
    private func index(of place: UInt64) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func scaled(_ bytes: UInt64, _ scale: Double) -> UInt64 {
        scale == 1 ? bytes : UInt64(Double(bytes) * scale)
    }

    private func tooLarge(_ place: UInt64, _ bytes: UInt64, limit: UInt64, scale: Double) -> PackagesError {
        // Every place must fit, and with a larger limit there may be more low zooms in the base.
        let most = steps.map { reaching($0.place) + $0.bytes }.max() ?? 0
        let least = max(
            Self.scaled(base + most, scale),
            UInt64(Double(fixed + most) * scale / max(0.5, 1 - scale * Self.baseShare)) + 1)
        let tile = TileID(hilbertPlace: place, zoom: grid)?.description ?? "\(place)"
        return PackagesError(
            .tooLarge,
            "The tiles at and below \(tile) take \(Units.bytes(Self.scaled(bytes, scale))) with the low zooms, more than a file may have (\(Units.bytes(limit))). Try --max-file \(least), or fewer zooms."
        )
    }
}
