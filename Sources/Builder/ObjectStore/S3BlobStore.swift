public import Blobs
public import Digests
public import Errors
public import Files
public import Foundation
internal import S3

/// A blob store in an S3 bucket: `ab/<hex>` and `store-id` under one prefix.
///
/// Coordinator and workers need the bucket and no folder in common. The server checks the SHA-256 of uploads, so a blob
/// exists completely or not at all; downloads are checked by the cache. If the server is not reachable, calls wait for
/// some minutes before they fail.
public struct S3BlobStore: ManagedBlobStore, CachingBlobStore {
    /// Blobs above this are stored in parts, each repeated by itself when a connection breaks; 64 MiB.
    static let maxWhole: UInt64 = 64 << 20

    /// The text of `store-id`: 32 hexadecimal digits.
    public let id: String
    private let bucket: S3Bucket
    private let cache: BlobCache
    private let patience: Patience

    /// Opens the store under a bucket's prefix.
    ///
    /// - Parameters:
    ///   - bucket: Where it lies.
    ///   - cache: Local copies, and the files that are being made.
    ///   - create: Whether to make the store when there is none. Only the coordinator does; one coordinator a prefix.
    ///   - patience: How long a call waits for an unreachable server, default 5 minutes.
    /// - Throws: ``S3Error`` that names the remedy; `StorageError` `store-missing` without a store and without `create`.
    public init(_ bucket: S3Bucket, cache: BlobCache, create: Bool, patience: Duration = .seconds(300)) async throws {
        self.bucket = bucket
        self.cache = cache
        self.patience = Patience(limit: patience)
        id = try await Self.identity(bucket, create: create)
    }

    private static func identity(_ bucket: S3Bucket, create: Bool) async throws -> String {
        if create, try await bucket.read(idName) == nil {
            let fresh = TemporaryName.random()
            try await bucket.put(idName, bytes: Array((fresh + "\n").utf8))
        }
        // Always read back: if two processes create it at the same time, the last one remains.
        guard let bytes = try await bucket.read(idName) else {
            throw StorageError(
                .storeMissing,
                "There is no blob store in '\(bucket.location)' at '\(bucket.endpoint)' ('store-id' is missing). Start the"
                    + " coordinator with the same --blobs, or correct it.")
        }
        let id = String(decoding: bytes.prefix(64), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard id.utf8.count == 32, id.allSatisfy(\.isHexDigit) else {
            throw StorageError(
                .storeMissing,
                "'store-id' in '\(bucket.location)' is not the id of a blob store: 32 hexadecimal digits expected.")
        }
        return id
    }

    /// A fresh name in the cache's folder.
    public func temporaryURL() throws(StorageError) -> URL { try cache.temporaryURL() }

    /// Bytes of all files in the cache's folder now.
    public func localBytes() -> UInt64 { cache.bytesOnDisk() }

    /// Uploads the file unless the bucket holds the blob; the local copy goes into the cache.
    public func put(_ temporary: URL, digest: Digest) async throws {
        let size = try await FileWork.run { try temporary.fileSize() }
        let name = Self.name(digest)
        try await patience.with {
            if try await bucket.size(of: name) == size { return }
            if size > Self.maxWhole {
                try await bucket.putParts(name, file: temporary.path, size: size)
            } else {
                try await bucket.put(name, file: temporary.path, size: size, sha256: digest.hex)
            }
        }
        try cache.adopt(temporary, digest: digest)
    }

    /// The cached file, or a download that is resumed after a broken connection.
    public func local(_ digest: Digest) async throws -> LocalBlob? {
        try await cache.blob(digest) { file in
            try await patience.with {
                let free = try Durable.freeBytes(file.deletingLastPathComponent())
                return try await bucket.download(Self.name(digest), to: file.path, maxBytes: free)
            }
        }
    }

    /// Length of the object.
    public func size(of digest: Digest) async throws -> UInt64? {
        try await patience.with { try await bucket.size(of: Self.name(digest)) }
    }

    /// Removes the object.
    public func remove(_ digest: Digest) async throws {
        try await patience.with { try await bucket.remove(Self.name(digest)) }
    }

    /// Lists the bucket page by page and removes old blobs that are not referenced; ages are by the server's clock.
    public func sweep(
        olderThan age: TimeInterval, unless isNamed: @escaping @Sendable (Digest) -> Bool
    ) async throws -> Int {
        var removed = 0
        var token: String?
        repeat {
            let after = token
            let page = try await patience.with { try await bucket.list(after: after) }
            let now = page.serverTime ?? Date().timeIntervalSince1970
            for object in page.objects {
                guard let stored = object.stored, now - stored > age, let digest = Self.digest(object.name),
                    !isNamed(digest)
                else { continue }
                try await remove(digest)
                removed += 1
            }
            // A server that gives the same token again would be asked forever.
            token = page.next == after ? nil : page.next
        } while token != nil
        return removed
    }

    /// Aborts unfinished multipart uploads.
    @discardableResult
    public func removeStaleTemporaries(olderThan age: TimeInterval) async throws -> Int {
        try await patience.with { try await bucket.abortUploads(olderThan: age) }
    }

    private static let idName = "store-id"

    static func name(_ digest: Digest) -> String { "\(digest.hex.prefix(2))/\(digest.hex)" }

    /// The digest in an object's name; `nil` for objects that are not blobs.
    static func digest(_ name: String) -> Digest? {
        guard let digest = name.split(separator: "/").last.flatMap({ Digest(hex: String($0)) }),
            Self.name(digest) == name
        else { return nil }
        return digest
    }
}

/// Repeats calls that failed because the server was unreachable, and converts errors to those of blob stores.
struct Patience: Sendable {
    let limit: Duration

    func with<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + limit
        var wait = Duration.seconds(1)
        while true {
            do {
                return try await work()
            } catch let error as S3Error {
                guard error.isRetriable, ContinuousClock.now < end else { throw Self.translated(error) }
            }
            try await Task.sleep(for: wait * Double.random(in: 0.5...1))
            wait = min(wait * 2, .seconds(15))
        }
    }

    private static func translated(_ error: S3Error) -> StorageError {
        switch error.code {
        case .diskFull: StorageError(.diskFull, error.message, cause: error)
        case .fileFailed, .tooLarge, .badAnswer: StorageError(.io, error.message, cause: error)
        case .badLocation, .missingSecret, .plainRefused, .unreachable, .wrongSecret, .clockSkew, .wrongRegion,
            .forbidden,
            .noBucket:
            StorageError(.storeMissing, error.message, cause: error)
        }
    }
}
