public import Errors

/// Where signing credentials come from.
public protocol S3CredentialProvider: Sendable {
    /// The credentials for the next request; asked before each one, because session tokens expire.
    ///
    /// - Throws: ``S3Error`` `missing-secret`.
    func current() async throws(S3Error) -> S3Credentials
}

/// A provider that is found by variables of the environment, or by a file in its usual place.
protocol ConfiguredProvider: S3CredentialProvider {
    /// - Parameter environment: Without empty variables.
    /// - Returns: `nil` if neither a variable nor a file asks for it.
    /// - Throws: ``S3Error`` `missing-secret`: what the variables name cannot be used.
    init?(ifAskedBy environment: [String: String]) throws(S3Error)
}

/// The providers that Packhorse has.
public enum S3CredentialProviders {
    /// In the order in which they are looked at; a new provider is a type and its row here.
    private static let all: [any ConfiguredProvider.Type] = [
        AnonymousReads.self, S3Credentials.self, WebIdentity.self, SharedCredentialsFile.self,
        ContainerCredentials.self, InstanceMetadata.self,
    ]

    /// The first provider that the environment asks for; an empty variable counts as not set.
    ///
    /// - Throws: ``S3Error`` `missing-secret` when no provider has credentials, or when they cannot be used.
    public static func find(in environment: [String: String]) throws(S3Error) -> any S3CredentialProvider {
        let set = environment.filter { !$0.value.isEmpty }
        for provider in all {
            if let found = try provider.init(ifAskedBy: set) { return found }
        }
        throw S3Error(
            .missingSecret,
            "Requests to S3 need credentials, and none were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have "
                + "them in ~/.aws/credentials (AWS_SHARED_CREDENTIALS_FILE, AWS_PROFILE). A public bucket is read without:"
                + " AWS_NO_SIGN_REQUEST=YES.")
    }
}
