internal import CatalogFormat
internal import Tiles

/// Packages that are listed as parts, seen as one.
extension CatalogList {
    /// The entries of a package's parts, in the order of their numbers.
    func parts(of id: String) -> [CatalogEntry] {
        packages.filter { $0.part?.of == id }.sorted { $0.part?.number ?? 0 < $1.part?.number ?? 0 }
    }

    /// The listed package of an id; of a package in parts all of them as one entry, whose file is that of the first.
    func whole(_ id: String) -> CatalogEntry? {
        packages.first { $0.id == id && $0.part == nil } ?? CatalogEntry(parts: parts(of: id))
    }

    /// The version of the listed package of an id; `nil` when it is not listed.
    func version(of id: String) -> Int32? { packages.filter { $0.wholeID == id }.map(\.version).max() }

    /// All packages, those in parts as one entry each, ascending by id.
    var wholes: [CatalogEntry] {
        let groups = Dictionary(grouping: packages.filter { $0.part != nil }) { $0.part?.of ?? "" }
        let joined = groups.values.compactMap { parts in
            CatalogEntry(parts: parts.sorted { $0.part?.number ?? 0 < $1.part?.number ?? 0 })
        }
        var list = CatalogList(packages: packages.filter { $0.part == nil } + joined)
        list.sort()
        return list.packages
    }
}

extension CatalogEntry {
    /// The parts of a package as one entry; `nil` without parts.
    ///
    /// Masks that cannot be read are left out.
    init?(parts: [CatalogEntry]) {
        guard let first = parts.first, let part = first.part else { return nil }
        // A mask that cannot be read has no area to compare.
        let mask = TileMask(union: parts.compactMap { try? TileMask(cartoText: $0.tileMask) })
        let tiles = parts.compactMap(\.tiles)
        self.init(
            id: part.of, version: parts.map(\.version).max() ?? first.version, size: Self.sum(parts.map(\.size)),
            url: first.url, tileMask: mask?.cartoWire ?? first.tileMask, metainfo: first.metainfo, sha256: first.sha256,
            tilesHash: first.tilesHash, attribution: first.attribution, format: first.format, dataDate: first.dataDate,
            sourceBuild: first.sourceBuild, encoding: first.encoding, tileSize: first.tileSize, tileset: first.tileset,
            tiles: tiles.count == parts.count ? Self.sum(tiles) : nil, minZoom: first.minZoom,
            maxZoom: first.maxZoom, layers: first.layers, failedTiles: first.failedTiles,
            listedFiles: first.files.isEmpty ? nil : first.files)
    }

    /// A sum of numbers out of a list, which nothing limits.
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0) { sum, number in
            let (result, overflows) = sum.addingReportingOverflow(number)
            return overflows ? .max : result
        }
    }
}
