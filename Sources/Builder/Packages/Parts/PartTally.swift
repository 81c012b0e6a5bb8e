internal import PackageFiles
internal import Tiles

/// Adds up what tiles take in the files of a package, by the tiles of a grid.
///
/// Of several formats the largest counts for each tile of the grid, so the sums are upper bounds for each of them.
struct PartTally {
    /// What a tile of the grid takes: cells of leaves, which leave free space behind them, and all others.
    ///
    /// Unit: 256 to a byte. Whole numbers, so that the sums do not depend on the order of the tiles.
    private struct Weight {
        var cells: UInt64 = 0
        var others: UInt64 = 0
    }
    private static let unit = 256.0

    private let layouts: [PackageLayout]
    /// Without free space in leaves, and with cells that take what they are.
    private let bare: PackageLayout.File
    private let plain: PackageLayout.File
    /// For each layout by the tiles of the grid.
    private var weights: [[TileID: Weight]]
    private var waste = LeafWaste()

    init(_ layouts: [PackageLayout], rows: Int, _ metadata: PackageMetadata) {
        let texts = [metadata.vectorLayersJSON, metadata.attribution, metadata.description].compactMap {
            $0?.utf8.count
        }
        // Names and rows that every file has.
        let bytes = texts.reduce(1_000, +)
        self.layouts = layouts
        weights = Array(repeating: [:], count: layouts.count)
        bare = PackageLayout.File(rows: rows, leafWaste: 0, metadata: bytes)
        plain = PackageLayout.File(rows: rows, leafWaste: 1, metadata: bytes)
    }

    /// Adds a tile.
    ///
    /// - Parameters:
    ///   - cell: The tile of the grid that it counts for.
    ///   - bytes: Bytes of its body.
    ///   - isNew: Whether a format that stores each body once stores this one for it.
    mutating func add(_ tile: TileID, at cell: TileID, bytes: Int, isNew: Bool) {
        let place = [tile.zoom, tile.x, tile.tmsY]
        for (number, layout) in layouts.enumerated() {
            let isStored = isNew || !layout.storesBodiesOnce
            // Rounded apart: which of two tiles with one body stores it depends on the order, and must not change the sum.
            let entry = whole(layout.entry(place, isStored, plain))
            let others = entry + (isStored ? whole(layout.body(bytes, bare)) : 0)
            let cells = isStored ? layout.body(bytes, plain) - layout.body(bytes, bare) : 0
            if cells > 0 { waste.add(cells) }
            weights[number][cell, default: Weight()].cells += whole(cells)
            weights[number][cell, default: Weight()].others += others
        }
    }

    private func whole(_ bytes: Double) -> UInt64 { UInt64(max(0, bytes * Self.unit).rounded()) }

    /// Bytes of a file without tiles.
    func fixed() -> UInt64 { UInt64(layouts.map { $0.fixed(plain) }.max() ?? 0) }

    /// Bytes by the zoom of a tile of the grid and its place on the curve of this zoom.
    func bytes() -> [Int: [UInt64: UInt64]] {
        let factor = waste.factor
        var bytes: [Int: [UInt64: UInt64]] = [:]
        for (cell, weight) in weights.joined() {
            let sum = UInt64(((Double(weight.others) + Double(weight.cells) * factor) / Self.unit).rounded(.up))
            bytes[cell.zoom, default: [:]][cell.hilbertPlace, default: 0].raise(to: sum)
        }
        return bytes
    }
}

/// How much space the leaves of a table take for each byte of its cells.
///
/// It depends on how often each size occurs, and not on the order of the cells.
struct LeafWaste {
    /// Cells by their size, in steps of ``step`` bytes.
    private var counts = [Int](repeating: 0, count: PackageDatabase.pageSize / Self.step + 1)
    private var sum = 0

    private static let step = 32
    private static let room = PackageDatabase.pageSize - 8

    /// Adds a cell.
    mutating func add(_ bytes: Double) {
        counts[min(counts.count - 1, max(0, Int(bytes) / Self.step))] += 1
        sum += 1
    }

    /// At least 1.
    var factor: Double {
        guard sum > 0 else { return 1 }
        var (leaves, used, cells) = (1, 0, 0)
        // Equal steps by the golden ratio visit all sizes evenly.
        var place = 0.5
        for _ in 0..<4_000 {
            place = (place + 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
            let size = min(self.size(at: Int(place * Double(sum))), Self.room)
            if used + size > Self.room {
                leaves += 1
                used = 0
            }
            used += size
            cells += size
        }
        return max(1, Double(leaves * PackageDatabase.pageSize) / Double(max(1, cells)))
    }

    /// The size of a cell by its number in the order of sizes.
    private func size(at number: Int) -> Int {
        var rest = number
        for (index, count) in counts.enumerated() {
            if rest < count { return index * Self.step + Self.step / 2 }
            rest -= count
        }
        return Self.room
    }
}

extension UInt64 {
    fileprivate mutating func raise(to other: UInt64) { self = Swift.max(self, other) }
}
