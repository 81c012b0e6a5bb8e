public import Errors

/// The signing credentials; never read from the command line, because other users can see it.
public struct S3Credentials: S3CredentialProvider, CustomStringConvertible, CustomDebugStringConvertible {
    let accessKey: String
    let secretKey: String
    /// The session token of temporary keys.
    let sessionToken: String?

    /// None: requests are not signed.
    static let anonymous = S3Credentials()

    private init() { (accessKey, secretKey, sessionToken) = ("", "", nil) }

    /// Whether requests are not signed.
    var areNone: Bool { accessKey.isEmpty }

    /// Names the variables that are read.
    public static let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where there is one, `AWS_SESSION_TOKEN`.
    ///
    /// - Throws: ``S3Error`` `missing-secret`, naming the variable.
    public init(environment: [String: String]) throws(S3Error) {
        try self.init(environment, names: Self.variables, of: "the environment")
    }

    /// - Parameters:
    ///   - names: Of access key, secret key and session token.
    ///   - place: What has the values, for messages.
    init(_ values: [String: String], names: [String], of place: String) throws(S3Error) {
        func value(_ name: String) throws(S3Error) -> String {
            let value = values[name] ?? ""
            guard !value.isEmpty else {
                throw S3Error(
                    .missingSecret,
                    "Requests to S3 need credentials, and \(name) is not set or empty in \(place). Set \(names[0]) and \(names[1])."
                )
            }
            guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw S3Error(
                    .missingSecret,
                    "\(name) of \(place) contains spaces or other characters that are not allowed in a key. Set it again, without a line end."
                )
            }
            return value
        }
        accessKey = try value(names[0])
        secretKey = try value(names[1])
        sessionToken = values[names[2]]?.isEmpty == false ? try value(names[2]) : nil
    }

    /// Itself: these do not change.
    public func current() -> S3Credentials { self }

    /// Nothing of what it holds.
    public var description: String { "S3Credentials" }
    /// Nothing of what it holds.
    public var debugDescription: String { description }
}

extension S3Credentials: ConfiguredProvider {
    /// One of the two variables alone is a mistake.
    init?(ifAskedBy environment: [String: String]) throws(S3Error) {
        guard Self.variables.prefix(2).contains(where: { environment[$0] != nil }) else { return nil }
        try self.init(environment: environment)
    }
}

extension S3Credentials: CustomReflectable {
    /// No children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
