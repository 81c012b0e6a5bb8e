public import CatalogFormat
public import Digests
public import Errors
public import Foundation

extension Catalog {
    /// The files of a package's newest version that exist with their listed lengths, by SHA-256; empty for an unknown
    /// package.
    ///
    /// Such a file need not be built again: it can be published as it is.
    /// - Throws: `catalog-corrupt`, `io`.
    public func files(of id: String, edition: CatalogEdition = .main) throws(CatalogError) -> [Digest: URL] {
        guard let entry = try list(edition).packages.first(where: { $0.id == id }) else { return [:] }
        var held: [Digest: URL] = [:]
        for file in entry.allFiles {
            let url = place(entry.path(file.fileExtension), edition)
            guard let digest = Digest(hex: file.sha256), try fileSize(url) == UInt64(max(0, file.size)) else {
                continue
            }
            held[digest] = url
        }
        return held
    }
}
