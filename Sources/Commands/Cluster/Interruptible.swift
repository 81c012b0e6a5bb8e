import Telemetry
import UnixSignals

/// Runs work that has something to put away: SIGINT and SIGTERM cancel it and wait for its end.
enum Interruptible {
    /// - Throws: what `body` throws; ``CLIError`` 130 when a signal ended it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let work = Task { try await body() }
        // Ends with the process: there is nothing to put away in it.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watch = Task {
            for await _ in signals { work.cancel() }
        }
        defer { watch.cancel() }
        do {
            return try await work.value
        } catch  where work.isCancelled {
            // The terminal has echoed ^C: what is said next begins on a line of its own.
            StatusLine.leave(always: Console.isTerminal)
            throw CLIError(.interrupted, "interrupted")
        }
    }
}
