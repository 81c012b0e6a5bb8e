public import Errors
public import TileBodies
public import Tiles

/// The header's values about the rest of the file, for files on disk and on a web server.
extension PMTilesHeader {
    /// Packed directories and metadata are read up to this size, in bytes; a real root is at most 16 KiB, a real leaf some dozens.
    public static let maxDirectory: UInt64 = 16 << 20
    /// The largest depth of directories; real files have two levels.
    public static let maxDepth = 4
    /// What a directory may unpack to, in bytes: some four million entries.
    public static let maxUnpacked = 16 << 20

    /// Unpacks the bytes of a directory or of the metadata.
    ///
    /// - Parameters:
    ///   - offset: Their offset, for errors.
    ///   - name: What the file is called in errors.
    /// - Throws: ``ArchiveError`` `.badArchive` for damaged bytes, `.unsupported` for another packing.
    public func unpack(_ bytes: [UInt8], at offset: UInt64, of name: String) throws(ArchiveError) -> [UInt8] {
        guard let coding = Compression.coding(internalCompression) else {
            throw ArchiveError(
                .unsupported,
                "PMTiles file '\(name)' packs its directories with code \(internalCompression); supported are none, gzip, brotli and zstd."
            )
        }
        do throws(TileBodiesError) {
            return try coding.unpack(bytes, limit: 64 << 20)
        } catch {
            throw ArchiveError(
                .badArchive, "PMTiles file '\(name)' is damaged at byte \(offset): \(error.message).", cause: error)
        }
    }

    /// Decodes the bytes of a directory as they lie in the file.
    ///
    /// - Parameter limit: The most bytes that it may unpack to.
    /// - Throws: ``ArchiveError``.
    public func directory(
        _ bytes: [UInt8], at offset: UInt64, of name: String, limit: Int = maxUnpacked
    ) throws(ArchiveError) -> PMTilesDirectory {
        let unpacked = try unpack(bytes, at: offset, of: name)
        guard unpacked.count <= limit, let directory = PMTilesDirectory(unpacked) else {
            throw ArchiveError(.badArchive, "PMTiles file '\(name)' has a damaged directory at byte \(offset).")
        }
        return directory
    }

    /// The bytes of the file that an entry names: a body, or a leaf directory.
    ///
    /// - Throws: ``ArchiveError`` `.badArchive` when they lie outside their section.
    public func place(of entry: PMTilesDirectory.Entry, in name: String) throws(ArchiveError) -> Range<UInt64> {
        let section = entry.run > 0 ? tiles : leaves
        let end = entry.offset.addingReportingOverflow(entry.length)
        guard !end.overflow, end.partialValue <= section.length else {
            throw ArchiveError(.badArchive, "PMTiles file '\(name)': an entry points outside its section.")
        }
        // The section itself lies within the file, so this cannot overflow.
        return section.offset + entry.offset..<section.offset + end.partialValue
    }

    /// The zoom of a tile id, also of one deeper than this build reads; at most 31.
    public static func zoom(of id: UInt64) -> Int {
        var (zoom, first, count) = (0, UInt64(0), UInt64(1))
        while zoom < 31, id - first >= count {
            first += count
            count <<= 2
            zoom += 1
        }
        return zoom
    }

    /// The zooms that the header says, and those of a directory's entries where they go beyond them.
    ///
    /// Of a pointer only the first tile counts: its leaf is not read.
    public func zooms(with root: PMTilesDirectory) -> ZoomRange? {
        guard let first = root.entries.first, let last = root.entries.last else { return zooms }
        let low = min(Int(minZoom), Self.zoom(of: first.tile))
        let high = max(Int(maxZoom), Self.zoom(of: last.tile + (max(1, last.run) - 1)))
        return ZoomRange(min: min(low, TileID.maxZoom), max: min(high, TileID.maxZoom))
    }

    /// How the bodies are packed.
    ///
    /// - Throws: ``ArchiveError`` `.unsupported` when this build cannot read them.
    public func bodyCoding(of name: String) throws(ArchiveError) -> BodyCoding {
        guard let coding else {
            throw ArchiveError(
                .unsupported,
                "PMTiles file '\(name)' packs its tiles with code \(tileCompression); supported are none, gzip, brotli and zstd."
            )
        }
        return coding
    }
}
