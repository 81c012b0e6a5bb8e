package import TileBodies
package import Tiles

/// The matrices of a pyramid of tiles, found tile by tile.
package struct GeoPackageGrid {
    /// Metres from the middle of Web Mercator's square to its edges: half of the equator of a sphere of 6,378,137 m.
    package static let edge = 20_037_508.342_789_244
    /// The formats of pictures that a GeoPackage may hold (OGC 12-128r17, clauses 2.2.4 and 2.2.5, annex F.3).
    package static let formats: Set<TileFormat> = [.png, .jpeg, .webp]

    /// The grid of one zoom.
    package struct Matrix {
        /// 0 to the deepest zoom of tiles.
        package let zoom: Int
        /// The pictures of the zoom.
        package let size: PictureHeader.Size

        /// Metres of a pixel; so the matrix has exactly the size of the map.
        package var pixel: (width: Double, height: Double) {
            let tiles = Double(1 << zoom)
            return (2 * edge / (tiles * Double(size.width)), 2 * edge / (tiles * Double(size.height)))
        }
    }

    /// By zoom, ascending; zooms without tiles have none.
    package private(set) var matrices: [Matrix] = []
    /// Whether a picture is WebP, which readers must support.
    package private(set) var hasWebP = false
    private var columns = 0...0
    private var rows = 0...0

    /// A grid without tiles.
    package init() {}

    /// Adds a tile; tiles come by zoom.
    ///
    /// - Throws: ``PackagesError`` `unsupported` for what a GeoPackage cannot hold.
    package mutating func add(_ tile: TileID, _ body: [UInt8]) throws(PackagesError) {
        let (format, size) = body.withUnsafeBytes { (TileFormat(pictureBeginning: $0), PictureHeader($0)?.size) }
        guard let format, Self.formats.contains(format), let size else {
            throw PackagesError(
                .unsupported, "Tile \(tile) is no PNG, JPEG or WebP picture, so a GeoPackage cannot hold it.")
        }
        if format == .webp { hasWebP = true }
        if let last = matrices.last, last.zoom == tile.zoom {
            guard last.size == size else {
                throw PackagesError(
                    .unsupported,
                    "Tile \(tile) has \(size) pixels, other tiles of its zoom have \(last.size); a GeoPackage has one size for each zoom. Choose another format, such as mbtiles."
                )
            }
            columns = min(columns.lowerBound, tile.x)...max(columns.upperBound, tile.x)
            rows = min(rows.lowerBound, tile.y)...max(rows.upperBound, tile.y)
        } else {
            matrices.append(Matrix(zoom: tile.zoom, size: size))
            (columns, rows) = (tile.x...tile.x, tile.y...tile.y)
        }
    }

    /// The edges of the tiles of the deepest zoom, in metres; readers show nothing outside of them.
    package var extent: (west: Double, south: Double, east: Double, north: Double) {
        guard let zoom = matrices.last?.zoom else { return (0, 0, 0, 0) }
        let tile = 2 * Self.edge / Double(1 << zoom)
        return (
            Double(columns.lowerBound) * tile - Self.edge, Self.edge - Double(rows.upperBound + 1) * tile,
            Double(columns.upperBound + 1) * tile - Self.edge, Self.edge - Double(rows.lowerBound) * tile
        )
    }
}
