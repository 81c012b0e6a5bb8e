import Errors
import Tiles

/// The zooms of a WMTS's grid that are tiles of Packhorse, and what its matrices are called.
struct WMTSGrid {
    let zooms: ZoomRange
    let tileSize: Int
    /// What `{TileMatrix}` is in a template: a text with `{z}`, or the words of the zooms.
    let zoomText: String

    /// Reads a grid.
    ///
    /// A matrix is a zoom when its width in metres is that of our tiles within a millionth and its corner is that of the world within a
    /// metre. Its size is passed over, which some services cut, and its number too: a grid may begin at a deeper zoom. Matrices that
    /// limits name are taken alone, except where the limits name none of the grid.
    ///
    /// - Throws: ``TilesetsError`` `.badService` with the reason, in words that follow the name of the grid.
    init(_ grid: WMTSCapabilities.Grid, limits: [String]) throws(TilesetsError) {
        func refused(_ why: String) -> TilesetsError { TilesetsError(.badService, why) }
        guard WebMercator.isName(grid.system) else {
            throw refused(grid.system.isEmpty ? "names no reference system" : "is in \(grid.system.prefix(60))")
        }
        var words: [Int: String] = [:]
        var sizes: Set<Int> = []
        var why = "has no matrices"
        let limits = Set(limits)
        let named = grid.matrices.filter { limits.contains($0.id) }
        for matrix in named.isEmpty ? grid.matrices : named {
            guard matrix.width == matrix.height, matrix.width == 256 || matrix.width == 512 else {
                why = "has tiles of \(matrix.width) × \(matrix.height) pixels; 256 or 512 are stored"
                continue
            }
            // The standard's pixel of 0.28 mm.
            guard let zoom = WebMercator.zoom(ofTileWidth: matrix.scale * 0.000_28 * Double(matrix.width)) else {
                why = "has other scales than GoogleMapsCompatible (1:\(matrix.scale) in '\(matrix.id.prefix(40))')"
                continue
            }
            guard matrix.corner.count == 2, WebMercator.isCorner(matrix.corner[0], matrix.corner[1]) else {
                why =
                    "begins at \(matrix.corner.map { "\($0)" }.joined(separator: " ")) and not in the corner of the world"
                continue
            }
            if zoom <= TileID.maxZoom { words[zoom] = words[zoom] ?? matrix.id }
            sizes.insert(matrix.width)
        }
        guard sizes.count == 1, let tileSize = sizes.first, let zooms = Self.longestRun(words.keys.sorted()) else {
            throw refused(sizes.count > 1 ? "has tiles of several sizes" : why)
        }
        (self.zooms, self.tileSize) = (zooms, tileSize)
        zoomText = Self.text(zooms.map { words[$0] ?? "\($0)" }, first: zooms.min)
    }

    private static func longestRun(_ zooms: [Int]) -> ZoomRange? {
        var best: ClosedRange<Int>?
        var run: ClosedRange<Int>?
        for zoom in zooms {
            run = run.flatMap { $0.upperBound + 1 == zoom ? $0.lowerBound...zoom : nil } ?? zoom...zoom
            if let now = run, now.count > best?.count ?? 0 { best = now }
        }
        return best.flatMap { ZoomRange(min: $0.lowerBound, max: $0.upperBound) }
    }

    /// `EPSG:900913:{z}` where the names are numbered so, else `{z:4=00,01,02}`.
    private static func text(_ words: [String], first: Int) -> String {
        let number = "\(first)"
        for place in words[0].ranges(of: number) {
            let (before, after) = (words[0][..<place.lowerBound], words[0][place.upperBound...])
            if words.enumerated().allSatisfy({ $1 == "\(before)\(first + $0)\(after)" }) {
                return ServiceTemplate.escaped(String(before)) + "{z}" + ServiceTemplate.escaped(String(after))
            }
        }
        return "{z:\(first)=" + words.map(ServiceTemplate.escaped).joined(separator: ",") + "}"
    }
}
