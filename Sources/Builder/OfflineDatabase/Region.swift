internal import PackageFiles
internal import StyleFormat
internal import Tiles

/// The tiles of one source, by zoom.
struct TileSpan {
    let source: ClientStyle.TileSource
    private var areas: [Int: TileRectangles] = [:]

    init(_ source: ClientStyle.TileSource) { self.source = source }

    mutating func add(_ tile: TileID) { areas[tile.zoom, default: TileRectangles(zoom: tile.zoom)].add(tile.x, tile.y) }

    /// Whether a tile was added; exact for columns whose tiles came in order.
    func contains(_ tile: TileID) -> Bool {
        areas[tile.zoom]?.columns[tile.x]?.contains { $0.contains(tile.y) } ?? false
    }

    /// From the shallowest to the deepest tile; `nil` without tiles.
    var zooms: ZoomRange? {
        guard let least = areas.keys.min(), let most = areas.keys.max() else { return nil }
        return ZoomRange(min: least, max: most)
    }

    /// The tiles of a zoom, in order.
    func area(_ zoom: Int) -> TileRectangles {
        var area = areas[zoom] ?? TileRectangles(zoom: zoom)
        area.joinRuns()
        return area
    }
}

/// Chooses the region for which the database is complete for a client.
enum Region {
    /// More polygons than this make a client slow; a coarser area is also correct.
    static let maxRectangles = 4_096

    /// The zooms and the area for which every tile that a client counts is in the file.
    ///
    /// The area is a box when the tiles fill one at every zoom, and the rectangles they make otherwise: with a box
    /// around an irregular area a client would count tiles that were not fetched, and the region would never be
    /// complete.
    static func definition(_ style: ClientStyle, _ spans: [TileSpan], ratio: Int) throws -> RegionDefinition {
        guard let first = spans.first, let zooms = first.zooms else {
            throw PackagesError(.badSpec, "A region without tiles cannot be defined.")
        }
        let (least, most) = mapZooms(spans)
        return RegionDefinition(
            styleURL: style.url, minZoom: least, maxZoom: most, pixelRatio: Double(ratio),
            includesIdeographs: style.ideographs, area: try area(first, zooms))
    }

    private static func mapZooms(_ spans: [TileSpan]) -> (Double, Double) {
        var (lows, highs): ([Double], [Double]) = ([], [])
        var (allLows, allHighs): ([Double], [Double]) = ([], [])
        for span in spans {
            guard let zooms = span.zooms else { continue }
            let client = ClientZooms(type: span.source.type, tileSize: span.source.tileSize)
            allLows.append(client.mapZoom(zooms.min))
            allHighs.append(client.mapZoom(zooms.max))
            // A client requests nothing beyond the zooms of a source.
            if span.source.minZoom < zooms.min { lows.append(client.mapZoom(zooms.min)) }
            if span.source.maxZoom > zooms.max { highs.append(client.mapZoom(zooms.max)) }
        }
        let most = highs.min() ?? allHighs.max() ?? 0
        return (min(lows.max() ?? allLows.min() ?? 0, most), most)
    }

    private static func area(_ span: TileSpan, _ zooms: ZoomRange) throws -> RegionDefinition.Area {
        let deepest = span.area(zooms.max)
        if let bounds = deepest.bounds, fills(bounds, span: span, zooms: zooms) {
            let box = RegionDefinition.box(bounds, zoom: zooms.max, inset: zooms.max)
            return .bounds(south: box.south, west: box.west, north: box.north, east: box.east)
        }
        var area = deepest
        var rectangles = area.rectangles()
        while rectangles.count > maxRectangles, area.zoom > 0 {
            area = area.wholeParents()
            rectangles = area.rectangles()
        }
        guard !rectangles.isEmpty else {
            throw PackagesError(.badSpec, "The package's tiles are too scattered for a region; split it.")
        }
        let text = RegionDefinition.multiPolygon(rectangles, zoom: area.zoom, inset: zooms.max)
        return .geometry(text, Geometry())
    }

    /// Whether every tile of a box, and every tile above them from the shallowest zoom on, exists.
    private static func fills(_ bounds: TileRectangles.Rectangle, span: TileSpan, zooms: ZoomRange) -> Bool {
        for zoom in zooms {
            let shift = zooms.max - zoom
            let columns = (bounds.columns.lowerBound >> shift)...(bounds.columns.upperBound >> shift)
            let rows = (bounds.rows.lowerBound >> shift)...(bounds.rows.upperBound >> shift)
            let area = span.area(zoom)
            for column in columns {
                guard let runs = area.columns[column],
                    runs.contains(where: { $0.lowerBound <= rows.lowerBound && rows.upperBound <= $0.upperBound })
                else { return false }
            }
        }
        return true
    }
}
