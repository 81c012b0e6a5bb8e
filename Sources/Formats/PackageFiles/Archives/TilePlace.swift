internal import Tiles

/// Why a row of a file names no tile.
enum TilePlace {
    /// In words that follow the place.
    ///
    /// - Parameter row: Counted from the south or the north; both have the same limit.
    static func fault(zoom: Int64, column: Int64, row: Int64) -> String {
        guard zoom >= 0 else { return "there is no zoom \(zoom)" }
        guard zoom <= Int64(TileID.maxZoom) else {
            return "it is deeper than zoom \(TileID.maxZoom), the deepest that is read"
        }
        return "zoom \(zoom) has columns and rows from 0 to \((1 << zoom) - 1)"
    }

    /// A row whose three numbers are not all whole numbers.
    static let noNumbers = "its zoom, column and row are not all whole numbers"
}
