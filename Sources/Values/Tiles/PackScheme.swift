public import Errors

/// How tiles are grouped into packs: bands of zooms, and for each the zoom of the tile that names a pack.
///
/// A pack holds all tiles of its band that are its index tile or lie below it. Packs do not depend on regions, so regions that
/// overlap share them.
public struct PackScheme: Hashable, Sendable {
    /// One band.
    public struct Band: Hashable, Sendable {
        /// The zooms whose tiles travel together.
        public let zooms: ZoomRange
        /// The zoom of the index tile; not deeper than `zooms.min`.
        public let indexZoom: Int

        /// Makes a band, or `nil` when the index zoom is negative or deeper than the zooms.
        public init?(zooms: ZoomRange, indexZoom: Int) {
            guard 0...zooms.min ~= indexZoom else { return nil }
            self.zooms = zooms
            self.indexZoom = indexZoom
        }
    }

    /// The bands, ascending; no zoom is in two of them.
    public let bands: [Band]

    /// The default grouping of tilesets: packs of at most 1,365 tiles, as many as Mapbox's largest has.
    ///
    /// Packs of 1,365, 341, 1,360, 1,280, 1,280, 1,280 and 1,280 tiles. Down to zoom 14 a country has a tenth of the packs that
    /// ``mapbox`` gives it (docs/decisions/0040-bands-of-tile-packs.md).
    public static let standard = PackScheme(
        trusted: [(0, 5, 0), (6, 10, 6), (11, 14, 9), (15, 16, 11), (17, 18, 13), (19, 20, 15), (21, 22, 17)]
            .compactMap { low, high, index in Band(zooms: ZoomRange(trusted: low, high), indexZoom: index) })

    /// Mapbox's grouping, and an additional band below it.
    ///
    /// Packs of 1,365, 341, 85, 320 and 5,460 tiles. Source: Mapbox's offline guide, "Tile packs" (0–5, 6–10, 11–14 and
    /// 15–16 with index zooms 0, 6, 11 and 12); Mapbox has no zooms 17–22; here they are grouped below tiles of zoom
    /// 16.
    public static let mapbox = PackScheme(
        trusted: [(0, 5, 0), (6, 10, 6), (11, 14, 11), (15, 16, 12), (17, 22, 16)].compactMap { low, high, index in
            Band(zooms: ZoomRange(trusted: low, high), indexZoom: index)
        })

    private static let named = ["standard": standard, "mapbox": mapbox]

    private init(trusted bands: [Band]) { self.bands = bands }

    /// Zooms of a range that are in no band, ascending: their tiles would be in no pack.
    public func uncovered(_ zooms: ZoomRange) -> [Int] {
        zooms.filter { zoom in !bands.contains { $0.zooms.contains(zoom) } }
    }

    /// Reads bands as they are written: `0-5@0,6-10@6,11-14@11,15-16@12`, or the name of a grouping: `standard` or `mapbox`.
    ///
    /// - Throws: ``TilesError`` `.badZoom` for an invalid band, and for bands that overlap or do not ascend.
    public init(parsing text: String) throws(TilesError) {
        if let named = Self.named[text] {
            self = named
            return
        }
        var bands: [Band] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
            guard halves.count == 2, let index = Int(halves[1]),
                let band = Band(zooms: try ZoomRange(parsing: halves[0]), indexZoom: index)
            else {
                throw TilesError(
                    .badZoom,
                    "Pack band '\(part.prefix(40))' cannot be read; write zooms and the zoom of their index tile, which must not be "
                        + "deeper: 11-14@9. You can also give 'standard' or 'mapbox'.")
            }
            if let last = bands.last, last.zooms.max >= band.zooms.min {
                throw TilesError(
                    .badZoom,
                    "Pack bands \(last.zooms) and \(band.zooms) overlap or do not ascend; each zoom can be in only one band."
                )
            }
            bands.append(band)
        }
        self.init(trusted: bands)
    }
}

