public import CatalogFormat
public import Errors
internal import Files
public import Foundation

/// A folder as one tar archive whose bytes depend only on names and contents.
///
/// Names are in the order of their bytes; times, owners and permissions are the same for all files. Empty folders are left out.
///
/// - Source: POSIX.1-2017, `pax`, section "ustar Interchange Format"; sizes from 8 GiB on as GNU tar writes them.
public enum CompanionArchive {
    /// What follows the id in the name of an archive.
    public static let fileExtension = ".tar"
    private static let block = 512
    private static let chunk = 1 << 20
    /// Larger folders are refused: their names are kept in memory.
    static let mostFiles = 1_000_000

    /// Writes the archive of a folder piece by piece; blocks, and needs the memory of its names and 1 MiB.
    ///
    /// - Parameter sink: Gets the bytes in their order.
    /// - Throws: `bad-request` for links and other things that are no files, for names that tar cannot hold, for a folder without a
    ///   file, and when a file changes while it is read; `io`.
    public static func write(
        _ folder: URL, to sink: ([UInt8]) throws(CatalogError) -> Void
    ) throws(CatalogError) {
        var names: [String] = []
        try find(below: folder, "", &names)
        guard !names.isEmpty else {
            throw CatalogError(.badRequest, "The folder '\(folder.path)' has no file.")
        }
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try add(folder.appendingPathComponent(name), name, to: sink)
        }
        try sink([UInt8](repeating: 0, count: 2 * block))
    }

    private static func find(below folder: URL, _ prefix: String, _ names: inout [String]) throws(CatalogError) {
        let children: [String]
        do { children = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            throw CatalogError(
                .io, "Cannot read the folder '\(folder.path)': \(error.localizedDescription)", cause: error)
        }
        for child in children {
            let place = folder.appendingPathComponent(child)
            var status = stat()
            guard lstat(place.path, &status) == 0 else {
                throw CatalogError(.io, "Cannot inspect '\(place.path)': \(String(cString: strerror(errno)))")
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try find(below: place, "\(prefix)\(child)/", &names)
            case S_IFREG: names.append(prefix + child)
            default:
                throw CatalogError(
                    .badRequest,
                    "'\(place.path)' is neither a file nor a folder. Remove it, or put the file in its place.")
            }
            guard names.count <= mostFiles else {
                throw CatalogError(.badRequest, "A folder of a companion has at most \(mostFiles) files.")
            }
        }
    }

    private static func add(
        _ file: URL, _ name: String, to sink: ([UInt8]) throws(CatalogError) -> Void
    ) throws(CatalogError) {
        let open = try CatalogError.naming { () throws(StorageError) in try FileDescriptor(reading: file) }
        let size = open.size
        try sink(try header(name, size: size, file))
        var done: UInt64 = 0
        while done < size {
            let bytes = try CatalogError.naming { () throws(StorageError) in
                try open.read(at: done, count: Int(min(UInt64(chunk), size - done)))
            }
            guard !bytes.isEmpty else { throw changed(file) }
            try sink(bytes)
            done += UInt64(bytes.count)
        }
        let now = try CatalogError.naming { () throws(StorageError) in try file.fileSize() }
        guard now == size else { throw changed(file) }
        let rest = Int(size % UInt64(block))
        if rest > 0 { try sink([UInt8](repeating: 0, count: block - rest)) }
    }

    static func changed(_ file: URL) -> CatalogError {
        CatalogError(.badRequest, "'\(file.path)' changed while it was read. Repeat the command when it is finished.")
    }

    private static func header(_ name: String, size: UInt64, _ file: URL) throws(CatalogError) -> [UInt8] {
        guard let (prefix, rest) = split(name) else {
            throw CatalogError(
                .badRequest,
                "The name of '\(file.path)' is too long for tar: a name has at most 100 bytes, the folders above it 155."
            )
        }
        var bytes = [UInt8](repeating: 0, count: block)
        func put(_ text: [UInt8], at place: Int) { bytes.replaceSubrange(place..<place + text.count, with: text) }
        func octal(_ value: UInt64, _ digits: Int) -> [UInt8] {
            let text = String(value, radix: 8)
            return Array((String(repeating: "0", count: digits - text.utf8.count) + text).utf8)
        }
        put(Array(rest), at: 0)
        put(octal(0o644, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        if size < 1 << 33 {
            put(octal(size, 11), at: 124)
        } else {
            put(
                [0x80, 0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: size >> (8 * UInt64($0))) },
                at: 124)
        }
        put(octal(0, 11), at: 136)
        put(Array("        0".utf8), at: 148)
        put(Array("ustar\u{0}00".utf8), at: 257)
        put(octal(0, 7), at: 329)
        put(octal(0, 7), at: 337)
        put(Array(prefix), at: 345)
        put(octal(bytes.reduce(0) { $0 + UInt64($1) }, 6) + [0, UInt8(ascii: " ")], at: 148)
        return bytes
    }

    /// The name in the two fields of tar; `nil` when it fits in no way.
    private static func split(_ name: String) -> (prefix: Substring.UTF8View, rest: Substring.UTF8View)? {
        let bytes = name[...].utf8
        if bytes.count <= 100 { return (name.prefix(0).utf8, bytes) }
        for place in bytes.indices where bytes[place] == UInt8(ascii: "/") {
            let rest = bytes[bytes.index(after: place)...]
            if rest.count <= 100 {
                let prefix = bytes[..<place]
                return prefix.count <= 155 && !rest.isEmpty ? (prefix, rest) : nil
            }
        }
        return nil
    }
}
