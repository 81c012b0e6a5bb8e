import TileBodies

/// ZIP archives for tests.
enum ZipSample {
    /// A bare deflate stream: zlib's without its header and checksum.
    static func deflated(_ bytes: [UInt8]) -> [UInt8] { Array(Zlib.compress(bytes).dropFirst(2).dropLast(4)) }

    static func archive(_ files: [(name: String, text: String)], isPacked: Bool) -> [UInt8] {
        archive(
            files.map { file in
                let bytes = Array(file.text.utf8)
                return Part(
                    name: file.name, packed: isPacked ? deflated(bytes) : bytes, unpacked: bytes.count,
                    crc: Zlib.crc32(bytes), method: isPacked ? 8 : 0)
            })
    }

    static func archive(name: String, packed: [UInt8], unpacked: Int, crc: UInt32, method: Int) -> [UInt8] {
        archive([Part(name: name, packed: packed, unpacked: unpacked, crc: crc, method: method)])
    }

    private struct Part {
        let name: String
        let packed: [UInt8]
        let unpacked: Int
        let crc: UInt32
        let method: Int
    }

    private static func archive(_ parts: [Part]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for part in parts {
            let name = Array(part.name.utf8)
            let common =
                little(20, 2) + little(0, 2) + little(part.method, 2) + little(0, 4) + little(Int(part.crc), 4)
                + little(part.packed.count, 4) + little(part.unpacked, 4) + little(name.count, 2) + little(0, 2)
            directory += little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2)
            directory += little(0, 4) + little(bytes.count, 4) + name
            bytes += little(0x0403_4B50, 4) + common + name + part.packed
        }
        let start = bytes.count
        return bytes + directory + little(0x0605_4B50, 4) + little(0, 4) + little(parts.count, 2)
            + little(parts.count, 2)
            + little(directory.count, 4) + little(start, 4) + little(0, 2)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
