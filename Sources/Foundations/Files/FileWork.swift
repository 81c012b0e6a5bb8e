internal import Foundation

/// File work that blocks must not sit on the cooperative pool.
public enum FileWork {
    private static let queue = DispatchQueue(label: "packhorse.files", attributes: .concurrent)

    /// Runs `body` on a thread that may block and returns what it returns.
    public static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
