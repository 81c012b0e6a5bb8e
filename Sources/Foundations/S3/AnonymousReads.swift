internal import Errors

/// No credentials: requests are not signed, as public buckets allow it for reading.
struct AnonymousReads: ConfiguredProvider {
    /// - Returns: `nil` unless `AWS_NO_SIGN_REQUEST` says yes.
    init?(ifAskedBy environment: [String: String]) {
        guard ["yes", "true", "1", "on"].contains(environment["AWS_NO_SIGN_REQUEST"]?.lowercased()) else { return nil }
    }

    func current() -> S3Credentials { .anonymous }
}
