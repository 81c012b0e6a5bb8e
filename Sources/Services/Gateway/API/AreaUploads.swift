internal import Files
internal import Foundation
internal import Synchronization

/// Bounds how many uploaded files are in memory, and reads them on threads of their own.
final class AreaUploads: Sendable {
    /// The most bytes of a file: 20 MiB.
    static let mostBytes = 20 << 20
    /// The most uploads at a time, with those that wait for a thread.
    private static let most = 8

    private let open = Mutex(0)
    private let threads = WorkThreads("packhorse.gateway.areas", count: 2)

    /// Runs one upload.
    ///
    /// - Throws: ``Problem`` `try-later` when there are too many, and what the body throws.
    func admit<Value: Sendable>(_ body: () async throws(Problem) -> Value) async throws(Problem) -> Value {
        let isTaken = open.withLock { open in
            guard open < Self.most else { return false }
            open += 1
            return true
        }
        guard isTaken else {
            throw Problem(.tryLater, "\(Self.most) other areas are being read.", retryAfter: 5)
        }
        defer { open.withLock { $0 -= 1 } }
        return try await body()
    }

    /// Runs work that takes seconds of a core.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws(Problem) -> Value) async throws(Problem) -> Value {
        try await threads.run(work)
    }
}
