import Foundation

/// Environment variables as the commands read them.
///
/// An empty one counts as not set, as POSIX utilities and the AWS tools read theirs: scripts and container files often pass on `NAME=`.
enum Variable {
    /// The value of a variable; `nil` when it is not set or empty.
    static func value(_ name: String, in environment: [String: String] = ProcessInfo.processInfo.environment) -> String?
    {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
