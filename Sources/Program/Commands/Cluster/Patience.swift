internal import ClusterClient
internal import CommandSupport
import Errors
import Files
internal import TextFormats

/// Waits for a coordinator that is being restarted.
enum Patience {
    /// Sends a request, and repeats it every second while there is no answer.
    ///
    /// Prints one message.
    ///
    /// - Parameters:
    ///   - limit: For how many seconds it is repeated; `nil` = sixty times.
    ///   - codes: The errors that are waited for.
    /// - Throws: The last error of `ask`, or its first error with another code.
    static func outlast<Answer: Sendable>(
        for limit: Double? = nil, _ codes: Set<ClusterErrorCode> = [.unreachable, .later],
        _ ask: () async throws -> Answer
    ) async throws -> Answer {
        let clock = ContinuousClock()
        var waited = 0
        var since: ContinuousClock.Instant?
        while true {
            do {
                return try await ask()
            } catch let error as ClusterError where codes.contains(error.code) {
                let start = since ?? clock.now
                since = start
                guard limit.map({ (clock.now - start).seconds < $0 }) ?? (waited < 60) else {
                    if error.code == .later, limit != nil { throw gaveUp(error) }
                    throw error
                }
                if waited == 0 { Console.note(reason(error)) }
                waited += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Writes a file of a build, and repeats that every second while its disk is full.
    ///
    /// - Throws: ``StorageError``; `disk-full` after `limit` seconds.
    static func untilThereIsRoom(for limit: Double, _ write: () throws -> Void) async throws {
        let start = ContinuousClock.now
        while true {
            do { return try write() } catch let error as StorageError
                where error.code == .diskFull && (ContinuousClock.now - start).seconds < limit
            {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The error of a build whose patience has ended.
    private static func gaveUp(_ error: ClusterError) -> CLIError {
        let remedy = error.hint.map { "\($0); " } ?? ""
        return CLIError(
            .temporary, error.message,
            hint: "\(remedy)to continue, run: \(ShellText.thisCommand(without: "--restart"))")
    }

    private static func reason(_ error: ClusterError) -> String {
        guard error.code == .later else { return "the coordinator does not answer; waiting until it is back" }
        let parts = [CLIError.oneLine(error.message), error.hint, "trying again"]
        return parts.compactMap(\.self).joined(separator: "; ")
    }
}
