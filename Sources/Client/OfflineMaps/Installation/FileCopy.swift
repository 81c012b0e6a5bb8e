internal import Errors
internal import Files
internal import Foundation

/// Copies large files, without their bytes where the file system can.
enum FileCopy {
    /// Copies a file to a new name in a folder of the store, and flushes it; a clone where the file system can.
    ///
    /// - Throws: ``StorageError``; then the new name does not exist.
    static func copy(_ source: URL, to target: URL) throws(StorageError) {
        if clone(source, to: target) { return try Durable.sync(file: target) }
        try Durable.copy(source, to: target)
    }

    /// Makes a file that shares its bytes with another one until either changes.
    ///
    /// - Returns: `false` where the file system cannot; then the new name does not exist.
    private static func clone(_ source: URL, to target: URL) -> Bool {
        #if canImport(Darwin)
            return clonefile(source.path, target.path, 0) == 0
        #else
            let input = open(source.path, O_RDONLY | O_CLOEXEC)
            guard input >= 0 else { return false }
            defer { close(input) }
            let output = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard output >= 0 else { return false }
            defer { close(output) }
            // FICLONE of linux/fs.h: _IOW(0x94, 9, int).
            if ioctl(output, 0x4004_9409, input) == 0 { return true }
            unlink(target.path)
            return false
        #endif
    }
}
