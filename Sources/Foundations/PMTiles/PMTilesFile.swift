public import Errors
internal import Files
internal import Synchronization
public import TileBodies
public import Tiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A local PMTiles file, version 3, read with `pread`, or one in memory.
///
/// Total on hostile files. Any number of threads may read it.
public final class PMTilesFile: Sendable {
    private static let cachedLeaves = 64

    /// What its first bytes say.
    public let header: PMTilesHeader
    /// How its bodies are packed.
    public let coding: BodyCoding
    /// Bytes of the file.
    public let size: UInt64
    private let path: String
    private let limit: Int
    private let storage: PMTilesStorage
    private let root: PMTilesDirectory
    private let leaves = Mutex<[UInt64: PMTilesDirectory]>([:])

    /// Opens a file and reads its header and root directory.
    ///
    /// - Parameter limit: The most bytes a body may have as it is stored.
    /// - Throws: ``ArchiveError``.
    public convenience init(path: String, limit: Int = 64 << 20) throws(ArchiveError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw ArchiveError(
                .unreadable, "PMTiles file '\(path)' cannot be read: \(String(cString: strerror(errno))).")
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size >= 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw ArchiveError(.unreadable, "PMTiles file '\(path)' is not a regular file.")
        }
        try self.init(.file(file), size: UInt64(status.st_size), path: path, limit: limit)
    }

    /// Reads a file that is all in memory.
    ///
    /// - Parameter path: Names the file in errors.
    /// - Throws: ``ArchiveError``.
    public convenience init(bytes: [UInt8], path: String, limit: Int = 64 << 20) throws(ArchiveError) {
        try self.init(.memory(bytes), size: UInt64(bytes.count), path: path, limit: limit)
    }

    /// Takes the storage, which is closed with this object, or at an error.
    private init(_ storage: PMTilesStorage, size: UInt64, path: String, limit: Int) throws(ArchiveError) {
        do throws(ArchiveError) {
            let bytes = try storage.bytes(at: 0, min(size, UInt64(PMTilesHeader.size)), path)
            let header = try PMTilesHeader(bytes, fileSize: size, path: path)
            coding = try header.bodyCoding(of: path)
            root = try Self.directory(of: storage, in: header.root, header: header, path: path)
            self.header = header
        } catch {
            storage.close()
            throw error
        }
        self.storage = storage
        self.size = size
        self.path = path
        self.limit = limit
    }

    deinit { storage.close() }

    /// The unpacked metadata, JSON text without a byte order mark; empty when there is none.
    public func metadata() throws(ArchiveError) -> [UInt8] {
        guard header.metadata.length > 0 else { return [] }
        let text = try header.unpack(
            try Self.packed(of: storage, header.metadata, path), at: header.metadata.offset, of: path)
        return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
    }

    /// The shallowest and the deepest zoom that has a tile, by the first and the last entry; `nil` without tiles.
    ///
    /// Reads at most ``PMTilesHeader/maxDepth`` directories.
    public func tileZooms() throws(ArchiveError) -> ZoomRange? {
        guard let first = root.entries.first else { return nil }
        var directory = root
        for _ in 0..<PMTilesHeader.maxDepth {
            guard let last = directory.entries.last else { return nil }
            if last.run > 0 {
                let (low, high) = (
                    PMTilesHeader.zoom(of: first.tile), PMTilesHeader.zoom(of: last.tile + (last.run - 1))
                )
                return ZoomRange(min: min(low, TileID.maxZoom), max: min(high, TileID.maxZoom))
            }
            directory = try leaf(of: last)
        }
        throw tooDeep
    }

    /// Calls `each` for the entries that are not pointers until it returns `false`; those of the first directories.
    public func first(_ each: (PMTilesDirectory.Entry) throws -> Bool) throws {
        struct Enough: Error {}
        do { try walk { if try !each($0) { throw Enough() } } } catch is Enough {}
    }

    /// A body as it is stored (see ``coding``), or `nil` when the file has none for the tile.
    public func body(of tile: TileID) throws(ArchiveError) -> [UInt8]? {
        guard let place = try place(of: tile) else { return nil }
        return try bytes(in: place)
    }

    /// What ``body(of:)`` returns, when nothing must be waited for.
    ///
    /// - Returns: Empty when the file has no body for the tile; `nil` when a directory or the body must be read from the medium, and for a
    ///   body of more than `CachedBytes.most` bytes.
    /// - Throws: as ``body(of:)``.
    public func bodyAtOnce(of tile: TileID) throws(ArchiveError) -> [UInt8]? {
        switch try search(tile, mayRead: false) {
        case .place(let place): return place.count <= CachedBytes.most ? storage.bytesAtOnce(place) : nil
        case .nowhere: return []
        case .unread: return nil
        }
    }

    /// Where the body of a tile is in the file; `nil` when the file has none for the tile.
    ///
    /// - Throws: as ``body(at:length:)``.
    func place(of tile: TileID) throws(ArchiveError) -> Range<UInt64>? {
        switch try search(tile, mayRead: true) {
        case .place(let place): return place
        case .nowhere, .unread: return nil
        }
    }

    private enum Found {
        case place(Range<UInt64>)
        /// The file has no body for the tile.
        case nowhere
        /// A directory is not in memory.
        case unread
    }

    /// - Parameter mayRead: Whether directories that are not in memory are read.
    private func search(_ tile: TileID, mayRead: Bool) throws(ArchiveError) -> Found {
        let id = tile.hilbertID
        var directory = root
        for _ in 0..<PMTilesHeader.maxDepth {
            guard let entry = directory.entry(for: id) else { return .nowhere }
            if entry.run > 0 { return .place(try bodyPlace(at: entry.offset, length: entry.length)) }
            guard let next = mayRead ? try leaf(of: entry) : try knownLeaf(of: entry) else { return .unread }
            directory = next
        }
        throw tooDeep
    }

    /// Bytes of the file.
    func bytes(in place: Range<UInt64>) throws(ArchiveError) -> [UInt8] {
        try storage.bytes(at: place.lowerBound, place.upperBound - place.lowerBound, path)
    }

    /// A body by its place in the section of bodies, as entries name it.
    ///
    /// - Throws: ``ArchiveError`` `.badTile` for one that is too long; `.badArchive` for one outside of the section.
    public func body(at offset: UInt64, length: UInt64) throws(ArchiveError) -> [UInt8] {
        try bytes(in: try bodyPlace(at: offset, length: length))
    }

    private func bodyPlace(at offset: UInt64, length: UInt64) throws(ArchiveError) -> Range<UInt64> {
        let entry = PMTilesDirectory.Entry(tile: 0, run: 1, length: length, offset: offset)
        let place = try header.place(of: entry, in: path)
        guard length <= UInt64(limit) else {
            throw ArchiveError(.badTile, "the tile has \(length) bytes; the limit is \(limit)")
        }
        return place
    }

    /// Calls `each` for every entry that is not a pointer, ascending by tile.
    ///
    /// Work is bounded by the bytes of the directories, because no leaf is entered that does not ascend.
    /// - Throws: ``ArchiveError`` `.badArchive` when tiles do not ascend, runs overlap, a leaf does not begin with the tile
    ///   its pointer names, a body lies outside its section, or directories nest too deep; and what `each` throws.
    public func walk(_ each: (PMTilesDirectory.Entry) throws -> Void) throws {
        var entries = entries
        while let entry = try entries.next() { try each(entry) }
    }

    /// The same entries for a caller that takes them one by one.
    public var entries: PMTilesEntries { PMTilesEntries(self, root: root) }

    /// The directory that a pointer names, for a walk.
    ///
    /// - Parameter depth: That of the directory with the pointer; the root has 1.
    func leaf(of entry: PMTilesDirectory.Entry, depth: Int) throws(ArchiveError) -> PMTilesDirectory {
        guard depth < PMTilesHeader.maxDepth else { throw tooDeep }
        let place = try place(of: entry)
        let section = PMTilesHeader.Section(offset: place.lowerBound, length: entry.length)
        let leaf = try Self.directory(of: storage, in: section, header: header, path: path)
        guard leaf.entries.first?.tile == entry.tile else {
            throw ArchiveError(
                .badArchive,
                "PMTiles file '\(path)': the leaf directory of tile \(entry.tile) does not begin with this tile.")
        }
        return leaf
    }

    func place(of entry: PMTilesDirectory.Entry) throws(ArchiveError) -> Range<UInt64> {
        try header.place(of: entry, in: path)
    }

    func disorder(at tile: UInt64) -> ArchiveError {
        ArchiveError(.badArchive, "PMTiles file '\(path)' has tile \(tile) out of order or twice.")
    }

    private var tooDeep: ArchiveError {
        ArchiveError(
            .badArchive, "PMTiles file '\(path)' nests its directories deeper than \(PMTilesHeader.maxDepth).")
    }

    /// The directory that a pointer names, if it was read before.
    private func knownLeaf(of entry: PMTilesDirectory.Entry) throws(ArchiveError) -> PMTilesDirectory? {
        let start = try place(of: entry).lowerBound
        return leaves.withLock { $0[start] }
    }

    private func leaf(of entry: PMTilesDirectory.Entry) throws(ArchiveError) -> PMTilesDirectory {
        if let known = try knownLeaf(of: entry) { return known }
        let place = try header.place(of: entry, in: path)
        let section = PMTilesHeader.Section(offset: place.lowerBound, length: entry.length)
        let leaf = try Self.directory(of: storage, in: section, header: header, path: path)
        leaves.withLock { leaves in
            if leaves.count >= Self.cachedLeaves { leaves.removeAll(keepingCapacity: true) }
            leaves[place.lowerBound] = leaf
        }
        return leaf
    }

    private static func directory(
        of storage: PMTilesStorage, in section: PMTilesHeader.Section, header: PMTilesHeader, path: String
    ) throws(ArchiveError) -> PMTilesDirectory {
        try header.directory(try packed(of: storage, section, path), at: section.offset, of: path)
    }

    /// A directory or the metadata as it lies in the file.
    private static func packed(
        of storage: PMTilesStorage, _ section: PMTilesHeader.Section, _ path: String
    ) throws(ArchiveError) -> [UInt8] {
        guard section.length <= PMTilesHeader.maxDirectory else {
            throw ArchiveError(
                .badArchive,
                "PMTiles file '\(path)' has a directory of \(section.length) bytes; the limit is \(PMTilesHeader.maxDirectory)."
            )
        }
        return try storage.bytes(at: section.offset, section.length, path)
    }
}
