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
        var held: [Digest: URL] = [:]
        for entry in try list(edition).packages where (entry.part?.of ?? entry.id) == id {
            for file in entry.allFiles {
                let url = place(entry.path(file.fileExtension), edition)
                guard let digest = Digest(hex: file.sha256), try fileSize(url) == UInt64(max(0, file.size)) else {
                    continue
                }
                held[digest] = url
            }
        }
        return held
    }
}
