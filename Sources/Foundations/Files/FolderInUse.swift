package import Foundation

/// Says that something writes unfinished files into a folder, so that others do not take them for abandoned ones.
///
/// The sign is a shared lock of the folder. The kernel takes it away when the process ends for any reason.
package final class FolderInUse: Sendable {
    private let handle: Int32

    /// Sets the sign; waits at most 0.2 s, for others that begin at the same moment.
    ///
    /// - Parameter sweep: Called before, when nobody else writes there: unfinished files in the folder are abandoned. Not called where
    ///   the folder cannot be locked.
    package init(_ folder: URL, sweep: () -> Void) {
        handle = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        if flock(handle, LOCK_EX | LOCK_NB) == 0 { sweep() }
        // Somebody else may hold the folder for a long time; then this process goes on without the sign, which serves only sweeping.
        var attempts = 10
        while flock(handle, LOCK_SH | LOCK_NB) != 0, attempts > 0 {
            usleep(20_000)
            attempts -= 1
        }
    }

    deinit { if handle >= 0 { close(handle) } }
}