extension PackScheme: CustomStringConvertible {
    /// As ``init(parsing:)`` reads it.
    public var description: String { bands.map { "\($0.zooms)@\($0.indexZoom)" }.joined(separator: ",") }
}

extension PackScheme {
    /// The tiles of a band below one index tile.
    public struct Pack: Hashable, Sendable {
        /// The tile that names it.
        public let index: TileID
        /// The zooms of its tiles, none above the index tile's.
        public let zooms: ZoomRange

        /// Makes a pack from its parts.
        ///
        /// Zooms above the index tile's are moved down to it.
        public init(index: TileID, zooms: ZoomRange) {
            self.index = index
            self.zooms = ZoomRange(
                trusted: Swift.max(zooms.min, index.zoom), Swift.max(zooms.max, index.zoom))
        }

        /// The number of tiles of the complete pack.
        public var size: UInt64 {
            zooms.reduce(0) { $0 + 1 << UInt64(2 * ($1 - index.zoom)) }
        }

        /// Whether all of its tiles are in a mask.
        public func isComplete(in mask: TileMask) -> Bool {
            zooms.max <= mask.maxZoom && mask.restricted(to: index).count(in: zooms) == size
        }
    }

    /// The packs that a mask's tiles at some zooms are in, band by band, along the Hilbert curve within a band.
    ///
    /// At most as many as the mask has index tiles. Zooms that no band has are in no pack.
    public func packs(of mask: TileMask, zooms: ZoomRange) -> [Pack] {
        bands.flatMap { band -> [Pack] in
            guard let span = band.zooms.intersection(zooms), span.min <= mask.maxZoom else { return [] }
            return mask.tiles(atZoom: band.indexZoom, under: .root).filter {
                band.indexZoom == span.min || mask.restricted(to: $0).count(in: span) > 0
            }.map { Pack(index: $0, zooms: span) }
        }
    }

    /// The mask extended so that every pack with at least one tile is complete; then packs can be shared with other
    /// regions.
    ///
    /// The operation is idempotent. Its maxZoom is the mask's.
    ///
    /// - Parameter zooms: The zooms of the job; bands without any of them are not changed.
    public func widened(_ mask: TileMask, zooms: ZoomRange) -> TileMask {
        mask.completed(
            bands.compactMap { band in
                guard let span = band.zooms.intersection(zooms), span.min <= mask.maxZoom else { return nil }
                return Band(
                    zooms: ZoomRange(trusted: span.min, Swift.min(span.max, mask.maxZoom)), indexZoom: band.indexZoom)
            })
    }
}

extension TileMask {
    /// Adds to each index tile that has a tile of the band's zooms everything down to the band's last zoom.
    fileprivate func completed(_ bands: [PackScheme.Band]) -> TileMask {
        var builder = MaskBuilder(maxZoom: maxZoom)
        func complete(_ node: MaskNode, zoom: Int, above: Int) -> MaskNode {
            guard node.isPresent else { return above >= zoom ? .through(above) : .absent }
            var floor = above
            // A uniform node also covers all index tiles below it.
            let last = node.isUniform ? node.depth : zoom
            for band in bands where zoom...last ~= band.indexZoom && deepest(node) >= band.zooms.min {
                floor = max(floor, band.zooms.max)
            }
            if node.isUniform { return .through(max(node.depth, floor)) }
            if floor >= maxZoom { return .through(maxZoom) }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = complete(child(quadrant, of: node, zoom: zoom), zoom: zoom + 1, above: floor)
            }
            return builder.join(children, zoom: zoom)
        }
        let top = complete(root, zoom: 0, above: -1)
        return builder.mask(top)
    }

    /// The deepest zoom of a present node and what is below it; -1 for an absent one.
    private func deepest(_ node: MaskNode) -> Int {
        if node.isUniform { return node.depth }
        if node.isFlat { return maxZoom }
        return (0..<4).reduce(-1) { max($0, deepest(groups[node.group + $1])) }
    }
}
