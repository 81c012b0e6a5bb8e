import Catalog
package import CatalogFormat
import Digests
import Errors
internal import Files
import Foundation

extension CatalogSource {
    /// The packages of every edition, as the lists give them.
    ///
    /// - Throws: ``CatalogTransferError`` `no-catalog`, `catalog-changed` when a server's lists do not belong to its
    ///   `catalog.json`; `CatalogError`; read errors.
    package func lists() async throws -> [CatalogEdition: [CatalogEntry]] {
        let index = folder == nil ? try await CatalogDocument.read(self, key: nil)?.index : nil
        let editions =
            try folder.map { try Catalog.editions(in: $0) }
            ?? index?.editions.map { try CatalogEdition(group: $0.group, language: $0.language) } ?? [.main]
        var lists: [CatalogEdition: [CatalogEntry]] = [:]
        for edition in editions {
            let path = edition.path + "packages.json"
            guard let bytes = try await read(path) else { throw place.missingIndex }
            if let listed = index?.editions.first(where: { $0.path == edition.path })?.list,
                Digest(of: bytes).hex != listed.sha256
            {
                throw CatalogTransferError(
                    .changed,
                    "'\(name)\(path)' is not the list that \(CatalogIndex.fileName) names: it is being replaced, or a cache has an old one",
                    hint: "try again")
            }
            lists[edition] = try Catalog.entries(decoding: bytes, named: name + path)
        }
        return lists
    }
}
