internal import Digests
internal import Files
internal import Foundation
internal import PackageFiles

/// Writes files into a new folder.
final class FolderWriter: TreeWriter {
    private let folder: URL
    /// The folder of the last file, which exists.
    private var last = ""

    init(_ folder: URL) throws {
        self.folder = folder
        try make("")
    }

    func add(_ name: String, _ bytes: [UInt8]) throws {
        let below = name.split(separator: "/").dropLast().joined(separator: "/")
        if !below.isEmpty, below != last {
            if let zoom = below.split(separator: "/").first, !last.hasPrefix("\(zoom)/") { try make("\(zoom)") }
            try make(below)
            last = below
        }
        let file = try FileDescriptor(creating: folder.appending(path: name))
        try file.write(bytes)
        try file.close()
    }

    /// One step flushes all files: a flush of each would take hours.
    func finish() throws { try Durable.sync(everythingNear: folder) }

    /// Everything else is under the seal of `tiles.json`.
    func digest(_ metadata: [UInt8]) -> Digest { Digest(of: metadata) }

    private func make(_ below: String) throws {
        let path = below.isEmpty ? folder.path : "\(folder.path)/\(below)"
        guard mkdir(path, 0o755) == 0 else { throw StorageError.system(errno, action: "create folder", path: path) }
    }
}
