import Errors
import Telemetry
import UnixSignals

/// Runs work that needs clean-up: SIGINT and SIGTERM cancel it and wait for its end.
package enum Interruptible {
    /// - Throws: what `body` throws; ``CLIError`` 130 when a signal ended it.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let work = Task { try await body() }
        // The task ends with the process; it needs no clean-up.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watch = Task {
            for await _ in signals { work.cancel() }
        }
        defer { watch.cancel() }
        do {
            return try await work.value
        } catch  where work.isCancelled {
            // The terminal has echoed ^C, so the next message begins on a new line.
            StatusLine.leave(always: Console.isTerminal)
            throw CLIError(.interrupted, "interrupted")
        }
    }
}
