import Errors
import Foundation
import Telemetry
import UnixSignals

/// Runs work that needs clean-up: SIGINT and SIGTERM cancel it and wait for its end.
///
/// A second signal, or thirty seconds, end the process without clean-up: work that hangs must not outlast them. Signals
/// of the same moment are one: `timeout` sends one to the process and one to its group.
package enum Interruptible {
    private static let patience = Duration.seconds(30)
    private static let moment = Duration.milliseconds(200)

    /// - Throws: what `body` throws; ``CLIError`` 130 when a signal ended it.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let work = Task { try await body() }
        // The task ends with the process; it needs no clean-up.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let (cancellations, tellCancelled) = AsyncStream.makeStream(of: Void.self)
        let watch = Task {
            var first: ContinuousClock.Instant?
            for await _ in signals {
                if let first {
                    guard ContinuousClock.now - first < moment else { leaveNow() }
                    continue
                }
                work.cancel()
                tellCancelled.yield()
                // A signal that came during the lines above is of the same moment.
                first = .now
            }
        }
        let timer = Task {
            for await _ in cancellations {
                try await Task.sleep(for: patience)
                leaveNow()
            }
        }
        defer {
            watch.cancel()
            timer.cancel()
        }
        do {
            return try await work.value
        } catch  where work.isCancelled {
            // The terminal has echoed ^C, so the next message begins on a new line.
            StatusLine.leave(always: Console.isTerminal)
            throw CLIError(.interrupted, "interrupted")
        }
    }
    private static func leaveNow() -> Never {
        StatusLine.leave(always: Console.isTerminal)
        Console.error(CLIError(.interrupted, "interrupted; ended without clean-up"))
        _exit(ExitStatus.interrupted.rawValue)
    }
}
