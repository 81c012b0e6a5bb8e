import ArgumentParser
import Blobs
internal import CatalogTransfer
internal import CommandSupport
import Foundation
import ObjectStore
import S3
import StateBackups

/// Options for blobs in an S3 bucket.
///
/// Credentials come only from the environment.
struct BlobOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The S3 server of s3:// locations, for example https://s3.example.org:8080. Default: Amazon's for the region.",
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
        let bucket = try bucket(location, environment)
        let cache = try BlobCache(blobCache.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? folder)
        return try await S3BlobStore(bucket, cache: cache, create: create)
    }

    /// A place in a bucket, with the credentials of the environment.
    private func bucket(_ location: S3Location, _ environment: [String: String]) throws -> S3Bucket {
        try S3Bucket(
            location, at: try endpoint(allowPlain: insecureS3),
            credentials: try S3CredentialProviders.find(in: environment))
    }

    /// Where the steps of jobs may push catalogs to.
    ///
    /// Credentials are looked for when a step needs them.
    func pushPlaces(_ texts: [String]) throws -> PushPlaces {
        let places = try texts.map { text in
            let place = try PushPlace(text)
            guard case .folder(let path) = place else { return place }
            // The coordinator's folder may change.
            return PushPlace.folder(URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL.path)
        }
        let options = self
        return PushPlaces(places) { location in
            try options.bucket(location, ProcessInfo.processInfo.environment)
        }
    }

    /// A place of backups: a bucket or a folder.
    func backupPlace(_ text: String) throws -> any BackupPlace {
        guard S3Location.isMeant(by: text) else {
            return FolderBackupPlace(URL(filePath: text, directoryHint: .isDirectory).standardizedFileURL)
        }
        return BucketBackupPlace(try bucket(try S3Location(text), ProcessInfo.processInfo.environment))
    }

    private func endpoint(allowPlain: Bool) throws -> S3Endpoint {
        let region = s3Region ?? Variable.value("AWS_REGION") ?? "us-east-1"
        return try S3Endpoint(s3Endpoint, region: region, allowPlain: allowPlain)
    }

    /// Refuses options that would have no effect, and places that cannot be.
    ///
    /// - Parameters:
    ///   - pushTo: Further places of a coordinator that can be in a bucket.
    ///   - backups: Further places of backups.
    func check(blobs: String?, pushTo: [String] = [], backups: [String] = []) throws {
        let isS3 = blobs.map(S3Location.isMeant) ?? false
        let others = pushTo + backups
        for place in pushTo { try OptionValue.check("--push-to") { _ = try PushPlace(place) } }
        guard
            isS3 || others.contains(where: S3Location.isMeant) || (s3Endpoint == nil && s3Region == nil && !insecureS3)
        else {
            throw ValidationError("--s3-endpoint, --s3-region and --insecure-s3 need --blobs s3://bucket/prefix.")
        }
        if let blobs, isS3 { try OptionValue.check("--blobs") { _ = try S3Location(blobs) } }
        guard isS3 || others.contains(where: S3Location.isMeant) else { return }
        // Whether http may be used is a question of permission, which the start answers.
        try OptionValue.check("--s3-endpoint") { _ = try endpoint(allowPlain: true) }
    }
}
