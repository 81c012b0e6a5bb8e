package import Digests
package import Foundation
package import ObjectStore

/// The destination of a push: named objects with bytes.
package protocol PushTarget: Sendable {
    /// The name for people.
    var name: String { get }
    /// The warning for a target that compares nothing; `nil` where it needs none.
    var warningOfNoComparison: String? { get }
    /// The sizes of existing objects, by name.
    func objects() async throws -> [String: UInt64]
    /// A small object; `nil` when it does not exist.
    func read(_ name: String) async throws -> StoredObject?
    /// Which conditions a put may have.
    func comparisons() async throws -> PutComparisons
    /// Stores bytes if the condition is true. A reader sees either the old or the new ones.
    func put(_ name: String, bytes: [UInt8], if condition: PutCondition?) async throws -> PutResult
    /// Stores a file of this length and SHA-256. A reader sees all of it or none.
    ///
    /// - Parameter isNew: Whether an object of this name is not replaced, as far as the target compares that.
    /// - Returns: Whether the object of this name has these bytes now.
    func put(_ name: String, file: URL, size: UInt64, sha256: Digest, isNew: Bool) async throws -> Bool
    /// Removes an object. It need not exist.
    func remove(_ name: String) async throws
}

/// The objects under a prefix of a bucket.
package struct BucketTarget: PushTarget {
    package let bucket: S3Bucket

    package init(bucket: S3Bucket) {
        self.bucket = bucket
    }

    /// Larger objects are sent in parts.
    ///
    /// Each part is repeated separately after a broken connection.
    private static let maxWhole: UInt64 = 64 << 20

    package var name: String { "\(bucket.location)" }

    package var warningOfNoComparison: String? {
        "the server of '\(name)' does not compare before it replaces an object (If-Match), so two publishers could mix their lists: "
            + "let only one push to this prefix"
    }

    package func objects() async throws -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        var token: String?
        repeat {
            let page = try await bucket.list(after: token)
            for object in page.objects { found[object.name] = object.size }
            // A server that repeats the same token would cause an endless loop.
            token = page.next == token ? nil : page.next
        } while token != nil
        return found
    }

    package func read(_ name: String) async throws -> StoredObject? { try await bucket.object(name) }

    package func comparisons() async throws -> PutComparisons { try await bucket.comparisons() }

    package func put(_ name: String, bytes: [UInt8], if condition: PutCondition?) async throws -> PutResult {
        try await bucket.put(name, bytes: bytes, if: condition)
    }

    package func put(_ name: String, file: URL, size: UInt64, sha256: Digest, isNew: Bool) async throws -> Bool {
        let isStored: Bool
        if size > Self.maxWhole {
            isStored = try await bucket.putParts(name, file: file.path, size: size, isNew: isNew)
        } else {
            let condition: PutCondition? = isNew ? .absent : nil
            let result = try await bucket.put(
                name, file: file.path, size: size, sha256: sha256.hex, if: condition)
            isStored = result != .refused
        }
        // The answer to an earlier attempt may be lost: then the object is ours.
        return isStored ? true : try await bucket.holds(name, size: size, sha256: sha256)
    }

    package func remove(_ name: String) async throws { try await bucket.remove(name) }
}
