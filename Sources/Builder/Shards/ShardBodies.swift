internal import Digests
public import Errors
public import Files
public import Foundation

/// The bodies of one shard without its index, for a reader that already knows the position of each.
///
/// Takes about 24 bytes per group of memory and one file descriptor. Keeps nothing between calls; used by one task at a time.
public final class ShardBodies {
    private let groups: [ShardGroup]
    private let file: FileDescriptor

    /// Shares an open reader's file; the reader may go away.
    public init(_ reader: ShardReader) {
        groups = reader.groups
        file = reader.file
    }

    /// Opens a shard whose index was read before.
    ///
    /// The file may be another one by now: ``range(of:in:)`` refuses its bodies.
    /// - Throws: `io`.
    public init(_ url: URL, _ table: ShardTable) throws(StorageError) {
        groups = table.groups
        file = try FileDescriptor(reading: url)
    }

    /// Reads and decompresses a group: the concatenated bodies.
    ///
    /// - Parameter isTrusted: With false, LZ4's checksums are checked; with true, only bodies that are extracted later
    ///   are checked.
    /// - Throws: `corrupt-shard`, `io`.
    public func content(ofGroup group: Int, isTrusted: Bool = false) throws(StorageError) -> [UInt8] {
        guard groups.indices.contains(group) else {
            throw StorageError(.misuse, "'\(file.path)' has \(groups.count) groups; group \(group) was asked for.")
        }
        let place = groups[group]
        let frame = try file.read(at: place.position, count: place.stored)
        return try LZ4Frame.decompress(
            frame, size: place.size, of: "Group \(group) of '\(file.path)'", isCheckedElsewhere: isTrusted)
    }

    /// Cuts a body out of its group's content and checks its SHA-256.
    ///
    /// - Throws: `corrupt-shard`; never wrong bytes.
    public func bytes(of body: ShardBody, in content: [UInt8]) throws(StorageError) -> [UInt8] {
        try Array(content[range(of: body, in: content)])
    }

    /// Where a body lies in its group's content, after checking its SHA-256 there.
    ///
    /// - Throws: `corrupt-shard`; never wrong bytes.
    public func range(of body: ShardBody, in content: [UInt8]) throws(StorageError) -> Range<Int> {
        if body.offset >= 0, body.length >= 0, body.offset <= content.count, body.length <= content.count - body.offset
        {
            let range = body.offset..<body.offset + body.length
            let found = content.withUnsafeBytes { Digest(of: UnsafeRawBufferPointer(rebasing: $0[range])) }
            if found == body.digest { return range }
        }
        throw StorageError(.corrupt, "Body \(body.number) of '\(file.path)' is damaged. Fetch this batch again.")
    }
}
