public import Foundation
internal import TextFormats

/// A SHA-256: the name of a blob, and the identity of a tile body.
///
/// Stored inline: a table of digests needs no other allocation. `Files` computes it. Shards, wire messages and rows are
/// read with one initialiser for each type of bytes: an initialiser that is generic over collections would run
/// unspecialised in other modules, ten times slower.
public struct Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 32 bytes as four big-endian words, first byte first.
    @usableFromInline let words: (UInt64, UInt64, UInt64, UInt64)

    /// Takes 32 bytes as they are; `nil` for any other number of them.
    @inlinable public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        words = (
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        )
    }

    /// Takes 32 bytes as they are; `nil` for any other number of them.
    @inlinable public init?(bytes: [UInt8]) {
        guard let digest = bytes.withUnsafeBytes({ Digest(bytes: $0) }) else { return nil }
        self = digest
    }

    /// Takes 32 bytes as they are; `nil` for any other number of them.
    @inlinable public init?(bytes: ArraySlice<UInt8>) {
        guard let digest = bytes.withUnsafeBytes({ Digest(bytes: $0) }) else { return nil }
        self = digest
    }

    /// Takes 32 bytes as they are; `nil` for any other number of them.
    @inlinable public init?(bytes: Data) {
        guard let digest = bytes.withUnsafeBytes({ Digest(bytes: $0) }) else { return nil }
        self = digest
    }

    /// Reads 64 hexadecimal digits of either case; `nil` for anything else.
    public init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(bytes: bytes)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            let target = UnsafeMutableRawBufferPointer(buffer)
            target.storeBytes(of: words.0.bigEndian, as: UInt64.self)
            target.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
            target.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
            target.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
            count = 32
        }
    }

    /// 64 lower-case hexadecimal digits.
    public var hex: String { Hexadecimal.text(bytes) }

    /// The first 16 bytes as two words: enough to distinguish any number of bodies in a table, if none was made to
    /// collide.
    @inlinable public var prefix128: (UInt64, UInt64) { (words.0, words.1) }

    /// The same as ``hex``.
    public var description: String { hex }

    /// Byte order.
    @inlinable public static func < (left: Digest, right: Digest) -> Bool { left.words < right.words }
    /// All 32 bytes equal.
    @inlinable public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }
    /// Hashes the first eight bytes; the rest cannot add anything to a SHA-256.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

extension Digest: Codable {
    /// Reads the hexadecimal text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "A digest is 64 hexadecimal digits.")
        }
        self = digest
    }

    /// Writes the hexadecimal text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
