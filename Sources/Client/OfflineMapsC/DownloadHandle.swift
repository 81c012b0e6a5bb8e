import Dispatch
import OfflineMaps
import Synchronization

/// `ofm_download`: a download, and what waits for its end.
final class DownloadHandle: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var outcome: Result<Void, StoreError>?
    }

    private let state = Mutex(State())
    private let listener: ProgressListener?
    private let end = DispatchGroup()

    init(_ listener: ProgressListener?) { self.listener = listener }

    /// Begins; to be called once.
    func start(_ download: MapDownload) {
        end.enter()
        let task = Task.detached { [self] in
            let outcome = await follow(download)
            CallbackThread.shared.run { [self] in
                listener?.last(outcome)
                state.withLock { $0.outcome = outcome }
                end.leave()
            }
        }
        state.withLock { $0.task = task }
    }

    private func follow(_ download: MapDownload) async -> Result<Void, StoreError> {
        let isComplete = Atomic(false)
        do throws(StoreError) {
            try await download.follow { [listener] progress in
                if progress.isComplete { isComplete.store(true, ordering: .relaxed) } else { listener?.show(progress) }
            }
        } catch {
            if !Task.isCancelled { return .failure(error) }
        }
        return isComplete.load(ordering: .relaxed) ? .success(()) : .failure(.stopped)
    }

    /// Stops it; it keeps its bytes.
    func cancel() { state.withLock { $0.task }?.cancel() }

    /// Stops it for good; its progress function is not called after this call.
    func close() {
        cancel()
        // On the library's thread it cannot wait for a call that this thread would have to make.
        if CallbackThread.shared.isCurrent { listener?.silence() } else { _ = wait(nil) }
    }

    /// Whether it has ended, and its last progress was shown.
    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the end.
    ///
    /// - Parameter milliseconds: How long at most; `nil` without a limit.
    /// - Returns: What came of it; `nil` when it has not ended.
    func wait(_ milliseconds: Int?) -> Result<Void, StoreError>? {
        if let milliseconds { _ = end.wait(timeout: .now() + .milliseconds(milliseconds)) } else { end.wait() }
        return state.withLock { $0.outcome }
    }
}

extension StoreError {
    /// A download that was cancelled.
    static var stopped: StoreError {
        StoreError(Code("cancelled"), "The download was cancelled; its bytes are kept.", isRetriable: true)
    }
}
