internal import Errors
public import ObjectStore

/// Backups in an S3 bucket.
public struct BucketBackupPlace: BackupPlace {
    private let bucket: S3Bucket
    /// `s3://bucket/prefix`.
    public var name: String { "\(bucket.location)" }

    /// A place under a bucket's prefix.
    public init(_ bucket: S3Bucket) { self.bucket = bucket }

    /// Lists page by page.
    public func names(of kind: BackupObjectKind) async throws -> [String] {
        var names: [String] = []
        var token: String?
        repeat {
            let page = try await bucket.list(under: "\(kind.path)/", after: token)
            names += page.objects.map { String($0.name.dropFirst(kind.path.utf8.count + 1)) }
            // A server that gives the same token again would be asked forever.
            token = page.next == token ? nil : page.next
        } while token != nil
        return names
    }

    /// Stores an object in one request.
    public func write(_ bytes: [UInt8], to name: String, of kind: BackupObjectKind) async throws {
        try await bucket.put("\(kind.path)/\(name)", bytes: bytes)
    }

    /// Reads an object; one of more than 8 MiB is refused as damaged.
    public func read(_ name: String, _ kind: BackupObjectKind) async throws -> [UInt8]? {
        let bytes = try await bucket.read("\(kind.path)/\(name)")
        guard bytes?.count ?? 0 <= 8 << 20 else {
            throw BackupError(.damaged, "'\(self.name)/\(kind.path)/\(name)' is larger than a part of a backup can be.")
        }
        return bytes
    }

    /// Removes an object.
    public func remove(_ name: String, _ kind: BackupObjectKind) async throws {
        try await bucket.remove("\(kind.path)/\(name)")
    }

    /// Nothing: an object is there with all of its bytes or not at all.
    public func removeUnfinished() async throws {}
}
