internal import Errors
internal import Files
public import Foundation

/// Backups in a folder, which may be on a network file system.
public struct FolderBackupPlace: BackupPlace {
    /// The folder.
    public let folder: URL
    /// Its path.
    public var name: String { folder.path }

    /// A place in a folder, which must exist when it is used: a new one where a file system is not mounted would be empty.
    public init(_ folder: URL) { self.folder = folder }

    /// The names in the folder of a kind.
    public func names(of kind: BackupObjectKind) async throws -> [String] {
        try await FileWork.run { try list(kind).filter { !$0.hasPrefix(".") } }
    }

    /// Writes under a hidden name, flushes and renames.
    public func write(_ bytes: [UInt8], to name: String, of kind: BackupObjectKind) async throws {
        try await FileWork.run {
            try requireFolder()
            try Durable.makeFolder(url(kind))
            try Durable.write(bytes, to: url(kind).appending(path: name))
        }
    }

    /// Reads a file; one of more than 8 MiB is refused as damaged.
    public func read(_ name: String, _ kind: BackupObjectKind) async throws -> [UInt8]? {
        try await FileWork.run {
            let file = url(kind).appending(path: name)
            guard FileManager.default.fileExists(atPath: file.path) else {
                try requireFolder()
                return nil
            }
            let descriptor = try FileDescriptor(reading: file)
            guard descriptor.size <= 8 << 20 else {
                throw BackupError(.damaged, "'\(file.path)' is larger than a part of a backup can be.")
            }
            return try descriptor.read(at: 0, count: Int(descriptor.size))
        }
    }

    /// Removes a file.
    public func remove(_ name: String, _ kind: BackupObjectKind) async throws {
        try await FileWork.run { try Durable.remove(url(kind).appending(path: name)) }
    }

    /// Removes files with the hidden names of files that are being written.
    public func removeUnfinished() async throws {
        try await FileWork.run {
            for kind in BackupObjectKind.allCases {
                for name in try list(kind) where name.hasPrefix(".") && name.hasSuffix(".tmp") {
                    try Durable.remove(url(kind).appending(path: name))
                }
            }
        }
    }

    private func url(_ kind: BackupObjectKind) -> URL { folder.appending(path: kind.path, directoryHint: .isDirectory) }

    private func list(_ kind: BackupObjectKind) throws -> [String] {
        try requireFolder()
        let folder = url(kind)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    private func requireFolder() throws(BackupError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw BackupError(
                .badPlace, "The folder of backups '\(folder.path)' does not exist.",
                hint: "create or mount it, or correct its name")
        }
    }
}
