import Errors
import TileBodies

/// The files of a ZIP archive in memory, by its central directory.
///
/// Bounds are checked before anything is unpacked; a file unpacks to at most ``unpackedLimit``, and to exactly what the directory says.
struct ZipEntries {
    /// The largest archive: 256 MiB.
    static let packedLimit = 256 << 20
    /// The most that a file unpacks to: 64 MiB.
    static let unpackedLimit = 64 << 20

    struct Entry {
        let name: String
        fileprivate let flags: Int
        fileprivate let method: Int
        fileprivate let crc: Int
        fileprivate let packed: Int
        fileprivate let unpacked: Int
        fileprivate let offset: Int
    }

    private let bytes: [UInt8]
    let entries: [Entry]

    /// Reads the directory.
    ///
    /// - Throws: `.badArea` when it is damaged or uses zip64.
    init(_ bytes: [UInt8]) throws(AreaFileError) {
        self.bytes = bytes
        guard let end = Self.endRecord(bytes) else {
            throw AreaFileError(.badArea, "the ZIP archive has no directory at its end; it is cut or damaged")
        }
        let count = Self.little(bytes, at: end + 10, count: 2)
        let size = Self.little(bytes, at: end + 12, count: 4)
        let start = Self.little(bytes, at: end + 16, count: 4)
        guard count < 0xFFFF, size < 0xFFFF_FFFF, start < 0xFFFF_FFFF, size <= end else {
            throw AreaFileError(.badArea, "the ZIP archive's directory lies outside of it, or needs zip64")
        }
        // What was put before an archive, or taken away, moves everything in it.
        let shift = end - size - start
        var entries: [Entry] = []
        var position = end - size
        for _ in 0..<count {
            guard position + 46 <= end, Self.little(bytes, at: position, count: 4) == 0x0201_4B50 else {
                throw Self.damaged("its directory ends early")
            }
            let nameLength = Self.little(bytes, at: position + 28, count: 2)
            let next =
                position + 46 + nameLength + Self.little(bytes, at: position + 30, count: 2)
                + Self.little(bytes, at: position + 32, count: 2)
            guard next <= end else { throw Self.damaged("its directory ends early") }
            entries.append(
                Entry(
                    name: String(decoding: bytes[position + 46..<position + 46 + nameLength], as: UTF8.self),
                    flags: Self.little(bytes, at: position + 8, count: 2),
                    method: Self.little(bytes, at: position + 10, count: 2),
                    crc: Self.little(bytes, at: position + 16, count: 4),
                    packed: Self.little(bytes, at: position + 20, count: 4),
                    unpacked: Self.little(bytes, at: position + 24, count: 4),
                    offset: Self.little(bytes, at: position + 42, count: 4) + shift))
            position = next
        }
        self.entries = entries
    }

    /// The content of a file.
    ///
    /// - Throws: `.badArea`, `.tooLarge`.
    func content(of entry: Entry) throws(AreaFileError) -> [UInt8] {
        guard entry.flags & 1 == 0 else { throw Self.damaged("'\(entry.name.prefix(100))' is encrypted") }
        guard entry.unpacked <= Self.unpackedLimit else {
            throw AreaFileError(
                .tooLarge,
                "'\(entry.name.prefix(100))' unpacks to \(entry.unpacked >> 20) MiB; the limit is \(Self.unpackedLimit >> 20) MiB",
                hint: "unpack it and give the .kml file")
        }
        let offset = entry.offset
        guard offset >= 0, offset + 30 <= bytes.count, Self.little(bytes, at: offset, count: 4) == 0x0403_4B50 else {
            throw Self.damaged("'\(entry.name.prefix(100))' is not where the directory says")
        }
        let start =
            offset + 30 + Self.little(bytes, at: offset + 26, count: 2) + Self.little(bytes, at: offset + 28, count: 2)
        guard start + entry.packed <= bytes.count else {
            throw Self.damaged("'\(entry.name.prefix(100))' goes beyond its end")
        }
        let packed = Array(bytes[start..<start + entry.packed])
        let content: [UInt8]
        switch entry.method {
        case 0: content = packed
        case 8:
            do throws(TileBodiesError) {
                content = try Deflate.decompress(packed, limit: max(1, entry.unpacked))
            } catch {
                throw Self.damaged("'\(entry.name.prefix(100))' does not unpack to what the directory says")
            }
        default: throw Self.damaged("'\(entry.name.prefix(100))' is packed by method \(entry.method); expected 0 or 8")
        }
        guard content.count == entry.unpacked, Int(Zlib.crc32(content)) == entry.crc else {
            throw Self.damaged("'\(entry.name.prefix(100))' is not what its checksum says")
        }
        return content
    }

    private static func damaged(_ what: String) -> AreaFileError {
        AreaFileError(.badArea, "the ZIP archive is damaged or unusual: \(what)")
    }

    /// Where the record at the end of an archive begins: within the last 64 KiB, before a comment.
    private static func endRecord(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 22 else { return nil }
        var position = bytes.count - 22
        let first = max(0, position - 0xFFFF)
        while position >= first {
            if little(bytes, at: position, count: 4) == 0x0605_4B50,
                position + 22 + little(bytes, at: position + 20, count: 2) == bytes.count
            {
                return position
            }
            position -= 1
        }
        return nil
    }

    /// A number of 2 or 4 bytes, the lowest first; the bytes must be there.
    private static func little(_ bytes: [UInt8], at position: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }
}
