package import Digests
package import Errors
internal import Files
package import Foundation
internal import TileBodies

/// A folder with tiles as files.
///
/// Files whose path does not begin with a number are not part of the tree: a folder may have a web page beside its tiles. Symbolic links
/// are not followed.
package final class TileFolder: TileTree {
    package let kind = "folder"
    package private(set) var size: UInt64 = 0
    package private(set) var strange: [VerifyReport.Problem] = []
    package let isExact = true
    private let folder: URL

    /// Reads nothing yet.
    package init(_ folder: URL) { self.folder = folder }

    /// Whether a path is a folder with a `tiles.json`.
    package static func isThere(_ url: URL) -> Bool {
        // The folder itself may be named by a link.
        kind(of: url.resolvingSymlinksInPath().path) == S_IFDIR
            && kind(of: url.appendingPathComponent(TreePath.metadata).path) == S_IFREG
    }

    /// Whether Packhorse wrote the folder at a path, so that it may be replaced when that is wanted.
    package static func isOurs(_ url: URL) -> Bool {
        guard isThere(url) else { return false }
        let folder = TileFolder(url)
        // What cannot be read is not known to be ours.
        guard let text = try? folder.bytes(of: folder.file(TreePath.metadata)) else { return false }
        return TreeMetadata(text)?.promisesSeal ?? false
    }

    package func files(_ each: (TreeFile) throws -> Void) throws {
        (size, strange) = (0, [])
        for zoom in try names("") {
            if zoom == TreePath.metadata { try add(zoom, each) }
            guard Self.isNumber(zoom), Self.kind(of: path(zoom)) == S_IFDIR else { continue }
            for column in try names(zoom) {
                let below = "\(zoom)/\(column)"
                guard Self.kind(of: path(below)) == S_IFDIR else {
                    note(below)
                    continue
                }
                for row in try names(below) { try add("\(below)/\(row)", each) }
            }
        }
    }

    /// The names of what lies beside the tiles: everything but `tiles.json` and folders whose name is a number.
    package func others() throws(ArchiveError) -> [String] {
        try names("").filter { name in
            name != TreePath.metadata && !(Self.isNumber(name) && Self.kind(of: path(name)) == S_IFDIR)
        }
    }

    package func bytes(of file: TreeFile) throws(ArchiveError) -> [UInt8] {
        guard file.length <= UInt64(Gzip.defaultLimit) else { throw TreePath.tooLarge(file.name, file.length) }
        do throws(StorageError) {
            let handle = try FileDescriptor(reading: folder.appendingPathComponent(file.name))
            guard handle.size == file.length else {
                throw StorageError(.corrupt, "'\(file.name)' has \(handle.size) bytes now; it had \(file.length).")
            }
            return try handle.read(at: 0, count: Int(file.length))
        } catch {
            throw ArchiveError(error.code == .corrupt ? .badArchive : .unreadable, error.message, cause: error)
        }
    }

    package func digest() throws -> Digest {
        try Digest.ofFile(folder.appendingPathComponent(TreePath.metadata)).digest
    }

    private func file(_ name: String) -> TreeFile {
        var status = stat()
        let size = lstat(path(name), &status) == 0 ? UInt64(max(0, status.st_size)) : 0
        return TreeFile(name: name, place: 0, length: size)
    }

    private func add(_ name: String, _ each: (TreeFile) throws -> Void) throws {
        guard Self.kind(of: path(name)) == S_IFREG else { return note(name) }
        let file = file(name)
        size += file.length
        try each(file)
    }

    /// Names a file that is not part of the tree; hidden ones are left by file managers.
    private func note(_ name: String) {
        guard name.split(separator: "/").last?.hasPrefix(".") != true else { return }
        strange.append(.init(code: "unknown-file", place: String(name.prefix(200)), message: "it is no tile"))
    }

    private func names(_ below: String) throws(ArchiveError) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: path(below)).sorted() } catch {
            throw ArchiveError(
                .unreadable, "'\(path(below))' cannot be read: \(error.localizedDescription)", cause: error)
        }
    }

    private func path(_ name: String) -> String { name.isEmpty ? folder.path : "\(folder.path)/\(name)" }

    private static func isNumber(_ name: String) -> Bool { Int(name)?.description == name }

    /// The type of what has this name, without following a link; `nil` for nothing.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
