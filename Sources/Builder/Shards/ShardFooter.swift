internal import Digests
import Errors
internal import Files

/// The fixed-size end of a shard: where its index is, its counts, and its digests.
struct ShardFooter: Equatable {
    var headerLength: UInt32
    var indexOffset: UInt64
    var indexStored: UInt32
    var indexSize: UInt32
    var groups: UInt32
    var distinct: UInt32
    var stored: UInt32
    var empty: UInt32
    var bodyBytes: UInt64
    var headerDigest: Digest
    var indexDigest: Digest

    static let signature = Array("PKHSHEND".utf8)
    static let payload = 152
    /// Bytes of the whole skippable frame.
    static let length = payload + 8

    /// What stands for everything in the shard.
    ///
    /// SHA-256 over the digests of header and index and all other fields; the index has the digest of each body.
    var digest: Digest { Digest(of: fields) }

    private var fields: [UInt8] {
        var bytes = Self.signature
        bytes.append(little: ShardHeader.version)
        bytes.append(little: UInt16(0))
        bytes.append(little: headerLength)
        bytes.append(little: indexOffset)
        for number in [indexStored, indexSize, groups, distinct, stored, empty] { bytes.append(little: number) }
        bytes.append(little: bodyBytes)
        bytes += headerDigest.bytes
        bytes += indexDigest.bytes
        return bytes
    }

    func encoded() -> [UInt8] {
        let bytes = fields + digest.bytes
        var frame: [UInt8] = []
        frame.append(little: ShardHeader.skippableMagic)
        frame.append(little: UInt32(bytes.count))
        return frame + bytes
    }

    init(
        headerLength: UInt32, indexOffset: UInt64, indexStored: UInt32, indexSize: UInt32, groups: UInt32,
        distinct: UInt32, stored: UInt32, empty: UInt32, bodyBytes: UInt64, headerDigest: Digest, indexDigest: Digest
    ) {
        self.headerLength = headerLength
        self.indexOffset = indexOffset
        self.indexStored = indexStored
        self.indexSize = indexSize
        self.groups = groups
        self.distinct = distinct
        self.stored = stored
        self.empty = empty
        self.bodyBytes = bodyBytes
        self.headerDigest = headerDigest
        self.indexDigest = indexDigest
    }

    /// Reads the last ``length`` bytes of a file of `fileSize` bytes and checks that the parts fill it without a gap.
    init(decoding bytes: [UInt8], fileSize: UInt64, path: String) throws(StorageError) {
        var reader = ByteReader(bytes[...])
        guard reader.uint32() == ShardHeader.skippableMagic, reader.uint32() == UInt32(Self.payload),
            reader.bytes(8).map(Array.init) == Self.signature
        else {
            throw StorageError(
                .notAShard, "'\(path)' does not end with a shard footer: it is truncated or is not a Packhorse shard.")
        }
        guard let version = reader.uint16(), let spare = reader.uint16(),
            let headerLength = reader.uint32(), let indexOffset = reader.uint64(),
            let numbers = reader.column(6, of: UInt32.self), let bodyBytes = reader.uint64(),
            let header = reader.bytes(32).flatMap({ Digest(bytes: $0) }),
            let index = reader.bytes(32).flatMap({ Digest(bytes: $0) }),
            let own = reader.bytes(32).flatMap({ Digest(bytes: $0) }), reader.remaining == 0,
            own == Digest(of: bytes[8..<bytes.count - 32])
        else {
            throw StorageError(.corrupt, "'\(path)' has a damaged shard footer. Fetch this batch again.")
        }
        guard version == ShardHeader.version, spare == 0 else {
            throw StorageError(
                .unsupportedVersion,
                "'\(path)' has shard format version \(version); this build reads version \(ShardHeader.version).")
        }
        self.init(
            headerLength: headerLength, indexOffset: indexOffset, indexStored: numbers[0], indexSize: numbers[1],
            groups: numbers[2], distinct: numbers[3], stored: numbers[4], empty: numbers[5], bodyBytes: bodyBytes,
            headerDigest: header, indexDigest: index)
        let (end, overflow) = indexOffset.addingReportingOverflow(UInt64(indexStored) + UInt64(bytes.count))
        guard !overflow, end == fileSize, UInt64(headerLength) <= indexOffset,
            ShardHeader.smallest...ShardHeader.largest ~= Int(headerLength),
            UInt64(stored) + UInt64(empty) <= UInt64(ShardLimits.tiles), distinct <= stored, groups <= distinct,
            Int(indexSize) <= ShardLimits.index
        else {
            throw StorageError(
                .corrupt, "'\(path)' has a footer that does not match the file. Fetch this batch again.")
        }
    }
}
