import Foundation

/// Environment variables of the commands.
///
/// An empty variable counts as not set, as in POSIX utilities and the AWS tools, because scripts and container files
/// often pass on `NAME=`.
package enum Variable {
    /// The value of a variable; `nil` when it is not set or empty.
    package static func value(_ name: String, in environment: [String: String] = ProcessInfo.processInfo.environment)
        -> String?
    {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
