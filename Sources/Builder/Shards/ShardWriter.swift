public import Digests
public import Errors
public import Files
public import Foundation
internal import TileBodies
public import Tiles

/// Writes one shard to a temporary file: bodies as they arrive, the index at the end.
///
/// Memory: one group of bodies (64 KiB and one body) and about 150 bytes per tile. Every call may block on the disk.
/// Used by one task at a time. An unfinished writer removes its file when it is deallocated.
public final class ShardWriter {
    private let header: ShardHeader
    private let headerDigest: Digest
    private let headerLength: Int
    private let url: URL
    private let file: FileDescriptor
    private var hasher = DigestHasher()
    private var group: [UInt8] = []
    private var groupBodies: UInt32 = 0
    /// Whether all bodies of the group are compressed by their own format.
    private var groupIsPacked = true
    private var index = ShardIndex()
    private var numbers: [Digest: UInt32] = [:]
    private var seen: Set<UInt64> = []
    private var textNumbers: [String: UInt32] = [:]
    /// The text of the last tile that had one: all tiles of an archive have the same.
    private var lastText: (text: String, number: UInt32)?
    private var stored: UInt32 = 0
    private var bodyBytes: UInt64 = 0
    private var finished = false

    /// Creates the file, which must not exist, and writes the header.
    ///
    /// - Throws: `disk-full` or `io` (nothing is left behind), `limit-exceeded` for an unusable tileset id.
    public init(temporary: URL, header: ShardHeader) throws(StorageError) {
        let bytes = try header.encoded()
        self.header = header
        headerDigest = Digest(of: bytes)
        headerLength = bytes.count
        url = temporary
        file = try FileDescriptor(creating: temporary)
        try emit(bytes)
    }

    deinit { if !finished { unlink(url.path) } }

    /// Adds a tile that has a body.
    ///
    /// A body seen before (by SHA-256) is stored once.
    ///
    /// - Parameters:
    ///   - body: 1...16 MiB, already checked and in its canonical form.
    ///   - etag: The origin's ETag as sent; kept up to 1,024 bytes, left out when longer.
    ///   - lastModified: The origin's Last-Modified, likewise.
    /// - Returns: The body's SHA-256.
    /// - Throws: `bad-tile`, `limit-exceeded` (nothing changed); `disk-full` or `io` (the writer cannot be used
    ///   further).
    @discardableResult
    public func add(
        _ tile: TileID, body: [UInt8], etag: String?, lastModified: String?
    ) throws(StorageError) -> Digest {
        guard 1...ShardLimits.body ~= body.count else {
            throw StorageError(
                .limitExceeded, "The body of \(tile) has \(body.count) bytes; a shard takes 1 to \(ShardLimits.body).")
        }
        try admit(tile)
        let digest = Digest(of: body)
        var number = numbers[digest, default: 0]
        if number == 0 {
            if !group.isEmpty && group.count + body.count > ShardLimits.group { try closeGroup() }
            group += body
            groupBodies += 1
            groupIsPacked = groupIsPacked && body.withUnsafeBytes { TileFormat(beginning: $0) } != nil
            index.digests.append(digest)
            index.lengths.append(UInt32(body.count))
            bodyBytes += UInt64(body.count)
            number = UInt32(index.digests.count)
            numbers[digest] = number
        }
        index.tiles.append((tile.hilbertID, number, textNumber(etag), textNumber(lastModified)))
        stored += 1
        return digest
    }

    /// Adds a tile that does not exist at the origin.
    ///
    /// - Throws: `bad-tile` or `limit-exceeded`; nothing changed.
    public func addEmpty(_ tile: TileID) throws(StorageError) {
        try admit(tile)
        index.tiles.append((tile.hilbertID, 0, 0, 0))
    }

