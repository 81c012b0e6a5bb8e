internal import PackageFiles
public import Tiles

/// Estimates the size of a package file from a sample of its tiles.
///
/// The model knows what ``PackageExport`` writes: the pages and rows of SQLite's trees, the directories of PMTiles, and
/// that equal bodies are stored once where a format does so. A body that occurs twice in the sample is assumed to be
/// shared by most such tiles (the sea).
public struct PackageForecast: Sendable {
    /// A sampled tile.
    public struct Tile: Sendable, Hashable {
        /// Which tile.
        public var tile: TileID
        /// Bytes of its body; 0 when there is no tile, so no row either.
        public var bytes: Int
        /// Equal for equal bodies.
        public var body: UInt64

        /// Makes a tile from its parts.
        public init(tile: TileID, bytes: Int, body: UInt64) {
            (self.tile, self.bytes, self.body) = (tile, bytes, body)
        }
    }

    /// A zoom: how many tiles it has in all packages together, and those of the sample.
    public typealias Zoom = (tiles: UInt64, sample: [Tile])

    /// The formats whose size can be estimated; the size of MapLibre's database depends on its style.
    public static let formats = PackageFormat.allCases.filter { $0.traits.layout != nil }

    let zooms: [Zoom]
    private let packages: Int
    private let metadata: Int
    /// Bodies that more than one tile of the sample has, and their bytes.
    private let repeated: [UInt64: Int]
    private let rows: Int
    /// Bytes of leaves for each byte of cells, where bodies lie in leaves of tables.
    private let leafWaste: Double

    /// The error of the model itself, as a share of the size and in bytes for each package.
    static let modelError = (share: 0.03, bytes: 12_288.0)

    /// Makes a forecast.
    ///
    /// - Parameters:
    ///   - packages: How many packages the tiles are in.
    ///   - metadata: Bytes of the metadata's texts, such as the list of vector layers.
    public init(_ zooms: [Zoom], packages: Int = 1, metadata: Int = 1_000) {
        self.zooms = zooms.filter { $0.tiles > 0 }
        self.packages = packages
        self.metadata = metadata
        var seen: [UInt64: (count: Int, bytes: Int)] = [:]
        for tile in zooms.flatMap(\.sample) where tile.bytes > 0 {
            seen[tile.body, default: (0, tile.bytes)].count += 1
        }
        repeated = seen.filter { $0.value.count > 1 }.mapValues(\.bytes)
        rows = Int(self.zooms.reduce(0.0) { $0 + Double($1.tiles) * Self.share(of: $1.sample) { $0.bytes > 0 } })
        leafWaste = Self.leafWaste(self.zooms, without: Set(repeated.keys))
    }

    /// Bytes of all packages' files in a format; `nil` if it cannot be estimated.
    public func size(as format: PackageFormat) -> SampledTotal? {
        guard let layout = format.traits.layout else { return nil }
        let file = file
        var total = SampledTotal()
        for zoom in zooms { total.add(zoom.sample.map { bytes(of: $0, layout, file) }, of: zoom.tiles) }
        total.add(exactly: Double(packages) * layout.fixed(file))
        if layout.storesBodiesOnce {
            total.add(exactly: Double(packages) * repeated.values.reduce(0) { $0 + layout.body($1, file) })
        }
        total.add(exactly: -layout.saved(file))
        total.widen(by: Self.modelError.share * total.value + Self.modelError.bytes * Double(packages).squareRoot())
        return total
    }

    /// What is the same in every file.
    var file: PackageLayout.File { PackageLayout.File(rows: rows, leafWaste: leafWaste, metadata: metadata) }

    /// What a tile adds to a file.
    ///
    /// - Parameter isAlone: Whether a body that other tiles have too counts for this one.
    func bytes(
        of tile: Tile, _ layout: PackageLayout, _ file: PackageLayout.File, isAlone: Bool = false
    ) -> Double {
        guard tile.bytes > 0 else { return 0 }
        let isNew = isAlone || !layout.storesBodiesOnce || repeated[tile.body] == nil
        let place = [tile.tile.zoom, tile.tile.x, tile.tile.tmsY]
        return (isNew ? layout.body(tile.bytes, file) : 0) + layout.entry(place, isNew, file)
    }

    private static let page = PackageDatabase.pageSize

    /// Simulates filling leaves with bodies of the sample in pseudo-random order, weighted by the number of tiles of
    /// each zoom.
    private static func leafWaste(_ zooms: [Zoom], without repeated: Set<UInt64>) -> Double {
        let pools = zooms.map { zoom in
            (zoom.sample.filter { $0.bytes > 0 && !repeated.contains($0.body) }.map(\.bytes), Double(zoom.tiles))
        }.filter { !$0.0.isEmpty }
        let all = pools.reduce(0) { $0 + $1.1 }
        guard all > 0 else { return 1 }
        var table = SQLiteSizes.Table(pageSize: page)
        var cells = 0
        // Deterministic: equal steps through each pool by the golden ratio, which visits all parts evenly.
        var place = 0.5
        for _ in 0..<4_000 {
            place = (place + 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
            var (rest, index) = (place * all, 0)
            while index + 1 < pools.count, rest >= pools[index].1 {
                rest -= pools[index].1
                index += 1
            }
            let sizes = pools[index].0
            let size = sizes[min(sizes.count - 1, Int(rest / pools[index].1 * Double(sizes.count)))]
            table.add(blob: size, others: 4)
            cells += SQLiteSizes.cell(blob: size, others: 4, number: 10_000, pageSize: page).cell
        }
        return max(1, Double(table.leaves * page) / Double(max(cells, 1)))
    }

    private static func share(of sample: [Tile], where holds: (Tile) -> Bool) -> Double {
        sample.isEmpty ? 1 : Double(sample.count(where: holds)) / Double(sample.count)
    }
}
