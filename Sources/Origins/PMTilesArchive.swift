import Glibc
import Synchronization
import TileBodies
import Tiles
import Tilesets

/// A local PMTiles file, version 3, read with `pread`.
///
/// Total on hostile files.
final class PMTilesArchive: TileArchive {
    /// Packed directories are read up to this size, in bytes; a real root is at most 16 KiB, a real leaf some dozens.
    private static let maxDirectory: UInt64 = 16 << 20
    /// Levels of directories followed at most; real files have two.
    private static let maxDepth = 4
    private static let cachedLeaves = 64

    let header: PMTilesHeader
    private let path: String
    private let limit: Int
    private let file: Int32
    private let root: PMTilesDirectory
    private let coding: BodyCoding
    private let leaves = Mutex<[UInt64: PMTilesDirectory]>([:])

    init(path: String, limit: Int) throws(OriginsError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw OriginsError(
                .unreadable, "PMTiles file '\(path)' cannot be read: \(String(cString: strerror(errno))).")
        }
        do throws(OriginsError) {
            var status = stat()
            guard fstat(file, &status) == 0, status.st_size >= 0, status.st_mode & S_IFMT == S_IFREG else {
                throw OriginsError(.unreadable, "PMTiles file '\(path)' is not a regular file.")
            }
            let size = UInt64(status.st_size)
            let bytes = try Self.bytes(of: file, at: 0, min(size, UInt64(PMTilesHeader.size)), path)
            let header = try PMTilesHeader(bytes, fileSize: size, path: path)
            guard let coding = header.coding else {
                throw OriginsError(
                    .unsupported,
                    "PMTiles file '\(path)' packs its tiles with code \(header.tileCompression); gzip and none are read."
                )
            }
            root = try Self.directory(of: file, header.root, header, path)
            self.header = header
            self.coding = coding
        } catch {
            close(file)
            throw error
        }
        self.file = file
        self.path = path
        self.limit = limit
    }

    deinit { close(file) }

    func read(
        _ tiles: [TileID], each: (TileID, Result<(body: [UInt8], coding: BodyCoding)?, OriginsError>) -> Void
    ) {
        for tile in tiles {
            do throws(OriginsError) {
                each(tile, .success(try body(of: tile).map { (body: $0, coding: coding) }))
            } catch {
                each(tile, .failure(error))
            }
        }
    }

    /// What the header and the metadata say.
    func metadata() throws(OriginsError) -> SourceMetadata {
        var metadata = SourceMetadata()
        metadata.format = header.format
        metadata.zooms = header.zooms
        metadata.bounds = SourceMetadata.bounds(header.bounds)
        if header.metadata.length > 0 {
            metadata.merge(metadataJSON: try Self.unpacked(of: file, header.metadata, header, path))
        }
        return metadata
    }

    private func body(of tile: TileID) throws(OriginsError) -> [UInt8]? {
        let id = tile.hilbertID
        var directory = root
        for _ in 0..<Self.maxDepth {
            guard let entry = directory.entry(for: id) else { return nil }
            let section = entry.run > 0 ? header.tiles : header.leaves
            let end = entry.offset.addingReportingOverflow(entry.length)
            guard !end.overflow, end.partialValue <= section.length else {
                throw OriginsError(
                    .badArchive, "PMTiles file '\(path)': the entry of \(tile) points outside its section.")
            }
            // The section itself lies within the file, so this cannot overflow.
            let offset = section.offset + entry.offset
            if entry.run > 0 {
                guard entry.length <= UInt64(limit) else {
                    throw OriginsError(.badArchive, "the tile has \(entry.length) bytes; the limit is \(limit)")
                }
                return try Self.bytes(of: file, at: offset, entry.length, path)
            }
            directory = try leaf(at: offset, entry.length)
        }
        throw OriginsError(.badArchive, "PMTiles file '\(path)' nests its directories deeper than \(Self.maxDepth).")
    }

    private func leaf(at offset: UInt64, _ length: UInt64) throws(OriginsError) -> PMTilesDirectory {
        if let known = leaves.withLock({ $0[offset] }) { return known }
        let section = PMTilesHeader.Section(offset: offset, length: length)
        let leaf = try Self.directory(of: file, section, header, path)
        leaves.withLock { leaves in
            if leaves.count >= Self.cachedLeaves { leaves.removeAll(keepingCapacity: true) }
            leaves[offset] = leaf
        }
        return leaf
    }

    private static func directory(
        of file: Int32, _ section: PMTilesHeader.Section, _ header: PMTilesHeader, _ path: String
    ) throws(OriginsError) -> PMTilesDirectory {
        guard let directory = PMTilesDirectory(try unpacked(of: file, section, header, path)) else {
            throw OriginsError(.badArchive, "PMTiles file '\(path)' has a damaged directory at byte \(section.offset).")
        }
        return directory
    }

    private static func unpacked(
        of file: Int32, _ section: PMTilesHeader.Section, _ header: PMTilesHeader, _ path: String
    ) throws(OriginsError) -> [UInt8] {
        guard section.length <= maxDirectory else {
            throw OriginsError(
                .badArchive,
                "PMTiles file '\(path)' has a directory of \(section.length) bytes; the limit is \(maxDirectory).")
        }
        let bytes = try bytes(of: file, at: section.offset, section.length, path)
        switch header.internalCompression {
        case 1: return bytes
        case 2:
            do throws(TileBodiesError) {
                return try Gzip.decompress(bytes, limit: 64 << 20)
            } catch {
                throw OriginsError(
                    .badArchive, "PMTiles file '\(path)' has damaged gzip at byte \(section.offset).", cause: error)
            }
        case let other:
            throw OriginsError(
                .unsupported, "PMTiles file '\(path)' packs its directories with code \(other); gzip and none are read."
            )
        }
    }

    private static func bytes(
        of file: Int32, at offset: UInt64, _ length: UInt64, _ path: String
    ) throws(OriginsError) -> [UInt8] {
        guard let start = Int(exactly: offset), let count = Int(exactly: length) else {
            throw OriginsError(.badArchive, "PMTiles file '\(path)' points outside itself.")
        }
        var done = 0
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while done < count {
                let got = pread(file, buffer.baseAddress.map { $0 + done }, count - done, start + done)
                if got < 0, errno == EINTR { continue }
                if got <= 0 {
                    failure = got < 0 ? errno : 0
                    break
                }
                done += got
            }
            filled = done
        }
        guard done == count else {
            let reason = failure == 0 ? "it ends early" : String(cString: strerror(failure))
            throw OriginsError(
                .badArchive, "PMTiles file '\(path)' cannot be read at byte \(offset + UInt64(done)): \(reason).")
        }
        return bytes
    }
}
