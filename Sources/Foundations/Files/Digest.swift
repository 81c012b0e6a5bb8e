internal import Cryptography
public import Errors
public import Foundation
internal import TextFormats

/// The SHA-256 of some bytes: the name of a blob, and the identity of a tile body.
public struct Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 32 bytes as four big-endian words, first byte first.
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// Takes 32 bytes as they are; `nil` for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
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

    /// Hashes bytes held in memory.
    public init(of bytes: some ContiguousBytes) {
        var hasher = DigestHasher()
        hasher.update(bytes)
        self = hasher.finish()
    }

    /// Hashes a whole file, reading 1 MiB at a time.
    ///
    /// Blocks for the time of reading the file.
    /// - Throws: `io` when it cannot be read.
    public static func ofFile(_ url: URL) throws(StorageError) -> (digest: Digest, size: UInt64) {
        let file = try FileDescriptor(reading: url)
        var hasher = DigestHasher()
        var offset: UInt64 = 0
        while offset < file.size {
            let bytes = try file.read(at: offset, count: Int(min(1 << 20, file.size - offset)))
            hasher.update(bytes)
            offset += UInt64(bytes.count)
        }
        return (hasher.finish(), offset)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    /// 64 lower-case hexadecimal digits.
    public var hex: String { Hexadecimal.text(bytes) }

    /// The first 16 bytes as two words: enough to distinguish any number of bodies in a table, if none was made to
    /// collide.
    public var prefix128: (UInt64, UInt64) { (words.0, words.1) }

    /// The same as ``hex``.
    public var description: String { hex }

    /// Byte order.
    public static func < (left: Digest, right: Digest) -> Bool { left.words < right.words }
    /// All 32 bytes equal.
    public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }
    /// Hashes the first eight bytes; the rest cannot add anything to a SHA-256.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

/// SHA-256 of bytes that come in pieces.
package struct DigestHasher {
    private var hash = SHA256()

    package init() {}

    package mutating func update(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { hash.update($0) }
    }

    package func finish() -> Digest {
        var words: [UInt64] = []
        hash.finish().withUnsafeBytes { raw in
            for index in 0..<4 {
                words.append(UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)))
            }
        }
        return Digest(words: (words[0], words[1], words[2], words[3]))
    }
}

extension Digest {
    init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }
}
