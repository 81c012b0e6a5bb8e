import ArgumentParser
import Blobs
internal import CatalogTransfer
internal import CommandSupport
import Foundation
import ObjectStore
import S3

/// Options for blobs in an S3 bucket.
///
/// Credentials come only from the environment.
struct BlobOptions: ParsableArguments {
    @OptionGroup var s3: S3Options

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
    ///   - keeping: Bytes of local copies that are not in use and stay.
    func open(_ text: String, folder: URL, create: Bool, keeping: UInt64 = 4 << 30) async throws -> S3BlobStore {
        let bucket = try s3.bucket(try S3Location(text))
        let cache = try BlobCache(
            blobCache.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? folder, limit: keeping)
        return try await S3BlobStore(bucket, cache: cache, create: create)
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
        return PushPlaces(places) { [s3] in try s3.bucket($0) }
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
        guard isS3 || others.contains(where: S3Location.isMeant) || !s3.isGiven else {
            throw ValidationError("--s3-endpoint, --s3-region and --insecure-s3 need --blobs s3://bucket/prefix.")
        }
        if let blobs, isS3 { try OptionValue.check("--blobs") { _ = try S3Location(blobs) } }
        guard isS3 || others.contains(where: S3Location.isMeant) else { return }
        try s3.check()
    }
}
