/// The format of a tileset's bodies; the raw value is the word MBTiles and `packages.json` use for it.
///
/// A new format is a case here, its row in `traits` and the scanner that the row names. Words of tilesets and pictures of the web page name
/// formats too: CONTRIBUTING.md lists the places.
public enum TileFormat: String, Codable, Sendable, Hashable, CaseIterable {
    /// Mapbox Vector Tile 1 or 2, stored as gzip.
    case mvt = "pbf"
    /// PNG raster, stored as it is.
    case png
    /// JPEG raster, stored as it is.
    case jpeg = "jpg"
    /// WebP raster, lossy or lossless, stored as it is.
    case webp
    /// AVIF raster, stored as it is.
    case avif
    /// MapLibre Tile, stored as gzip.
    case mlt

    /// The media type a server announces for such a body (without its Content-Encoding).
    public var mediaType: String { traits.mediaType }
}
