internal import Foundation

/// File work that blocks must not sit on the threads of tasks.
public enum FileWork {
    @usableFromInline static let threads = WorkThreads(
        "packhorse.files", count: max(16, 4 * ProcessInfo.processInfo.activeProcessorCount))

    /// Runs `body` on a thread that may block and returns what it returns.
    @inlinable public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await threads.run(body)
    }
}
