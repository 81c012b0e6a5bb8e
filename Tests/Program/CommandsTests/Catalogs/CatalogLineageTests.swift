import CatalogFormat
import Testing

@testable import CatalogTransfer

/// Which catalog is an earlier state of another one.
struct CatalogLineageTests {
    private func catalog(_ packages: [(id: String, version: Int32)], sequence: Int64? = nil) -> CatalogIndex {
        var index = CatalogIndex()
        index.sequence = sequence ?? packages.reduce(0) { $0 + Int64($1.version) }
        index.packages = packages.map { id, version in
            let part =
                id.split(separator: "-").count > 1 ? CatalogPart(of: String(id.prefix(2)), number: 1, count: 2) : nil
            return CatalogIndex.Package(
                id: id, edition: "", names: [:],
                versions: [.init(version: version, tileMask: "", tilesHash: "", files: [], patches: [])], part: part)
        }
        return index
    }

    private func difference(
        _ own: CatalogIndex, _ there: CatalogIndex, withdrawn: [String: Int32] = [:],
        keys: (String?, String?) = (nil, nil)
    ) -> String? {
        var lineage = CatalogLineage(own, keyID: keys.0)
        lineage.addWithdrawn(in: "", withdrawn)
        return lineage.difference(from: there, keyID: keys.1)
    }

    @Test func earlierStatesAreTaken() {
        let own = catalog([("EE", 3), ("LV", 1)])
        for there in [own, catalog([]), catalog([("EE", 1)]), catalog([("EE", 3)])] {
            #expect(difference(own, there) == nil)
        }
        #expect(
            difference(catalog([("EE", 3)], sequence: 9), catalog([("EE", 2), ("LT", 4)]), withdrawn: ["LT": 5]) == nil)
        // The first build of this program wrote no sequence.
        var old = catalog([("EE", 1)])
        old.sequence = nil
        #expect(difference(own, old) == nil)
        #expect(difference(own, catalog([("EE", 1)]), keys: ("k", nil)) == nil, "it is signed from now on")
    }

    @Test func aPackageMayBeCutIntoOtherParts() {
        #expect(difference(catalog([("CA-1", 2), ("CA-2", 2)]), catalog([("CA", 1)])) == nil)
        #expect(difference(catalog([("CA", 2)]), catalog([("CA-1", 1), ("CA-2", 1)])) == nil)
        #expect(difference(catalog([("CA-1", 2), ("CA-2", 2)]), catalog([("CA-3", 1)])) == nil)
        #expect(difference(catalog([("CA", 2)]), catalog([("CA-1", 3)]))?.contains("version 3") == true)
    }

    @Test func otherCatalogsAreNamed() {
        let own = catalog([("EE", 3)])
        for (there, word) in [
            (catalog([("LV", 1)]), "'LV', which this one never had"),
            (catalog([("EE", 4)]), "version 4 of package 'EE'"),
            (catalog([("EE", 3)], sequence: 4), "sequence is 4, and that of this one is 3"),
        ] {
            #expect(difference(own, there)?.contains(word) == true, "\(word)")
        }
        #expect(
            difference(own, own, keys: ("mine", "theirs"))?.contains("key theirs, and this one with key mine") == true)
        #expect(difference(own, own, keys: (nil, "theirs"))?.contains("is not signed") == true)
        #expect(difference(own, catalog([("EE", 2), ("LT", 4)]), withdrawn: ["LT": 3])?.contains("version 4") == true)
    }
}
