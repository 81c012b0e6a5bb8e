internal import Foundation

/// Runs work that blocks its thread for long outside the cooperative pool.
enum Blocking {
    /// Runs `body` on a separate queue.
    static func run<T: Sendable>(_ label: String, _ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: label).async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

/// An executor on a serial queue.
///
/// An actor on it may block.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
