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
        groups = reader.map.groups
        file = reader.file
    }

    /// Opens a shard whose index is remembered.
    ///
    /// The file may be another one by now: ``range(of:in:isChecked:)`` refuses its bodies.
    /// - Throws: `io`.
    public init(_ url: URL, _ map: ShardMap) throws(StorageError) {
        groups = map.groups
        file = try FileDescriptor(reading: url)
    }

    /// Most bytes that are read with one call.
    private static let longestRead = 1 << 20

    /// Reads bodies group by group, each checked; groups that lie side by side are read with one call.
    ///
    /// - Parameters:
    ///   - bodies: Ascending by number.
    ///   - each: Gets each body with the content of its group, and where it lies there.
    /// - Throws: `corrupt-shard`, `io`; never wrong bytes.
    public func read(
        _ bodies: [ShardBody], each: (ShardBody, _ content: [UInt8], Range<Int>) -> Void
    ) throws(StorageError) {
        var next = bodies.startIndex
        while next < bodies.endIndex {
            let first = bodies[next].group
            guard groups.indices.contains(first) else {
                throw StorageError(.misuse, "'\(file.path)' has \(groups.count) groups; group \(first) was asked for.")
            }
            var (last, length, end) = (first, groups[first].stored, next + 1)
            while end < bodies.endIndex, bodies[end].group - last <= 1, groups.indices.contains(bodies[end].group) {
                if bodies[end].group > last {
                    guard length + groups[bodies[end].group].stored <= Self.longestRead else { break }
                    last = bodies[end].group
                    length += groups[last].stored
                }
                end += 1
            }
            let bytes = try file.read(at: groups[first].position, count: length)
            var start = 0
            for group in first...last {
                let place = groups[group]
                let content = try LZ4Frame.decompress(
                    Array(bytes[start..<start + place.stored]), size: place.size,
                    of: "Group \(group) of '\(file.path)'", isCheckedElsewhere: true)
                start += place.stored
                while next < end, bodies[next].group == group {
                    each(bodies[next], content, try range(of: bodies[next], in: content))
                    next += 1
                }
            }
        }
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
    /// - Parameter isChecked: Whether the caller has checked this body in the same content before.
    /// - Throws: `corrupt-shard`; never wrong bytes.
    public func range(
        of body: ShardBody, in content: [UInt8], isChecked: Bool = false
    ) throws(StorageError) -> Range<Int> {
        if body.offset >= 0, body.length >= 0, body.offset <= content.count, body.length <= content.count - body.offset
        {
            let range = body.offset..<body.offset + body.length
            if isChecked { return range }
            let found = content.withUnsafeBytes { Digest(of: UnsafeRawBufferPointer(rebasing: $0[range])) }
            if found == body.digest { return range }
        }
        throw StorageError(.corrupt, "Body \(body.number) of '\(file.path)' is damaged. Fetch this batch again.")
    }
}
