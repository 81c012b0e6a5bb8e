internal import Errors
internal import Files
public import Foundation
internal import TileBodies

/// A ZIP archive with uncompressed files and a fixed date: its bytes depend only on names and contents.
///
/// - Source: PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16; names are UTF-8 (general purpose bit 11).
public enum StoredZip {
    /// 1 January 1980, midnight: the first date the format knows.
    private static let date: UInt32 = 0x0021_0000

    /// Writes the files of a folder under their relative names, sorted, and renames the finished archive into place.
    ///
    /// Blocks; memory: the largest file.
    /// - Throws: ``StylesError`` `too-large` beyond what ZIP without its 64-bit form can hold (65,534 files, 4 GiB); `io`,
    ///   `disk-full`, `exists`.
    public static func write(_ files: [String], of folder: URL, to target: URL) throws(StylesError) {
        guard files.count < 0xFFFF else {
            throw StylesError(.tooLarge, "A ZIP archive holds at most 65,534 files; there are \(files.count).")
        }
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw StylesError(.exists, "'\(target.path)' exists already; remove it first.")
        }
        let temporary = TemporaryName.nextTo(target)
        do {
            guard FileManager.default.createFile(atPath: temporary.path, contents: nil) else {
                throw StylesError(.io, "Cannot create '\(temporary.path)'.")
            }
            let handle = try FileHandle(forWritingTo: temporary)
            // `synchronize` below reports what cannot be written.
            defer { try? handle.close() }
            try fill(
                handle, with: files.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }, from: folder)
            try handle.synchronize()
            try Durable.rename(temporary, to: target)
        } catch {
            unlink(temporary.path)
            if let error = error as? StylesError { throw error }
            if let error = error as? StorageError { throw PackFile.error(error) }
            throw PackFile.error(error, target)
        }
    }

    private static func fill(_ handle: FileHandle, with files: [String], from folder: URL) throws {
        var directory: [UInt8] = []
        var offset = 0
        for name in files {
            let body = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
            guard offset + body.count + directory.count < 0xFFF0_0000 else {
                throw StylesError(.tooLarge, "A ZIP archive without its 64-bit form ends at 4 GiB; use a folder.")
            }
            // Version 2.0, bit 11, stored, date, checksum, both sizes, length of the name, no extra field.
            var common: [UInt8] = []
            common.little(20, 2)
            common.little(1 << 11, 2)
            common.little(0, 2)
            common.little(Int(date), 4)
            common.little(Int(Zlib.crc32(body)), 4)
            common.little(body.count, 4)
            common.little(body.count, 4)
            common.little(name.utf8.count, 2)
            common.little(0, 2)
            var head: [UInt8] = []
            head.little(0x0403_4B50, 4)
            head += common + Array(name.utf8)
            try handle.write(contentsOf: Data(head + body))
            // Made by version 2.0; no comment, disk 0, no attributes, place of the file.
            directory.little(0x0201_4B50, 4)
            directory.little(20, 2)
            directory += common
            directory.little(0, 2)
            directory.little(0, 2)
            directory.little(0, 2)
            directory.little(0, 4)
            directory.little(offset, 4)
            directory += Array(name.utf8)
            offset += head.count + body.count
        }
        var end: [UInt8] = []
        end.little(0x0605_4B50, 4)
        end.little(0, 4)
        end.little(files.count, 2)
        end.little(files.count, 2)
        end.little(directory.count, 4)
        end.little(offset, 4)
        end.little(0, 2)
        try handle.write(contentsOf: Data(directory + end))
    }
}

extension [UInt8] {
    fileprivate mutating func little(_ value: Int, _ count: Int) {
        for byte in 0..<count { append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
}
