internal import CFile
internal import Errors
package import Foundation

/// The steps that make a folder of many files survive a power cut.
extension Durable {
    /// Flushes everything that was written to the file system of a folder: one step for any number of files.
    ///
    /// Waits for what other programs wrote there, too.
    /// - Throws: ``StorageError``.
    package static func sync(everythingNear folder: URL) throws(StorageError) {
        let handle = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: folder.path) }
        defer { close(handle) }
        while ph_flush_all(handle) != 0 {
            guard errno == EINTR else { throw StorageError.system(errno, action: "flush", path: folder.path) }
        }
    }

    /// Gives a finished folder the name of another one, and removes the other.
    ///
    /// Readers see the old folder or the new one where the system can exchange two names, as Linux and macOS can on
    /// their own file systems; elsewhere the name is missing for a moment.
    /// - Throws: ``StorageError``; the old folder has its name then.
    package static func replace(folder: URL, by new: URL) throws(StorageError) {
        if ph_exchange(new.path, folder.path) != 0 {
            let aside = TemporaryName.nextTo(folder)
            try rename(folder, to: aside)
            do throws(StorageError) { try rename(new, to: folder) } catch {
                // The first error is reported; the old folder keeps its bytes in any case.
                try? rename(aside, to: folder)
                throw error
            }
            remove(folder: aside)
        } else {
            try sync(folder: folder.deletingLastPathComponent())
            remove(folder: new)
        }
    }

    /// Removes a folder with everything in it; what cannot be removed stays, under its temporary name, which no reader uses.
    package static func remove(folder: URL) {
        try? FileManager.default.removeItem(at: folder)
    }
}
