package import Foundation

/// Says that something writes unfinished files into a folder, so that others do not take them for abandoned ones.
///
/// It holds a shared lock of the folder, which the kernel releases when the process ends for any reason.
package final class FolderInUse: Sendable {
    private let handle: Int32

    /// Takes the lock; waits at most 0.2 s, for other processes that begin at the same moment.
    ///
    /// - Parameter sweep: Called before, when no other process writes there: unfinished files in the folder are abandoned. Not called where
    ///   the folder cannot be locked.
    package init(_ folder: URL, sweep: () -> Void) {
        handle = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        if flock(handle, LOCK_EX | LOCK_NB) == 0 { sweep() }
        // Another process may hold the folder for a long time. Then this one works without the lock, which only protects unfinished files.
        var attempts = 10
        while flock(handle, LOCK_SH | LOCK_NB) != 0, attempts > 0 {
            // A process that begins holds the folder alone for as long as it looks for abandoned files.
            usleep(20_000)
            attempts -= 1
        }
    }

    deinit { if handle >= 0 { close(handle) } }
}
