public import Errors

/// The signing credentials; read only from the environment, because other users can see command lines.
public struct S3Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let accessKey: String
    let secretKey: String
    /// The session token of temporary keys.
    let sessionToken: String?

    /// Names the variables that are read.
    public static let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where there is one, `AWS_SESSION_TOKEN`.
    ///
    /// - Throws: ``S3Error`` `missing-secret`, naming the variable.
    public init(environment: [String: String]) throws(S3Error) {
        func value(_ name: String) throws(S3Error) -> String {
            let value = environment[name] ?? ""
            guard !value.isEmpty else {
                throw S3Error(
                    .missingSecret,
                    "Requests to S3 need credentials, and \(name) is not set or empty. Set"
                        + " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
            }
            guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw S3Error(
                    .missingSecret,
                    "\(name) contains spaces or other characters that are not allowed in a key. Set it again, without a line end."
                )
            }
            return value
        }
        accessKey = try value("AWS_ACCESS_KEY_ID")
        secretKey = try value("AWS_SECRET_ACCESS_KEY")
        sessionToken = environment["AWS_SESSION_TOKEN"]?.isEmpty == false ? try value("AWS_SESSION_TOKEN") : nil
    }

    /// Nothing of what it holds.
    public var description: String { "S3Credentials" }
    /// Nothing of what it holds.
    public var debugDescription: String { description }
}

extension S3Credentials: CustomReflectable {
    /// No children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
