/// A stretch of the literals of a copy patch, packed with a stretch of the old file as prefix (docs/formats/companion-patch.md).
///
/// Stored as a head of varints, then the packed bytes. The head: bytes unpacked; bytes packed, 0 for those that are stored as they
/// are; then for packed ones the bytes of the prefix, and its place unless it has none.
struct PackedSection: Hashable {
    /// The largest section, unpacked, in bytes: 4 MiB.
    static let most = 4 << 20
    /// The largest prefix, in bytes: 8 MiB.
    static let mostPrefix = 8 << 20
    /// The longest head, in bytes.
    static let longestHead = 40

    /// Bytes unpacked: 1 to ``most``.
    var count: Int
    /// Bytes packed, fewer than unpacked; 0 when they are stored as they are.
    var packed: Int
    /// The bytes of the old file that it may copy from, at most ``mostPrefix``; empty when it is not packed.
    var prefix: Range<UInt64>

    /// Bytes that follow the head.
    var stored: Int { packed == 0 ? count : packed }

    /// The head.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        CopyScriptCoder.add(UInt64(count), to: &bytes)
        CopyScriptCoder.add(UInt64(packed), to: &bytes)
        guard packed > 0 else { return bytes }
        CopyScriptCoder.add(UInt64(prefix.count), to: &bytes)
        if !prefix.isEmpty { CopyScriptCoder.add(prefix.lowerBound, to: &bytes) }
        return bytes
    }

    init(count: Int, packed: Int, prefix: Range<UInt64>) {
        (self.count, self.packed, self.prefix) = (count, packed, prefix)
    }

    /// Reads a head; `nil` when a number is none, or beyond its limit.
    ///
    /// - Parameters:
    ///   - oldSize: Bytes of the old file.
    ///   - byte: The next byte; `nil` at the end.
    init?(oldSize: UInt64, _ byte: () throws -> UInt8?) rethrows {
        guard let count = try CopyScriptCoder.number(byte), 1...UInt64(Self.most) ~= count,
            let packed = try CopyScriptCoder.number(byte), packed < count
        else { return nil }
        (self.count, self.packed, prefix) = (Int(count), Int(packed), 0..<0)
        guard packed > 0 else { return }
        guard let length = try CopyScriptCoder.number(byte), length <= min(UInt64(Self.mostPrefix), oldSize) else {
            return nil
        }
        guard length > 0 else { return }
        guard let place = try CopyScriptCoder.number(byte), place <= oldSize - length else { return nil }
        prefix = place..<place + length
    }
}
