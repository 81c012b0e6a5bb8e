import Catalog
import CatalogFormat
import Errors
internal import ObjectStore

extension CatalogPush {
    /// The documents with the requested address: the lists, `catalog.json` with their digests, and its signature.
    ///
    /// - Throws: ``CatalogTransferError`` `wrong-key` for a signed catalog without its key; `CatalogError`.
    package func addressed(_ pages: [Page], _ document: CatalogDocument) async throws -> [Page] {
        guard let address else { return pages }
        let signature = pages.first { $0.path == CatalogIndex.signatureName }
        if let signature {
            let signedWith = try CatalogSignature(decoding: signature.bytes).keyID
            let found = try address.key?.publicKey.id
            guard found == signedWith else {
                throw CatalogTransferError(
                    .wrongKey,
                    "--url changes packages.json and so catalog.json, which is signed with key \(signedWith); "
                        + (found.map { "the key given is \($0)" } ?? "no key is given to sign it again"),
                    hint: "give --signing-key FILE with that key, or push without --url")
            }
        }
        let lists = Dictionary(
            pages.filter { page in document.index.editions.contains { $0.list.url == page.path } }.map {
                ($0.path, $0.bytes)
            }, uniquingKeysWith: { first, _ in first })
        let rebased = try RebasedCatalog(
            document.index, lists: lists, to: address.url, signedWith: address.key,
            replacing: try await target.read(CatalogIndex.signatureName)?.bytes)
        let documents = pages.filter {
            lists[$0.path] == nil && ![CatalogIndex.signatureName, CatalogIndex.fileName].contains($0.path)
        }
        return documents + rebased.lists.sorted { $0.key < $1.key }.map { Page(path: $0.key, bytes: $0.value) }
            + (rebased.signature.map { [Page(path: CatalogIndex.signatureName, bytes: $0)] } ?? [])
            + [Page(path: CatalogIndex.fileName, bytes: rebased.index)]
    }
}
