import CatalogFormat
import Errors
internal import ObjectStore

extension CatalogPush {
    /// The documents with a signature file that also proves the `catalog.json` which the target has now.
    ///
    /// A reader of that one finds its signature while the lists are replaced, and after an interruption before
    /// `catalog.json` is.
    func keepingSignature(_ pages: [Page], _ there: PushedCatalog) throws(CatalogError) -> [Page] {
        guard let place = pages.firstIndex(where: { $0.path == CatalogIndex.signatureName }),
            let old = there.documents[CatalogIndex.signatureName]?.bytes,
            let present = there.documents[CatalogIndex.fileName]?.bytes,
            // A file that is no signature proves nothing.
            let earlier = try? CatalogSignature(decoding: old), earlier.names(present)
        else { return pages }
        let own = try CatalogSignature(decoding: pages[place].bytes)
        guard own.keyID == earlier.keyID else { return pages }
        var pages = pages
        if pages.last?.bytes == present {
            // With signatures of earlier catalogs it is as good.
            guard let newest = own.signatures.first, earlier.signatures.contains(newest) else { return pages }
            pages[place] = Page(path: CatalogIndex.signatureName, bytes: old)
        } else if !own.names(present) {
            pages[place] = Page(path: CatalogIndex.signatureName, bytes: try own.keeping(earlier))
        }
        return pages
    }
}
