package import Digests
internal import Files
package import Foundation
package import ObjectStore

/// The destination of a push: named objects with bytes.
package protocol PushTarget: Sendable {
    /// The name for people.
    var name: String { get }
    /// The sizes of existing objects, by name.
    func objects() async throws -> [String: UInt64]
    /// The bytes of a small object; `nil` when it does not exist.
    func read(_ name: String) async throws -> [UInt8]?
    /// Stores bytes. A reader sees either the old or the new ones.
    func put(_ name: String, bytes: [UInt8]) async throws
    /// Stores a file of this length and SHA-256. A reader sees all of it or none.
    func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws
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

    package func read(_ name: String) async throws -> [UInt8]? { try await bucket.read(name) }

    package func put(_ name: String, bytes: [UInt8]) async throws { try await bucket.put(name, bytes: bytes) }

    package func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws {
        if size > Self.maxWhole {
            try await bucket.putParts(name, file: file.path, size: size)
        } else {
            try await bucket.put(name, file: file.path, size: size, sha256: sha256.hex)
        }
    }

    package func remove(_ name: String) async throws { try await bucket.remove(name) }
}

/// A folder, usually that of a web server.
///
/// Files are flushed and then renamed to their final names.
package struct FolderTarget: PushTarget {
    package let folder: URL

    package init(folder: URL) {
        self.folder = folder
    }

    package var name: String { folder.path }

    package func objects() async throws -> [String: UInt64] {
        try await FileWork.run { [folder] in
            var found: [String: UInt64] = [:]
            guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return found }
            while let path = walk.nextObject() as? String {
                guard walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular else { continue }
                found[path] = (walk.fileAttributes?[.size] as? NSNumber)?.uint64Value
            }
            return found
        }
    }

    package func read(_ name: String) async throws -> [UInt8]? {
        let file = folder.appending(path: name)
        return try ReadFile.ifPresent(file)
    }

    package func put(_ name: String, bytes: [UInt8]) async throws {
        let file = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(file.deletingLastPathComponent())
            try Durable.write(bytes, to: file)
        }
    }

    package func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws {
        let target = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(target.deletingLastPathComponent())
            try Durable.copy(file, to: target)
        }
    }

    package func remove(_ name: String) async throws {
        let file = folder.appending(path: name)
        try await FileWork.run { [folder] in
            try Durable.remove(file)
            Durable.removeEmptyFolders(of: [file], upTo: folder)
        }
    }
}
