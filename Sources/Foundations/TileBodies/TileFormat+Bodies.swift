internal import Errors

extension TileFormat {
    /// The format of a stored body by its whole content, packed or not, whatever metadata say; `nil` for other bytes.
    ///
    /// - Parameter limit: The most bytes that it may unpack to.
    package init?(content body: [UInt8], limit: Int = Gzip.defaultLimit) {
        if let picture = body.withUnsafeBytes({ TileFormat(pictureBeginning: $0) }) {
            self = picture
            return
        }
        // Other bytes are of no format that is read here.
        guard !body.isEmpty, let plain = try? Self.unpacked(body, limit: limit) else { return nil }
        let found = plain.withUnsafeBytes { bytes -> TileFormat? in
            if let picture = TileFormat(pictureBeginning: bytes) { return picture }
            // A packed body of no bytes is a vector tile without layers.
            if bytes.isEmpty { return .mvt }
            return TileFormat(vectorTile: bytes)
        }
        guard let found else { return nil }
        self = found
    }

    /// Whether a stored body is a vector tile without layers, which can be of every encoding: unpacked, it has no bytes.
    package static func hasNoLayers(_ body: [UInt8]) -> Bool {
        // Nothing that unpacks to no bytes is longer, but for a name in its header.
        guard body.count <= 256, Gzip.isGzip(body) || body.withUnsafeBytes({ Zlib.begins($0) }) else { return false }
        return (try? unpacked(body, limit: 256))?.isEmpty == true
    }

    private static func unpacked(_ body: [UInt8], limit: Int) throws(TileBodiesError) -> [UInt8] {
        if Gzip.isGzip(body) { return try Gzip.decompress(body, limit: limit) }
        guard body.withUnsafeBytes({ Zlib.begins($0) }) else { return body }
        // The first two bytes can be chance.
        do throws(TileBodiesError) { return try Zlib.decompress(body, limit: limit) } catch { return body }
    }

    /// The encoding of an unpacked vector tile with layers; `nil` for other bytes.
    package init?(vectorTile bytes: UnsafeRawBufferPointer) {
        if MLTScanner.recognises(bytes) {
            self = .mlt
        } else if (try? VectorTileScanner.check(bytes)) != nil {
            self = .mvt
        } else {
            return nil
        }
    }

    /// What bytes of no known format are, in words that follow "they are"; `nil` when they are not recognised.
    package static func otherKind(of body: [UInt8]) -> String? {
        body.withUnsafeBytes { DocumentSniffer.signature(of: $0) }
    }

    /// Whether a stored body begins as one of an archive of this format may: a picture may be of any picture format.
    package func admits(_ body: UnsafeRawBufferPointer) -> Bool {
        traits.begins(body) || !traits.isVector && TileFormat(pictureBeginning: body) != nil
    }
}
