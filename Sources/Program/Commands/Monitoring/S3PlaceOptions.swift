import ArgumentParser
internal import CommandSupport
import Foundation
import ObjectStore
import S3
import StateBackups

/// Options for a place of backups that may be in a bucket.
///
/// Credentials come only from the environment.
struct S3PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The S3 server, for example https://s3.example.org:8080. Default: Amazon's for the region.",
            valueName: "url"))
    var s3Endpoint: String?
    @Option(
        help: ArgumentHelp(
            "The region that requests are signed for. Default: $AWS_REGION, else us-east-1.", valueName: "name"))
    var s3Region: String?
    @Flag(help: "Allow an http endpoint on another machine: anyone on the network can then read and change backups.")
    var insecureS3 = false

    /// Whether a text names a place and no file.
    func isPlace(_ text: String) -> Bool {
        var isFolder: ObjCBool = false
        return S3Location.isMeant(by: text)
            || FileManager.default.fileExists(atPath: text, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The place that a text names.
    func place(_ text: String) throws -> any BackupPlace {
        guard S3Location.isMeant(by: text) else {
            return FolderBackupPlace(URL(filePath: text, directoryHint: .isDirectory).standardizedFileURL)
        }
        let region = s3Region ?? Variable.value("AWS_REGION") ?? "us-east-1"
        return BucketBackupPlace(
            try S3Bucket(
                try S3Location(text), at: try S3Endpoint(s3Endpoint, region: region, allowPlain: insecureS3),
                credentials: try S3CredentialProviders.find(in: ProcessInfo.processInfo.environment)))
    }
}
