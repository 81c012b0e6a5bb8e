import CCurl
import Synchronization

/// The connection between callers and the transfer thread: a mailbox and a way to wake the thread.
final class TransferLoop: Sendable {
    struct Mail {
        var jobs: [TransferJob] = []
        var hasCancellations = false
        var isClosed = false
        /// The multi handle is freed and must not be woken any more.
        var isFinished = false
        var isWakePending = false
    }
    static let closedError = TransferError(.cancelled, "the transfer was cancelled or its client closed")

    /// Used only by the transfer thread, except `curl_multi_wakeup`.
    ///
    /// libcurl allows that from any thread, and it is called under the mailbox lock while `isFinished` is false.
    nonisolated(unsafe) let multi: UnsafeMutableRawPointer
    private let mailbox = Mutex(Mail())

    init(multi: UnsafeMutableRawPointer) { self.multi = multi }

    /// Hands jobs to the thread.
    ///
    /// Returns false when the client is closed.
    func submit(_ jobs: [TransferJob]) -> Bool {
        mailbox.withLock { mail in
            guard !mail.isClosed else { return false }
            mail.jobs += jobs
            wake(&mail)
            return true
        }
    }

    func wake() { mailbox.withLock { wake(&$0) } }

    /// Tells the thread that a download was cancelled.
    func cancelled() {
        mailbox.withLock { mail in
            mail.hasCancellations = true
            wake(&mail)
        }
    }

    func close() {
        mailbox.withLock { mail in
            mail.isClosed = true
            wake(&mail)
        }
    }

    /// For the thread: everything that was submitted since the last call.
    func collectMail() -> Mail {
        mailbox.withLock { mail in
            let taken = mail
            mail.jobs = []
            mail.hasCancellations = false
            mail.isWakePending = false
            return taken
        }
    }

    /// For the thread: the last call.
    ///
    /// The multi handle may be freed afterwards.
    func finish() { mailbox.withLock { $0.isFinished = true } }

    private func wake(_ mail: inout Mail) {
        guard !mail.isFinished, !mail.isWakePending else { return }
        mail.isWakePending = true
        curl_multi_wakeup(multi)
    }
}
