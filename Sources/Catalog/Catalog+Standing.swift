internal import Foundation
public import Shards

extension Catalog {
    /// The newest version of a package, when it has these very bytes and its file is there with its length; else `nil`.
    ///
    /// What stands needs not be published again.
    /// - Throws: `catalog-corrupt`, `io`.
    public func standing(id: String, digest: Digest, size: UInt64) throws(CatalogError) -> Published? {
        guard let entry = try list().packages.first(where: { $0.id == id }), entry.sha256 == digest.hex,
            try fileSize(place(entry.path)) == size
        else { return nil }
        return Published(version: entry.version, path: place(entry.path), unchanged: true)
    }
}
