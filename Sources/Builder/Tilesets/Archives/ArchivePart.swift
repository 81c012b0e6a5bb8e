public import Tiles

/// One archive of a source that consists of several, and the tiles that it has.
///
/// Its text is `ZOOMS ADDRESS`, `ZOOMS@Z ADDRESS` or `ZOOMS@Z/X/Y ADDRESS`, with `=BYTES` before the space where the size is known:
/// `13-18@6/33/22=615000000000 https://tiles.example.com/6-33-22.pmtiles`.
public struct ArchivePart: Sendable, Hashable {
    /// Which tiles of its zooms it has.
    public enum Extent: Sendable, Hashable {
        /// All.
        case world
        /// Those below one tile.
        case cell(TileID)
        /// It stands for an archive for each tile of this zoom, whose place is in the address as `{z}`, `{x}` and `{y}`.
        case cells(zoom: Int)
    }

    /// The zooms of its tiles.
    public let zooms: ZoomRange
    /// Which tiles of these zooms it has.
    public let extent: Extent
    /// Bytes of the file, as an index says it; `nil` = not said.
    public let size: UInt64?
    /// An absolute path, or a URL.
    public let address: String

    init(_ zooms: ZoomRange, _ extent: Extent, size: UInt64? = nil, at address: String) {
        (self.zooms, self.extent, self.size, self.address) = (zooms, extent, size, address)
    }

    /// Reads the text.
    public init?(_ text: String) {
        guard let space = text.firstIndex(of: " ") else { return nil }
        var head = text[..<space]
        address = String(text[text.index(after: space)...])
        if let mark = head.firstIndex(of: "=") {
            guard let size = UInt64(head[head.index(after: mark)...]) else { return nil }
            self.size = size
            head = head[..<mark]
        } else {
            size = nil
        }
        if let mark = head.firstIndex(of: "@") {
            let place = String(head[head.index(after: mark)...])
            if let cell = TileID(place) {
                extent = .cell(cell)
            } else if let zoom = Int(place), 0...TileID.maxZoom ~= zoom {
                extent = .cells(zoom: zoom)
            } else {
                return nil
            }
            head = head[..<mark]
        } else {
            extent = .world
        }
        guard let zooms = try? ZoomRange(parsing: String(head)), !address.isEmpty else { return nil }
        self.zooms = zooms
    }

    /// ``init(_:)`` reads it back.
    public var text: String {
        let place =
            switch extent {
            case .world: ""
            case .cell(let cell): "@\(cell)"
            case .cells(let zoom): "@\(zoom)"
            }
        return "\(zooms)\(place)\(size.map { "=\($0)" } ?? "") \(address)"
    }

    /// The zoom of the tile or tiles that it is divided by; `nil` for the world.
    public var cellZoom: Int? {
        switch extent {
        case .world: nil
        case .cell(let cell): cell.zoom
        case .cells(let zoom): zoom
        }
    }

    /// Whether it is on a web server or in a bucket.
    public var isRemote: Bool { SourceRow.isWeb(address[...]) }

    /// How many archives ``parts(for:zooms:)`` gives at most, without making them.
    func count(for mask: TileMask, zooms wanted: ZoomRange) -> UInt64 {
        guard zooms.intersection(wanted) != nil else { return 0 }
        return if case .cells(let zoom) = extent { mask.count(atZoom: zoom) } else { 1 }
    }

    /// The archives of it that tiles of a mask can be in: a template becomes one for each tile of its zoom.
    func parts(for mask: TileMask, zooms wanted: ZoomRange) -> [ArchivePart] {
        guard let common = zooms.intersection(wanted), common.min <= mask.maxZoom else { return [] }
        switch extent {
        case .world: return [self]
        case .cell(let cell): return mask.restricted(to: cell).count(in: common) > 0 ? [self] : []
        case .cells(let zoom):
            return mask.tiles(atZoom: zoom, under: .root).filter { mask.restricted(to: $0).count(in: common) > 0 }
                .map { cell in
                    let address = address.replacing("{z}", with: "\(cell.zoom)").replacing("{x}", with: "\(cell.x)")
                        .replacing("{y}", with: "\(cell.y)")
                    return ArchivePart(zooms, .cell(cell), size: size, at: address)
                }
        }
    }
}