    /// Writes the index and the footer, and closes the file; `BlobStore.put` flushes it.
    ///
    /// - Throws: `disk-full` or `io`; the file is removed when the writer is deallocated.
    public func finish() throws(StorageError) -> ShardSummary {
        guard !finished else { throw StorageError(.misuse, "The shard '\(url.path)' is already finished.") }
        if !group.isEmpty { try closeGroup() }
        sortTextsAndTiles()
        let content = index.encoded()
        let frame = try LZ4Frame.compress(content)
        let footer = ShardFooter(
            headerLength: UInt32(headerLength), indexOffset: file.size, indexStored: UInt32(frame.count),
            indexSize: UInt32(content.count), groups: UInt32(index.groups.count), distinct: UInt32(index.digests.count),
            stored: stored, empty: UInt32(index.tiles.count) - stored, bodyBytes: bodyBytes,
            headerDigest: headerDigest, indexDigest: Digest(of: content))
        try emit(frame)
        try emit(footer.encoded())
        try file.close()
        finished = true
        return ShardSummary(
            digest: hasher.finish(), footerDigest: footer.digest, bytes: file.size, stored: Int(stored),
            empty: index.tiles.count - Int(stored),
            distinct: index.digests.count, bodyBytes: bodyBytes)
    }

    // MARK: - Inside

    private func admit(_ tile: TileID) throws(StorageError) {
        guard !finished else { throw StorageError(.misuse, "The shard '\(url.path)' is already finished.") }
        guard header.admits(tile) else {
            throw StorageError(
                .badTile, "Tile \(tile) is outside this shard: cell \(header.cell), zooms \(header.zooms).")
        }
        guard seen.count < ShardLimits.tiles else {
            throw StorageError(.limitExceeded, "A shard takes \(ShardLimits.tiles) tiles; use smaller batches.")
        }
        guard seen.insert(tile.hilbertID).inserted else {
            throw StorageError(.badTile, "Tile \(tile) was added to this shard twice.")
        }
    }

    /// The number of a text, from 1 in the order of arrival; 0 when there is none to keep.
    private func textNumber(_ text: String?) -> UInt32 {
        guard let text, text.utf8.count <= ShardLimits.text else { return 0 }
        if let lastText, lastText.text == text { return lastText.number }
        let number = textNumbers[text] ?? UInt32(index.texts.count + 1)
        if number > index.texts.count {
            index.texts.append(text)
            textNumbers[text] = number
        }
        lastText = (text, number)
        return number
    }

    /// Makes the index independent of the order of arrival; only the order of bodies remains.
    private func sortTextsAndTiles() {
        let order = index.texts.indices.sorted { index.texts[$0].utf8.lexicographicallyPrecedes(index.texts[$1].utf8) }
        var renumbered = [UInt32](repeating: 0, count: order.count + 1)
        for (new, old) in order.enumerated() { renumbered[old + 1] = UInt32(new + 1) }
        index.texts = order.map { index.texts[$0] }
        index.tiles = index.tiles.map { ($0.id, $0.body, renumbered[Int($0.etag)], renumbered[Int($0.modified)]) }
        index.tiles.sort { $0.id < $1.id }
    }

    private func closeGroup() throws(StorageError) {
        let frame = try LZ4Frame.compress(group, isPacked: groupIsPacked)
        try emit(frame)
        index.groups.append((UInt32(frame.count), groupBodies))
        group.removeAll(keepingCapacity: true)
        groupBodies = 0
        groupIsPacked = true
    }

    private func emit(_ bytes: [UInt8]) throws(StorageError) {
        hasher.update(bytes)
        try file.write(bytes)
    }
}

/// What a finished shard holds.
public struct ShardSummary: Hashable, Sendable, Codable {
    /// SHA-256 of the file: its name in a blob store.
    public let digest: Digest
    /// The SHA-256 in its footer, which identifies all tiles and bodies.
    public let footerDigest: Digest
    /// Bytes of the file.
    public let bytes: UInt64
    /// Tiles with a body.
    public let stored: Int
    /// Tiles the origin has none for.
    public let empty: Int
    /// Different bodies.
    public let distinct: Int
    /// Bytes of the different bodies together.
    public let bodyBytes: UInt64
}
