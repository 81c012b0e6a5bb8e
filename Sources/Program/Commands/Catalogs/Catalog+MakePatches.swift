import Catalog
import CatalogFormat
internal import CommandSupport

extension Catalog {
    /// Makes the missing patches to packages, and warns of those that fail; blocks for a long time.
    ///
    /// - Parameters:
    ///   - published: The packages by edition.
    ///   - previous: How many earlier versions get a patch.
    /// - Returns: How many are listed now.
    /// - Throws: `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    func makePatches(to published: [CatalogEdition: Set<String>], previous: Int) throws -> Int {
        var wanted: [WantedPatch] = []
        for (edition, ids) in published.sorted(by: { $0.key < $1.key }) {
            wanted += try wantedPatches(of: ids, in: edition, previous: previous)
        }
        return try make(wanted, with: CatalogPatchCommand.maker) { patch, error in
            Console.warning("no patch to \(patch.edition.path)\(patch.id) \(patch.to): \(error)")
        }
    }
}
