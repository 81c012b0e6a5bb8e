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

    /// The packages with these ids, those in parts as one entry each, ascending by id.
    func wholes(among ids: Set<String>) -> [CatalogEntry] {
        // By index: an entry that is copied changes the reference counts of all its members.
        let wanted = packages.indices.filter { ids.contains(packages[$0].part?.of ?? packages[$0].id) }
        return CatalogList(packages: wanted.map { packages[$0] }).wholes
    }

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
    /// Its size is that of all files. Tiles that several parts have count once. Masks that cannot be read are left out.
    init?(parts: [CatalogEntry]) {
        guard let first = parts.first, let part = first.part else { return nil }
        // A mask that cannot be read has no area to compare.
        let masks = parts.compactMap { try? TileMask(cartoText: $0.tileMask) }
        let mask = TileMask(union: masks)
        let tiles = parts.compactMap(\.tiles).map { max(0, $0) }
        let repeated = masks.count == parts.count ? Self.repeated(masks, in: mask, first) : 0
        self.init(
            id: part.of, version: parts.map(\.version).max() ?? first.version, size: Self.sum(parts.map(\.size)),
            url: first.url, tileMask: mask?.cartoWire ?? first.tileMask, metainfo: first.metainfo, sha256: first.sha256,
            tilesHash: first.tilesHash, attribution: first.attribution, format: first.format, dataDate: first.dataDate,
            sourceBuild: first.sourceBuild, encoding: first.encoding, tileSize: first.tileSize, tileset: first.tileset,
            tiles: tiles.count == parts.count ? max(tiles.max() ?? 0, Self.sum(tiles) - repeated) : nil,
            minZoom: first.minZoom,
            maxZoom: first.maxZoom, layers: first.layers, failedTiles: first.failedTiles,
            listedFiles: first.files.isEmpty ? nil : first.files)
    }

    /// How many tiles more the masks of parts have together than the mask of the package: those of low zooms, which each part has.
    ///
    /// Tiles that the source does not have are included, so that what is left is a lower bound of the package's tiles.
    private static func repeated(_ masks: [TileMask], in whole: TileMask?, _ entry: CatalogEntry) -> Int64 {
        guard let whole, let low = entry.minZoom, let high = entry.maxZoom, let zooms = ZoomRange(min: low, max: high)
        else { return 0 }
        let all = sum(masks.map { Int64(clamping: $0.count(in: zooms)) })
        return max(0, all - Int64(clamping: whole.count(in: zooms)))
    }

    /// The least bytes that a package of these entries has without the tiles that several of them have: these are in the smallest one
    /// too.
    ///
    /// - Parameter count: The number of files of another version that it is compared with. As many parts, or more, are compared with
    ///   all bytes.
    static func bytes(of entries: [CatalogEntry], comparedWith count: Int) -> UInt64 {
        let sizes = entries.map { max(0, $0.size) }
        guard entries.count > max(1, count), let least = sizes.min() else { return UInt64(sum(sizes)) }
        let (repeated, overflows) = least.multipliedReportingOverflow(by: Int64(entries.count - 1))
        return overflows ? 0 : UInt64(max(0, sum(sizes) - repeated))
    }

    /// A sum of numbers out of a list, which nothing limits.
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0) { sum, number in
            let (result, overflows) = sum.addingReportingOverflow(number)
            return overflows ? .max : result
        }
    }
}
