public import Digests
public import Errors
public import Files
public import Foundation

/// Reads a shard: its index at once, its bodies one group at a time.
///
/// Every returned byte has been checked.
///
/// Memory: the index (about 70 bytes per tile, and 96 more once ``entries`` was used) and one decompressed group. Blocks on the disk. Used by one task at a time.
public final class ShardReader {
    /// What the shard is about.
    public let header: ShardHeader
    /// Its tiles, ascending by tile; made when they are first used.
    public private(set) lazy var entries: [ShardEntry] = index.entries
    /// Where its tiles and bodies are.
    public var map: ShardMap { index.map }
    /// Its different bodies in file order; reading them in this order reads the file once, front to back.
    public var bodies: [ShardBody] { index.map.bodies }
    /// Bytes of the file.
    public let size: UInt64
    /// The SHA-256 in its footer, which identifies all tiles and bodies of the shard.
    public var footerDigest: Digest { index.map.footerDigest }
    /// Bytes of the file's index, compressed.
    public let indexBytes: Int
    private let index: ShardIndex.Resolved
    let file: FileDescriptor
    private lazy var store = ShardBodies(self)
    private var current: (group: Int, content: [UInt8])?

    /// Opens a shard and checks its header, index and footer.
    ///
    /// - Parameter expecting: The digest the file must have; the whole file is read for it. `nil` skips that: bodies are
    ///   still checked one by one as they are read.
    /// - Throws: `io`, `not-a-shard`, `unsupported-version`, `corrupt-shard`, `digest-mismatch`.
    public init(_ url: URL, expecting: Digest? = nil) throws(StorageError) {
        let path = url.path
        if let expecting {
            let found = try Digest.ofFile(url).digest
            guard found == expecting else {
                throw StorageError(
                    .digestMismatch, "'\(path)' has SHA-256 \(found), expected \(expecting). Fetch this batch again.")
            }
        }
        let file = try FileDescriptor(reading: url)
        guard file.size >= UInt64(ShardHeader.smallest + ShardFooter.length) else {
            throw StorageError(.notAShard, "'\(path)' has \(file.size) bytes, fewer than the smallest shard.")
        }
        let tail = try file.read(at: file.size - UInt64(ShardFooter.length), count: ShardFooter.length)
        let footer = try ShardFooter(decoding: tail, fileSize: file.size, path: path)
        let head = try file.read(at: 0, count: Int(footer.headerLength))
        let header = try ShardHeader(decoding: head, path: path)
        guard Digest(of: head) == footer.headerDigest else {
            throw StorageError(
                .corrupt, "'\(path)' has a header that does not match its footer. Fetch this batch again.")
        }
        let frame = try file.read(at: footer.indexOffset, count: Int(footer.indexStored))
        let content = try LZ4Frame.decompress(frame, size: Int(footer.indexSize), of: "The index of '\(path)'")
        guard Digest(of: content) == footer.indexDigest else {
            throw StorageError(
                .corrupt, "'\(path)' has an index that does not match its footer. Fetch this batch again.")
        }
        index = try ShardIndex.decode(content, header: header, footer: footer, path: path)
        self.header = header
        self.file = file
        size = file.size
        indexBytes = frame.count
    }

    /// The body of a tile; `nil` for an empty tile.
    ///
    /// The group it lies in is kept, so that reading bodies in file order decompresses each group once.
    /// - Throws: `corrupt-shard` or `io`; never wrong bytes.
    public func body(_ entry: ShardEntry) throws(StorageError) -> [UInt8]? {
        guard let body = entry.body else { return nil }
        return try bytes(of: body)
    }

    /// The bytes of one of the shard's ``bodies``.
    ///
    /// - Throws: `corrupt-shard` or `io`; never wrong bytes.
    public func bytes(of body: ShardBody) throws(StorageError) -> [UInt8] {
        guard bodies.indices.contains(body.number), bodies[body.number] == body else {
            throw StorageError(.misuse, "Body \(body.number) is not one of '\(file.path)'.")
        }
        let content = try content(of: body.group)
        return try store.bytes(of: body, in: content)
    }

    private func content(of group: Int) throws(StorageError) -> [UInt8] {
        if let current, current.group == group { return current.content }
        let content = try store.content(ofGroup: group)
        current = (group, content)
        return content
    }
}
