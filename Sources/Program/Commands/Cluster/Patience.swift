internal import ClusterClient
internal import CommandSupport
import Errors

/// Waits for a coordinator that is being restarted.
enum Patience {
    /// Sends a request, and repeats it every second up to sixty times while there is no answer.
    ///
    /// Prints one message.
    ///
    /// - Throws: The last error of `ask`, or its first error other than `unreachable` and `try-later`.
    static func outlast<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
        var waited = 0
        while true {
            do {
                return try await ask()
            } catch let error as ClusterError where [.unreachable, .later].contains(error.code) && waited < 60 {
                let what = error.code == .unreachable ? "the coordinator does not answer" : error.message
                if waited == 0 { Console.note("\(what); waiting until it is back") }
                waited += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
