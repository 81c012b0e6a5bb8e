public import Foundation
internal import TileBodies

extension StoredZip {
    /// One file of an archive.
    struct Member: Hashable {
        let name: String
        let crc32: UInt32
        let size: Int
        /// Where its local header begins.
        let offset: Int
    }

    /// Bytes of a directory beyond which an archive is refused: 65,534 names of 240 bytes.
    private static let maxDirectory = 20 << 20

    /// Whether a file begins with the signature of a ZIP archive.
    public static func looksLikeZip(_ file: URL) -> Bool {
        // A file that cannot be read is no archive; what opens it reports the cause.
        guard let handle = try? FileHandle(forReadingFrom: file) else { return false }
        // The file was only read: closing it cannot lose data.
        defer { try? handle.close() }
        // A file that cannot be read is no archive; what opens it reports the cause.
        let start = (try? handle.read(upToCount: 4)).flatMap { $0 }.map { [UInt8]($0) }
        return start == [0x50, 0x4B, 3, 4] || start == [0x50, 0x4B, 5, 6]
    }

    /// Unpacks an archive whose files are stored without compression, such as ``write(_:of:to:)`` makes, into an
    /// existing empty folder.
    ///
    /// Safe on hostile bytes: names stay inside the folder, each occurs once, no file overlaps another, and checksums
    /// are compared; so the output is never larger than the archive. Blocks; memory: the largest file.
    /// - Throws: ``StylesError`` `bad-style-pack` with the reason; `io`, `disk-full`.
    public static func unpack(_ file: URL, into folder: URL) throws(StylesError) {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            let size = Int(clamping: try handle.seekToEnd())
            for member in try members(handle, size) {
                let body = try bytes(of: member, handle, size)
                let target = folder.appendingPathComponent(member.name)
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(body).write(to: target, options: .withoutOverwriting)
            }
        } catch let error as StylesError {
            throw error
        } catch {
            throw PackFile.error(error, file)
        }
    }

    /// The files of an archive, in the order of their offsets.
    static func members(_ handle: FileHandle, _ size: Int) throws -> [Member] {
        let end = try read(handle, at: max(0, size - 22 - 0xFFFF), count: min(size, 22 + 0xFFFF))
        // A comment may follow the record; the record contains its length.
        let start = stride(from: end.count - 22, through: 0, by: -1).first { at in
            end.little(at, 4) == 0x0605_4B50 && at + 22 + end.little(at + 20, 2) == end.count
        }
        guard let start else { throw bad("it has no end record: it is truncated or not a ZIP archive") }
        let (count, length, place) = (end.little(start + 10, 2), end.little(start + 12, 4), end.little(start + 16, 4))
        guard end.little(start + 4, 4) == 0, end.little(start + 8, 2) == count, count < 0xFFFF,
            length <= maxDirectory, place + length <= size
        else { throw bad("it is in several parts, or its directory is outside of it") }
        let directory = try read(handle, at: place, count: length)
        var members: [Member] = []
        var at = 0
        for _ in 0..<count {
            guard at + 46 <= directory.count, directory.little(at, 4) == 0x0201_4B50 else {
                throw bad("its directory ends early")
            }
            let (named, extra, said) = (
                directory.little(at + 28, 2), directory.little(at + 30, 2), directory.little(at + 32, 2)
            )
            guard at + 46 + named + extra + said <= directory.count else { throw bad("its directory ends early") }
            let name = String(decoding: directory[at + 46..<at + 46 + named], as: UTF8.self)
            guard PackPath.isInside(name) else { throw bad("'\(name.prefix(100))' leads out of its folder") }
            guard directory.little(at + 8, 2) & 1 == 0, directory.little(at + 10, 2) == 0,
                directory.little(at + 20, 4) == directory.little(at + 24, 4)
            else { throw bad("'\(name.prefix(100))' is packed or encrypted; unpack the archive and give its folder") }
            members.append(
                Member(
                    name: name, crc32: UInt32(directory.little(at + 16, 4)), size: directory.little(at + 24, 4),
                    offset: directory.little(at + 42, 4)))
            at += 46 + named + extra + said
        }
        members.sort { $0.offset < $1.offset }
        let ends = members.dropFirst().map(\.offset) + [place]
        guard Set(members.map(\.name)).count == members.count,
            zip(members, ends).allSatisfy({ $0.offset + 30 + $0.name.utf8.count + $0.size <= $1 })
        else { throw bad("it names a file twice, or files overlap") }
        return members
    }

    static func bytes(of member: Member, _ handle: FileHandle, _ size: Int) throws -> [UInt8] {
        let head = try read(handle, at: member.offset, count: 30)
        guard head.little(0, 4) == 0x0403_4B50, head.little(26, 2) == member.name.utf8.count else {
            throw bad("'\(member.name)' is not where the directory says")
        }
        let start = member.offset + 30 + head.little(26, 2) + head.little(28, 2)
        guard start + member.size <= size else { throw bad("'\(member.name)' ends outside of it") }
        let body = try read(handle, at: start, count: member.size)
        guard Zlib.crc32(body) == member.crc32 else { throw bad("the checksum of '\(member.name)' is wrong") }
        return body
    }

    private static func read(_ handle: FileHandle, at offset: Int, count: Int) throws -> [UInt8] {
        try handle.seek(toOffset: UInt64(max(0, offset)))
        let bytes = count > 0 ? [UInt8](try handle.read(upToCount: count) ?? Data()) : []
        guard bytes.count == count else { throw bad("it ends early") }
        return bytes
    }

    private static func bad(_ what: String) -> StylesError {
        StylesError(.badPack, "The archive cannot be read as a style pack: \(what).")
    }
}

extension [UInt8] {
    /// A little-endian number of up to four bytes; the caller has checked that they are there.
    fileprivate func little(_ at: Int, _ count: Int) -> Int {
        self[at..<at + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
