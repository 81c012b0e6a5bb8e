import ArgumentParser
import Blobs
internal import CommandSupport
import Foundation
import ObjectStore
import S3

/// Options for blobs in an S3 bucket.
///
/// Credentials come only from the environment.
struct BlobOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The S3 server of --blobs s3://…, for example https://s3.example.org:8080. Default: Amazon's for the region.",
            valueName: "url"))
    var s3Endpoint: String?

    @Option(
        help: ArgumentHelp(
            "The region that S3 requests are signed for. Default: $AWS_REGION, else us-east-1.", valueName: "name"))
    var s3Region: String?

    @Flag(help: "Allow an http S3 endpoint on another machine: anyone on the network can then read and change tiles.")
    var insecureS3 = false

    @Option(
        help: ArgumentHelp(
            "Folder for local copies of blobs from S3, emptied at the end. Default: the coordinator's data folder, or a temporary folder for a worker.",
            valueName: "folder"))
    var blobCache: String?

    /// Opens the store at an S3 location.
    ///
    /// - Parameters:
    ///   - folder: The folder for local copies unless an option names another.
    ///   - create: Whether to create a missing store.
    func open(_ text: String, folder: URL, create: Bool) async throws -> S3BlobStore {
        let environment = ProcessInfo.processInfo.environment
        let location = try S3Location(text)
        let bucket = try S3Bucket(
            location, at: try endpoint(allowPlain: insecureS3),
            credentials: try S3CredentialProviders.find(in: environment))
        let cache = try BlobCache(blobCache.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? folder)
        return try await S3BlobStore(bucket, cache: cache, create: create)
    }

    private func endpoint(allowPlain: Bool) throws -> S3Endpoint {
        let region = s3Region ?? Variable.value("AWS_REGION") ?? "us-east-1"
        return try S3Endpoint(s3Endpoint, region: region, allowPlain: allowPlain)
    }

    /// Refuses options that would have no effect, and places that cannot be.
    func check(blobs: String?) throws {
        let isS3 = blobs.map(S3Location.isMeant) ?? false
        guard isS3 || (s3Endpoint == nil && s3Region == nil && !insecureS3) else {
            throw ValidationError("--s3-endpoint, --s3-region and --insecure-s3 need --blobs s3://bucket/prefix.")
        }
        guard let blobs, isS3 else { return }
        try OptionValue.check("--blobs") { _ = try S3Location(blobs) }
        // Whether http may be used is a question of permission, which the start answers.
        try OptionValue.check("--s3-endpoint") { _ = try endpoint(allowPlain: true) }
    }
}
