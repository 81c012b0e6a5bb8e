import OfflineMaps
import Synchronization

/// An `ofm_progress_function` of C.
public typealias ProgressFunction =
    @convention(c) (
        UnsafeMutableRawPointer?, Double, UInt64, Int32, UnsafePointer<CChar>?
    ) -> Void

/// Calls a progress function on the thread of the library; a function that is slow gets the newest progress.
///
/// The context belongs to the caller, who keeps it valid until the download is freed; only the thread of the library uses it.
final class ProgressListener: @unchecked Sendable {
    private let function: ProgressFunction
    private let context: UnsafeMutableRawPointer?
    private let next = Mutex<DownloadProgress?>(nil)

    init(_ function: @escaping ProgressFunction, context: UnsafeMutableRawPointer?) {
        (self.function, self.context) = (function, context)
    }

    /// Shows a progress, unless a newer one comes before the thread is free.
    func show(_ progress: DownloadProgress) {
        let isQueued = next.withLock { next in
            defer { next = progress }
            return next != nil
        }
        guard !isQueued else { return }
        CallbackThread.shared.run { [self] in
            guard let progress = next.withLock({ $0.take() }) else { return }
            call(progress.fraction, progress.transferred, state: progress.state, words: "\(progress)")
        }
    }

    /// Shows the end; on the thread of the library.
    func last(_ outcome: Result<Void, StoreError>) {
        switch outcome {
        case .success: call(1, shown.transferred, state: .done, words: "complete")
        case .failure(let error):
            let isStopped = error.code == StoreError.stopped.code
            let state = isStopped ? TaskState.cancelled : .failed(error.failure ?? .internalError)
            call(shown.fraction, shown.transferred, state: state, words: error.message)
        }
    }

    /// What was shown last; only the thread of the library uses it.
    private var shown = (fraction: 0.0, transferred: UInt64(0))
    /// Whether the download was freed by a progress function; only the thread of the library uses it.
    private var isSilent = false

    /// Calls the function no more; on the thread of the library.
    func silence() { isSilent = true }

    private func call(_ fraction: Double, _ transferred: UInt64, state: TaskState, words: String) {
        guard !isSilent else { return }
        shown = (fraction, transferred)
        words.withCString { function(context, fraction, transferred, state.number, $0) }
    }
}

extension TaskState {
    /// The number of `enum ofm_state`.
    var number: Int32 {
        switch self {
        case .waiting: 0
        case .downloading: 1
        case .verifying: 2
        case .installing, .removing: 3
        case .paused: 4
        case .done: 5
        case .failed: 6
        case .cancelled: 7
        }
    }
}
