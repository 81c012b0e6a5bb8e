internal import Digests

/// The first bytes of a copy patch (docs/formats/pmtiles-patch.md), all numbers least significant byte first.
struct CopyPatchHeader: Hashable {
    /// How the literals are stored.
    enum Literals: UInt64 {
        /// As they are.
        case plain = 1
        /// In sections (docs/formats/companion-patch.md).
        case packed = 2
    }

    /// What a copy patch begins with.
    static let mark = Array("PKHPATCH".utf8)
    /// Bytes of a header.
    static let size: UInt64 = 104
    /// Bytes of the SHA-256 at the end.
    static let trailer: UInt64 = 32
    /// The largest file on either side, in bytes: offsets of files are signed.
    static let maxFile = UInt64(Int64.max)

    /// How the literals are stored; its number is the version of the format.
    var literals: Literals
    /// Bytes of the old file.
    var oldSize: UInt64
    /// Bytes of the new file.
    var newSize: UInt64
    /// Bytes of the script; the literals follow it.
    var scriptSize: UInt64
    /// SHA-256 of the old file.
    var old: Digest
    /// SHA-256 of the new file.
    var new: Digest

    init(_ literals: Literals, oldSize: UInt64, newSize: UInt64, scriptSize: UInt64, old: Digest, new: Digest) {
        self.literals = literals
        (self.oldSize, self.newSize, self.scriptSize) = (oldSize, newSize, scriptSize)
        (self.old, self.new) = (old, new)
    }

    /// Reads a header; `nil` when the bytes are none, or no patch of `fileSize` bytes can have it.
    ///
    /// - Parameter bytes: At least the first ``size`` bytes of the patch.
    init?(_ bytes: [UInt8], fileSize: UInt64) {
        guard bytes.count >= Self.size, let literals = Self.version(bytes).flatMap(Literals.init) else { return nil }
        self.literals = literals
        func number(_ offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
        }
        (oldSize, newSize, scriptSize) = (number(16), number(24), number(32))
        guard let old = Digest(bytes: bytes[40..<72]), let new = Digest(bytes: bytes[72..<104]),
            oldSize <= Self.maxFile, newSize <= Self.maxFile, fileSize >= Self.size + Self.trailer,
            scriptSize <= fileSize - Self.size - Self.trailer
        else { return nil }
        (self.old, self.new) = (old, new)
    }

    /// The version that the first bytes of a file say; `nil` when it is no copy patch.
    static func version(_ bytes: [UInt8]) -> UInt64? {
        guard bytes.count >= 16, bytes.starts(with: mark) else { return nil }
        return (8..<16).reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    /// The bytes of the header.
    var encoded: [UInt8] {
        let numbers = [literals.rawValue, oldSize, newSize, scriptSize]
        return Self.mark
            + numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) } }
            + old.bytes + new.bytes
    }
}
