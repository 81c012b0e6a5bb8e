import Errors
package import Foundation
package import ObjectStore
package import S3

/// Where a catalog can be pushed to: a folder of this machine, or a prefix of a bucket.
package enum PushPlace: Hashable, Sendable, CustomStringConvertible {
    /// The path of a folder.
    case folder(String)
    /// A bucket and prefix.
    case bucket(S3Location)

    /// Reads what a user has named.
    ///
    /// - Throws: `bad-address` for an address that is neither a folder nor `s3://bucket/prefix`.
    package init(_ text: String) throws(CatalogTransferError) {
        if S3Location.isMeant(by: text) {
            do throws(S3Error) { self = .bucket(try S3Location(text)) } catch {
                throw CatalogTransferError(.badAddress, error.message)
            }
            return
        }
        guard !text.isEmpty, !text.contains("://"), !text.utf8.contains(0) else {
            throw CatalogTransferError(
                .badAddress, "'\(text.prefix(200))' is not a bucket", hint: "write s3://bucket/prefix, or a folder")
        }
        self = .folder(text)
    }

    package var description: String {
        switch self {
        case .folder(let path): path
        case .bucket(let location): "\(location)"
        }
    }

    /// Whether another place is this one, or below it; symbolic links of folders are followed.
    package func contains(_ other: PushPlace) -> Bool {
        switch (self, other) {
        case (.folder(let path), .folder(let inner)): Self.isInside(Self.realPath(inner), Self.realPath(path))
        case (.bucket(let location), .bucket(let inner)):
            location.bucket == inner.bucket
                && (location.prefix.isEmpty || "\(inner.prefix)/".hasPrefix("\(location.prefix)/"))
        case (.folder, .bucket), (.bucket, .folder): false
        }
    }

    /// Whether one of both is inside the other: then a push would copy into what it copies from.
    package func isNested(with folder: URL) -> Bool {
        guard case .folder(let path) = self else { return false }
        let (own, other) = (Self.realPath(path), Self.realPath(folder.path))
        return Self.isInside(own, other) || Self.isInside(other, own)
    }

    /// The same place without symbolic links, `.` and `..`: what was checked is what is written to.
    var resolved: PushPlace {
        guard case .folder(let path) = self else { return self }
        return .folder(Self.realPath(path))
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        "\(path)/".hasPrefix(folder.hasSuffix("/") ? folder : "\(folder)/")
    }

    /// A folder's path without symbolic links.
    ///
    /// The folder need not exist.
    private static func realPath(_ path: String) -> String {
        let folder = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
        let above = folder.deletingLastPathComponent()
        guard !FileManager.default.fileExists(atPath: folder.path), above.path.count < folder.path.count else {
            return folder.resolvingSymlinksInPath().path
        }
        return URL(filePath: realPath(above.path)).appending(path: folder.lastPathComponent).path
    }
}

/// The places that a service may push catalogs to.
package struct PushPlaces: Sendable {
    private let allowed: [PushPlace]
    private let open: @Sendable (S3Location) throws -> S3Bucket

    /// No place.
    package init() { self.init([]) { _ in throw CatalogTransferError(.badAddress, "no bucket is allowed") } }

    /// - Parameters:
    ///   - allowed: Folders and prefixes; what is below them is allowed, too.
    ///   - open: Opens a place in a bucket.
    package init(_ allowed: [PushPlace], open: @escaping @Sendable (S3Location) throws -> S3Bucket) {
        (self.allowed, self.open) = (allowed, open)
    }

    /// The place that a step names, without symbolic links.
    ///
    /// - Throws: `bad-address` for a place that is none, for a relative path, and for one that is not allowed.
    package func place(_ text: String) throws(CatalogTransferError) -> PushPlace {
        let place = try PushPlace(text)
        if case .folder(let path) = place, !path.hasPrefix("/") {
            throw CatalogTransferError(
                .badAddress, "'\(text.prefix(200))' is not an absolute path", hint: "write push=/srv/www")
        }
        guard allowed.contains(where: { $0.contains(place) }) else {
            let names = allowed.map { "\($0)" }.joined(separator: ", ")
            throw CatalogTransferError(
                .badAddress, "the coordinator may not push to '\(text.prefix(200))'",
                hint: allowed.isEmpty
                    ? "start the coordinator with --push-to \(text.prefix(200))"
                    : "it may push to \(names) and what is below; another place needs coordinator --push-to")
        }
        return place.resolved
    }

    /// Opens a place that ``place(_:)`` has given.
    ///
    /// - Throws: `S3Error`.
    package func target(_ place: PushPlace) throws -> any PushTarget {
        switch place {
        case .folder(let path): FolderTarget(folder: URL(filePath: path, directoryHint: .isDirectory))
        case .bucket(let location): BucketTarget(bucket: try open(location))
        }
    }
}
