internal import SwiftProtobuf

extension PBMergeManifest {
    /// Largest manifest.
    ///
    /// Unit: bytes. The planet to z16 is 1.4 million batches of 34 bytes each.
    public static let maxBytes = 64 << 20

    /// The manifest in the form of the blob store.
    ///
    /// Equal manifests give equal bytes.
    ///
    /// - Throws: ``WireError`` `too-large` or `bad-body`.
    public func encoded() throws(WireError) -> [UInt8] {
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        do {
            let bytes: [UInt8] = try serializedBytes(options: options)
            if bytes.count <= Self.maxBytes { return bytes }
        } catch {
            throw WireError(.badBody, "The merge manifest of '\(packageID)' cannot be encoded: \(error).")
        }
        throw WireError(.tooLarge, "The merge manifest of '\(packageID)' exceeds \(Self.maxBytes) bytes.")
    }

    /// Decodes and checks a stored manifest.
    ///
    /// - Throws: ``WireError`` `too-large`, `bad-body` or `bad-value`.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.maxBytes else {
            throw WireError(.tooLarge, "The merge manifest has \(bytes.count) bytes; the limit is \(Self.maxBytes).")
        }
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = 8
        options.discardUnknownFields = true
        do {
            try self.init(serializedBytes: bytes, options: options)
        } catch {
            throw WireError(.badBody, "The bytes are not a merge manifest: \(error).")
        }
        guard zoomMin <= zoomMax, zoomMax <= 22, shards.allSatisfy({ $0.count == 32 }), bounds.count <= 1,
            bounds.allSatisfy(\.isFinite), shardFooters.isEmpty || shardFooters.count == shards.count,
            shardFooters.allSatisfy({ $0.isEmpty || $0.count == 32 })
        else {
            throw WireError(.badValue, "The merge manifest of '\(packageID)' has invalid zooms, digests or bounds.")
        }
        guard !withoutMbtiles || formats == ["pmtiles"] else {
            throw WireError(
                .badValue, "The merge manifest of '\(packageID)' leaves out MBTiles and needs other formats.")
        }
        try WireCheck.formats(formats)
        try WireCheck.text(style, atMost: 2048, "MergeManifest.style")
        try WireCheck.edition(edition)
    }
}
