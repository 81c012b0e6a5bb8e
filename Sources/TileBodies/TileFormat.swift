/// What the bodies of a tileset are; the raw value is the word MBTiles and `packages.json` use for it.
public enum TileFormat: String, Codable, Sendable, Hashable, CaseIterable {
    /// Mapbox Vector Tile 1 or 2, stored as gzip.
    case mvt = "pbf"
    /// PNG raster, stored as it is.
    case png
    /// JPEG raster, stored as it is.
    case jpeg = "jpg"
    /// WebP raster, lossy or lossless, stored as it is.
    case webp

    /// The media type a server announces for such a body (without its Content-Encoding).
    public var mediaType: String {
        switch self {
        case .mvt: "application/vnd.mapbox-vector-tile"
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .webp: "image/webp"
        }
    }
}

/// The HTTP Content-Encoding a body arrived with.
public enum BodyCoding: Sendable, Hashable {
    /// No Content-Encoding: the bytes are the representation. They may still be a gzip file.
    case identity
    /// `gzip` or `x-gzip`.
    case gzip
    /// `deflate`: a zlib stream as the standard says, or a bare deflate stream as some servers send.
    case deflate
}
