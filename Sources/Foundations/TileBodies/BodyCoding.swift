public import Errors

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
