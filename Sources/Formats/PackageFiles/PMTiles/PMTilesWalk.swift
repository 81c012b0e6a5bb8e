internal import Errors
package import PMTiles
internal import TileBodies
package import Tiles

/// Walks the entries of a PMTiles file in order and compares them with header, metadata and mask.
package struct PMTilesWalk {
    private let file: PMTilesFile
    private let check: TileCheck
    private var entries: UInt64 = 0
    private var contents: UInt64 = 0
    /// The end of the bodies seen so far.
    private var end: UInt64 = 0
    private var isClustered = true
    private var perZoom: [Int: UInt64] = [:]
    /// Tiles of the mask, or all without one.
    package private(set) var inMask: UInt64 = 0
    /// The limit of tiles that are read: a few bytes can claim any number.
    private static let tileLimit = UInt64(UInt32.max)

    package init(_ file: PMTilesFile, _ check: TileCheck) {
        self.file = file
        self.check = check
    }

    /// Calls `each` for every tile along the Hilbert curve of each zoom, with the entry it is of.
    ///
    /// - Throws: `ArchiveError` when the directories are damaged, `bad-source` when they claim too many tiles, and what `each` throws.
    package mutating func run(
        _ report: inout VerifyReport,
        _ each: (TileID, PMTilesDirectory.Entry, inout VerifyReport) throws -> Void
    ) throws {
        try file.walk { try visit($0, into: &report, each) }
        report.tilesPerZoom = perZoom.sorted { $0.key < $1.key }.map { .init(zoom: $0.key, tiles: $0.value) }
        compareCounts(&report)
    }

    private mutating func visit(
        _ entry: PMTilesDirectory.Entry, into report: inout VerifyReport,
        _ each: (TileID, PMTilesDirectory.Entry, inout VerifyReport) throws -> Void
    ) throws {
        guard entry.run <= Self.tileLimit - min(Self.tileLimit, report.tiles) else {
            throw PackagesError(.badSource, "The file claims more than \(Self.tileLimit) tiles.")
        }
        entries += 1
        if entry.offset == end {
            contents += 1
            end += entry.length
        } else if entry.offset > end || entry.offset + entry.length > end {
            isClustered = false
        }
        for id in entry.tile..<entry.tile + entry.run {
            guard let tile = TileID(hilbertID: id) else {
                // What follows is deeper still.
                let rest = entry.tile + entry.run - id
                report.tiles += rest
                return report.addUnusable(
                    "bad-tile", at: "id \(id)",
                    because: TilePlace.fault(zoom: Int64(PMTilesHeader.zoom(of: id)), column: 0, row: 0), tiles: rest)
            }
            report.tiles += 1
            perZoom[tile.zoom, default: 0] += 1
            if check.isWelcome(tile, &report) { inMask += 1 }
            try each(tile, entry, &report)
        }
    }

    private func compareCounts(_ report: inout VerifyReport) {
        let header = file.header
        if header.isClustered, !isClustered {
            report.add(
                "bad-header", at: "header",
                because: "it says that bodies are in the order of their tiles, but they are not")
        }
        var counts = [
            ("addressed tiles", header.addressedTiles, report.tiles), ("tile entries", header.tileEntries, entries),
        ]
        // If bodies are in any order, counting them would need a list of all of them.
        if isClustered { counts.append(("tile contents", header.tileContents, contents)) }
        for (name, stated, found) in counts where stated != 0 && stated != found {
            report.add("wrong-count", at: "header", because: "it says \(stated) \(name), there are \(found)")
        }
    }
}
