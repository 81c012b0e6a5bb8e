public import Errors

/// The format of a tileset's bodies; the raw value is the word MBTiles and `packages.json` use for it.
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

extension TileFormat {
    /// Whether the first bytes of a body match this format; separates an HTML page from a tile.
    public func begins(_ body: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .mvt: body.starts(with: [0x1f, 0x8b, 0x08])
        case .png: body.starts(with: [0x89, 0x50, 0x4e, 0x47])
        case .jpeg: body.starts(with: [0xff, 0xd8])
        case .webp: body.starts(with: Array("RIFF".utf8)) && body.dropFirst(8).starts(with: Array("WEBP".utf8))
        }
    }
}

/// How a body is packed: the HTTP Content-Encoding it arrived with, or the compression of its archive.
public enum BodyCoding: Sendable, Hashable {
    /// No Content-Encoding: the bytes are the representation. They may still be a gzip file.
    case identity
    /// `gzip` or `x-gzip`.
    case gzip
    /// `deflate`: a zlib stream as the standard says, or a bare deflate stream as some servers send.
    case deflate
    /// Brotli, in archives.
    case brotli
    /// Zstandard, in archives.
    case zstd

    /// Undoes the coding.
    ///
    /// - Parameter limit: The most bytes that come out.
    /// - Throws: ``TileBodiesError`` `.badCoding`, `.tooLarge`.
    public func unpack(_ bytes: [UInt8], limit: Int) throws(TileBodiesError) -> [UInt8] {
        guard self != .identity else { return bytes }
        let inflater = Inflater(limit: limit)
        return try bytes.borrow { (input) throws(TileBodiesError) in
            try inflater.unpack(input, self)
            return [UInt8](inflater.output)
        }
    }
}

extension Inflater {
    /// Undoes a coding, which is not `.identity`.
    func unpack(_ input: UnsafeRawBufferPointer, _ coding: BodyCoding) throws(TileBodiesError) {
        switch coding {
        case .identity: preconditionFailure("The identity coding has nothing to unpack.")
        case .gzip: _ = try gunzip(input)
        case .deflate: try inflate(input)
        case .brotli: try unbrotli(input)
        case .zstd: try unzstd(input)
        }
    }
}
