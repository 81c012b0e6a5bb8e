import Errors
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

    /// `PACKHORSE_CATALOG_TOKEN`: the token for a server that shows its catalog with a token only (`gateway --private`).
    ///
    /// - Throws: ``CLIError`` 78 for a text that no header can have.
    package static func catalogToken() throws -> String? {
        guard let token = value("PACKHORSE_CATALOG_TOKEN") else { return nil }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CLIError(
                .configuration, "PACKHORSE_CATALOG_TOKEN has a space or another character that no token has",
                hint: "set it to the line that 'packhorse keygen NAME.token' printed: ph_ and what follows")
        }
        return token
    }
}
