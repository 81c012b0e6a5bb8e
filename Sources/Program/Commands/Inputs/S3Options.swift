import ArgumentParser
internal import CommandSupport
import Foundation
import ObjectStore
import S3

/// Options for places in S3 buckets.
///
/// Credentials come only from the environment and its files.
struct S3Options: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The S3 server of s3:// locations, for example https://s3.example.org:8080. Default: Amazon's for the region.",
            valueName: "url"))
    var s3Endpoint: String?

    @Option(
        help: ArgumentHelp(
            "The region that S3 requests are signed for. Default: $AWS_REGION, else us-east-1.", valueName: "name"))
    var s3Region: String?

    @Flag(
        help:
            "Allow an http S3 endpoint on another machine: anyone on the network can then read and change what is sent."
    )
    var insecureS3 = false

    /// Whether an option is given.
    var isGiven: Bool { s3Endpoint != nil || s3Region != nil || insecureS3 }

    /// A place in a bucket, with the credentials of the environment.
    func bucket(_ location: S3Location) throws -> S3Bucket {
        try S3Bucket(
            location, at: try endpoint(allowPlain: insecureS3),
            credentials: try S3CredentialProviders.find(in: ProcessInfo.processInfo.environment))
    }

    /// Refuses a server that cannot be.
    ///
    /// Whether http may be used is a question of permission, which the start answers.
    func check() throws { try OptionValue.check("--s3-endpoint") { _ = try endpoint(allowPlain: true) } }

    private func endpoint(allowPlain: Bool) throws -> S3Endpoint {
        let region = s3Region ?? Variable.value("AWS_REGION") ?? "us-east-1"
        return try S3Endpoint(s3Endpoint, region: region, allowPlain: allowPlain)
    }
}
