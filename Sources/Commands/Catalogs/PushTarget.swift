import Foundation
import ObjectStore
import Shards

/// Where a catalog is pushed to: names with bytes.
protocol PushTarget: Sendable {
    /// For people.
    var name: String { get }
    /// Sizes of what is there, by name.
    func objects() async throws -> [String: UInt64]
    /// A small object's bytes, `nil` without one.
    func read(_ name: String) async throws -> [UInt8]?
    /// Stores some bytes; a reader sees the old ones or these.
    func put(_ name: String, bytes: [UInt8]) async throws
    /// Stores a file of that length and SHA-256; a reader sees all of it or none.
    func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws
    /// Removes an object; one that is not there is fine.
    func remove(_ name: String) async throws
}

/// The objects under a prefix of a bucket.
struct BucketTarget: PushTarget {
    let bucket: S3Bucket

    /// Objects above this are sent in parts, each repeated by itself when a connection breaks.
    private static let mostWhole: UInt64 = 64 << 20

    var name: String { "\(bucket.location)" }

    func objects() async throws -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        var token: String?
        repeat {
            let page = try await bucket.list(after: token)
            for object in page.objects { found[object.name] = object.size }
            // A server that gives the same token again would be asked for ever.
            token = page.next == token ? nil : page.next
        } while token != nil
        return found
    }

    func read(_ name: String) async throws -> [UInt8]? { try await bucket.read(name) }

    func put(_ name: String, bytes: [UInt8]) async throws { try await bucket.put(name, bytes: bytes) }

    func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws {
        if size > Self.mostWhole {
            try await bucket.putParts(name, file: file.path, size: size)
        } else {
            try await bucket.put(name, file: file.path, size: size, sha256: sha256.hex)
        }
    }

    func remove(_ name: String) async throws { try await bucket.remove(name) }
}

/// A folder, usually that of a web server; files are renamed into place, and flushed before they are named.
struct FolderTarget: PushTarget {
    let folder: URL

    var name: String { folder.path }

    func objects() async throws -> [String: UInt64] {
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

    func read(_ name: String) async throws -> [UInt8]? {
        let file = folder.appending(path: name)
        return FileKind.isThere(file) ? Array(try InputFile.read(file)) : nil
    }

    func put(_ name: String, bytes: [UInt8]) async throws {
        let file = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(file.deletingLastPathComponent())
            try Durable.write(bytes, to: file)
        }
    }

    func put(_ name: String, file: URL, size: UInt64, sha256: Digest) async throws {
        let target = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(target.deletingLastPathComponent())
            try Durable.copy(file, to: target)
        }
    }

    func remove(_ name: String) async throws {
        let file = folder.appending(path: name)
        try await FileWork.run { [folder] in
            try Durable.remove(file)
            Durable.removeEmptyFolders(of: [file], upTo: folder)
        }
    }
}
