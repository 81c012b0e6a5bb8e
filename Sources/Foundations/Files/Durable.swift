public import Errors
public import Foundation
internal import Synchronization

/// The steps that make a file survive a power cut: flush it, rename it into place, flush the folder.
public enum Durable {
    /// Flushes a file's bytes and metadata to the medium.
    public static func sync(file: URL) throws(StorageError) { try sync(path: file.path, flags: O_RDONLY) }

    /// Flushes a folder, so that names created, renamed or removed in it are kept.
    public static func sync(folder: URL) throws(StorageError) {
        try sync(path: folder.path, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Renames within one file system, replacing what was there, and flushes the folder of the new name.
    public static func rename(_ from: URL, to: URL) throws(StorageError) {
        guard Foundation.rename(from.path, to.path) == 0 else {
            throw StorageError.system(errno, action: "rename to", path: to.path)
        }
        try sync(folder: to.deletingLastPathComponent())
    }

    /// Removes a file; a missing file is not an error.
    public static func remove(_ url: URL) throws(StorageError) {
        guard unlink(url.path) == 0 || errno == ENOENT else {
            throw StorageError.system(errno, action: "remove", path: url.path)
        }
    }

    /// Held while folders are created or removed, so that no thread removes the folder that another one has just made.
    private static let folders = Mutex(())

    /// Removes the empty folders of removed files, and empty folders above them; `root` stays.
    public static func removeEmptyFolders(of files: [URL], upTo root: URL) {
        let root = root.standardizedFileURL.path
        folders.withLock { _ in
            for file in files {
                var parent = file.standardizedFileURL.deletingLastPathComponent()
                while parent.path.count > root.count, rmdir(parent.path) == 0 { parent.deleteLastPathComponent() }
            }
        }
    }

    /// Creates a folder and those above it, and flushes the folder above each new one.
    ///
    /// Other threads and processes may create the same folders at the same time.
    ///
    /// - Parameter isAlone: Whether the parent folder must exist.
    /// - Throws: ``StorageError`` when the folder cannot be created, and when a file has its name.
    public static func makeFolder(_ url: URL, isAlone: Bool = false) throws(StorageError) {
        try folders.withLock { (_) throws(StorageError) in try create(url, isAlone: isAlone) }
    }

    private static func create(_ url: URL, isAlone: Bool) throws(StorageError) {
        let above = url.deletingLastPathComponent()
        if mkdir(url.path, 0o755) == 0 { return try sync(folder: above) }
        let number = errno
        if number == EEXIST {
            var status = stat()
            if stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR { return }
            throw StorageError(.io, "Cannot create folder '\(url.path)': a file with that name exists.")
        }
        guard !isAlone, number == ENOENT, above.path != url.path else {
            throw StorageError.system(number, action: "create folder", path: url.path)
        }
        try create(above, isAlone: false)
        try create(url, isAlone: true)
    }

    /// Creates the folder of the new name unless it exists, renames the file, and flushes that folder.
    ///
    /// No other thread removes the folder with ``removeEmptyFolders(of:upTo:)`` before the file is in it.
    ///
    /// - Throws: ``StorageError`` when the folder cannot be created or the file cannot be renamed.
    public static func rename(_ from: URL, creatingFolderOf to: URL) throws(StorageError) {
        try folders.withLock { (_) throws(StorageError) in
            try create(to.deletingLastPathComponent(), isAlone: false)
            try rename(from, to: to)
        }
    }

    /// Writes a small file so that readers see the old bytes or the new ones, never a mixture.
    ///
    /// The temporary name is in the same folder and is removed when anything fails.
    public static func write(_ bytes: [UInt8], to url: URL) throws(StorageError) {
        try replace(url) { (file) throws(StorageError) in try file.write(bytes) }
    }

    private static func replace(_ url: URL, _ fill: (FileDescriptor) throws(StorageError) -> Void) throws(StorageError)
    {
        let temporary = TemporaryName.nextTo(url)
        do throws(StorageError) {
            let file = try FileDescriptor(creating: temporary)
            try fill(file)
            try file.sync()
            try file.close()
            try rename(temporary, to: url)
        } catch {
            unlink(temporary.path)
            throw error
        }
    }

    /// Copies a file so that the new name appears with all of its bytes flushed, or not at all.
    public static func copy(_ from: URL, to url: URL) throws(StorageError) {
        let source = try FileDescriptor(reading: from)
        try replace(url) { (target) throws(StorageError) in
            var offset: UInt64 = 0
            while offset < source.size {
                let bytes = try source.read(at: offset, count: Int(min(1 << 20, source.size - offset)))
                try target.write(bytes)
                offset += UInt64(bytes.count)
            }
        }
    }

    /// Bytes an unprivileged process may still write to the file system of a path.
    public static func freeBytes(_ url: URL) throws(StorageError) -> UInt64 {
        guard let space = DiskSpace.of(url) else { throw StorageError.system(errno, action: "inspect", path: url.path) }
        return space.free
    }

    private static func sync(path: String, flags: Int32) throws(StorageError) {
        let handle = open(path, flags | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: path) }
        defer { close(handle) }
        while fsync(handle) != 0 {
            // Some file systems (FUSE, SMB) cannot flush a folder and report that; this is ignored.
            if errno == EINVAL && flags & O_DIRECTORY != 0 { return }
            guard errno == EINTR else { throw StorageError.system(errno, action: "flush", path: path) }
        }
    }
}
