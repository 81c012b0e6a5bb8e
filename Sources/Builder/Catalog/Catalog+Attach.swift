public import CatalogFormat
internal import Digests
public import Errors
internal import Files
public import Foundation

/// What was attached.
public struct AttachedCompanion: Sendable, Encodable {
    /// The package.
    public let id: String
    /// What the file is for.
    public let kind: String
    /// The version of the program that reads it; `nil` if not said.
    public let engine: String?
    /// The version of the file in the catalog.
    public let version: Int32
    /// Its path inside the catalog.
    public let file: String
    /// Bytes.
    public let size: UInt64
    /// SHA-256.
    public let sha256: String
    /// Whether the catalog had it already.
    public let unchanged: Bool
}

extension Catalog {
    /// Publishes a file, or a folder as one tar archive, below a package.
    ///
    /// The bytes are copied: the catalog keeps them when the original changes. Blocks while it reads them. Copies that killed processes
    /// left are removed first, unless another attachment is under way.
    ///
    /// - Parameters:
    ///   - source: The file or folder.
    ///   - id: The package.
    ///   - isDry: Whether to change nothing.
    /// - Throws: as ``attach(_:isDry:)`` and ``CompanionArchive``.
    public func attach(
        contentsOf source: URL, to id: String, kind: String, engine: String? = nil, dataDate: String? = nil,
        isDry: Bool = false
    ) throws(CatalogError) -> AttachedCompanion {
        if !isDry { try checkMaySign() }
        _ = try owner(of: id)
        var status = stat()
        guard stat(source.path, &status) == 0, [S_IFDIR, S_IFREG].contains(status.st_mode & S_IFMT) else {
            throw CatalogError(.badRequest, "There is no file or folder '\(source.path)'.")
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard isFolder || status.st_size > 0 else {
            throw CatalogError(.badRequest, "'\(source.path)' is empty; a companion has at least one byte.")
        }
        let words = source.lastPathComponent.split(separator: ".", omittingEmptySubsequences: false)
        let ending = words.count > 1 ? ".\(words[words.count - 1])" : ".data"
        let companion = CatalogCompanion(
            kind: kind, fileExtension: isFolder ? CompanionArchive.fileExtension : ending, engine: engine)
        try Self.check(companion)
        let making = folder.appendingPathComponent(Self.making)
        let copy = making.appendingPathComponent("companion-\(TemporaryName.random())")
        let inUse = isDry ? nil : FolderInUse(folder) { Self.removeAbandoned(in: making) }
        defer { withExtendedLifetime(inUse) {} }
        defer {
            if !isDry {
                unlink(copy.path)
                rmdir(making.path)
            }
        }
        let (digest, size) = try Self.take(source, isFolder: isFolder, into: isDry ? nil : copy)
        let done = try attach(
            CompanionRequest(
                id: id, companion: companion, file: copy, digest: digest, size: size, dataDate: dataDate), isDry: isDry)
        return AttachedCompanion(
            id: id, kind: kind, engine: engine, version: done.version, file: done.pathInside, size: size,
            sha256: digest.hex, unchanged: done.unchanged)
    }

    /// Removes the copies of killed processes.
    private static func removeAbandoned(in making: URL) {
        // Without the folder nothing was abandoned.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: making.path)) ?? []
        for name in names where name.wholeMatch(of: /companion-[0-9a-f]{32}/) != nil {
            unlink(making.appendingPathComponent(name).path)
        }
    }

    /// Copies a file or archives a folder, and hashes what it writes.
    ///
    /// - Parameter target: The file to make; `nil` only hashes.
    private static func take(
        _ source: URL, isFolder: Bool, into target: URL?
    ) throws(CatalogError) -> (Digest, UInt64) {
        var file: FileDescriptor?
        if let target {
            file = try CatalogError.naming { () throws(StorageError) in
                try Durable.makeFolder(target.deletingLastPathComponent())
                return try FileDescriptor(creating: target)
            }
        }
        var (hasher, size) = (DigestHasher(), UInt64(0))
        func add(_ bytes: [UInt8]) throws(CatalogError) {
            hasher.update(bytes)
            size += UInt64(bytes.count)
            if let file { try CatalogError.naming { () throws(StorageError) in try file.write(bytes) } }
        }
        if isFolder {
            try CompanionArchive.write(source, to: add)
        } else {
            let open = try CatalogError.naming { () throws(StorageError) in try FileDescriptor(reading: source) }
            while size < open.size {
                let count = Int(min(1 << 20, open.size - size))
                let bytes = try CatalogError.naming { () throws(StorageError) in
                    try open.read(at: size, count: count)
                }
                guard !bytes.isEmpty else { throw CompanionArchive.changed(source) }
                try add(bytes)
            }
        }
        try CatalogError.naming { () throws(StorageError) in
            try file?.sync()
            try file?.close()
        }
        return (hasher.finish(), size)
    }
}
