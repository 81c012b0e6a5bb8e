public import Digests
public import Errors
internal import Files

/// A small object that says what a backup consists of: segments with pages of the state file, in the order in which they are written.
///
/// Format (docs/formats/state-backup.md), all numbers big-endian: magic, lineage, epoch, number, time, page size, number of pages, digest, number of
/// segments, segments, and the SHA-256 of all that. One backup has one form.
public struct BackupIndex: Hashable, Sendable {
    /// A segment that belongs to the backup.
    public struct Segment: Hashable, Sendable {
        /// The epoch of the coordinator that wrote it.
        public let epoch: UInt32
        /// The SHA-256 of its bytes.
        public let digest: Digest
        /// Its length in bytes.
        public let size: UInt32
    }

    /// The number that the state got when it was made: backups of one state have the same.
    public var lineage: UInt64
    /// Epoch, number and time.
    public var name: BackupName
    /// Bytes of a page: a power of two, 512...65,536.
    public var pageSize: UInt32
    /// Pages of the state file, at least 1.
    public var pageCount: UInt32
    /// The SHA-256 of the SHA-256s of all pages, in order.
    public var digest: Digest
    /// The segments, the oldest first; a later one replaces pages of those before.
    public var segments: [Segment]

    /// Segments that a backup may have.
    static let mostSegments = 65_536
    private static let magic = Array("PHBACK01".utf8)
    private static let headBytes = 8 + 8 + 4 + 4 + 8 + 4 + 4 + 32 + 4
    private static let segmentBytes = 4 + 32 + 4
    /// The largest index in bytes.
    static let mostBytes = headBytes + mostSegments * segmentBytes + 32

    /// The bytes of the object.
    public func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.headBytes + segments.count * Self.segmentBytes + 32)
        bytes.append(number: lineage)
        bytes.append(number: name.epoch)
        bytes.append(number: name.number)
        bytes.append(number: UInt64(bitPattern: name.seconds))
        bytes.append(number: pageSize)
        bytes.append(number: pageCount)
        bytes += digest.bytes
        bytes.append(number: UInt32(segments.count))
        for segment in segments {
            bytes.append(number: segment.epoch)
            bytes += segment.digest.bytes
            bytes.append(number: segment.size)
        }
        return bytes + Digest(of: bytes).bytes
    }

    /// Reads the bytes of an object.
    ///
    /// - Throws: `damaged-backup` for anything that ``encoded()`` does not write; `newer-backup` for a later version of the format.
    public init(decoding bytes: [UInt8]) throws(BackupError) {
        guard bytes.starts(with: Self.magic.dropLast(2)), bytes.count >= Self.magic.count else {
            throw Self.damaged("it has another magic")
        }
        guard bytes.starts(with: Self.magic) else {
            throw BackupError(
                .newer, "The index of a backup has another format than this build reads.",
                hint: "upgrade this installation")
        }
        guard bytes.count >= Self.headBytes + 32, bytes.count <= Self.mostBytes else {
            throw Self.damaged("its length is wrong")
        }
        let body = bytes.dropLast(32)
        guard Digest(bytes: bytes.suffix(32)) == Digest(of: body) else { throw Self.damaged("its checksum is wrong") }
        var reader = BackupBytes(body.dropFirst(Self.magic.count))
        guard let lineage = reader.number(UInt64.self), let epoch = reader.number(UInt32.self),
            let number = reader.number(UInt32.self),
            let time = reader.number(UInt64.self), let pageSize = reader.number(UInt32.self),
            let pageCount = reader.number(UInt32.self),
            let digest = reader.take(32).flatMap({ Digest(bytes: $0) }), let count = reader.number(UInt32.self)
        else { throw Self.damaged("it is cut off") }
        let seconds = Int64(bitPattern: time)
        guard (0...BackupName.lastSecond).contains(seconds) else { throw Self.damaged("its time is wrong") }
        guard pageSize.nonzeroBitCount == 1, (512...65_536).contains(pageSize), pageCount > 0 else {
            throw Self.damaged("its pages are wrong")
        }
        guard count <= Self.mostSegments, reader.left == Int(count) * Self.segmentBytes else {
            throw Self.damaged("its number of segments is wrong")
        }
        var segments: [Segment] = []
        segments.reserveCapacity(Int(count))
        while reader.left > 0 {
            guard let epoch = reader.number(UInt32.self), let digest = reader.take(32).flatMap({ Digest(bytes: $0) }),
                let size = reader.number(UInt32.self), size <= PageSegment.mostBytes
            else { throw Self.damaged("a segment is wrong") }
            segments.append(Segment(epoch: epoch, digest: digest, size: size))
        }
        self.init(
            lineage: lineage, name: BackupName(epoch: epoch, number: number, seconds: seconds), pageSize: pageSize,
            pageCount: pageCount,
            digest: digest, segments: segments)
    }

    init(lineage: UInt64, name: BackupName, pageSize: UInt32, pageCount: UInt32, digest: Digest, segments: [Segment]) {
        self.lineage = lineage
        self.name = name
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.digest = digest
        self.segments = segments
    }

    /// The bytes of the state file.
    public var bytes: UInt64 { UInt64(pageSize) * UInt64(pageCount) }

    private static func damaged(_ why: String) -> BackupError {
        BackupError(.damaged, "The index of a backup is damaged: \(why).")
    }
}

extension BackupIndex.Segment {
    /// The name of its object: `0000000012-` and 64 hexadecimal digits.
    var name: String { "\(BackupName.tenDigits(epoch))-\(digest.hex)" }

    /// The epoch in the name of a segment; `nil` for another name.
    static func epoch(in name: String) -> UInt32? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, Digest(hex: String(parts[1])) != nil else { return nil }
        return BackupName.decimal(parts[0])
    }
}
