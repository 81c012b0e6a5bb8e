public import CatalogFormat
public import Errors
internal import Files
internal import Foundation

/// `promotion.json`: what the last promotion changed, so that it can be undone, and what of it was undone, so that undoing it
/// again changes nothing.
struct PromotionRecord: Codable, Equatable {
    /// One package.
    struct Package: Codable, Hashable {
        /// Path of its edition.
        let edition: String
        let id: String
        /// The version that was listed before; `nil` when there was none.
        let before: Int32?
        /// The version that the promotion listed.
        let after: Int32
        /// The version that the rollback of the promotion gave it, 0 for one that was withdrawn; `nil` before.
        var undone: Int32?
    }

    /// A package that got a version by its number (`--to`).
    struct Chosen: Codable, Hashable {
        /// Path of its edition.
        let edition: String
        let id: String
        /// The version that was named.
        let version: Int32
        /// The version under which it was listed.
        let result: Int32
    }

    /// Ascending by edition, then id.
    var packages: [Package] = []
    /// What rollbacks to a named version did since the promotion; `nil` = nothing.
    ///
    /// The named version may not be kept any more when the order is repeated.
    var chosen: [Chosen]?

    /// Notes a rollback to a named version.
    mutating func choose(_ one: Chosen) {
        chosen = (chosen ?? []).filter { $0.edition != one.edition || $0.id != one.id } + [one]
    }

    /// Its name in a catalog.
    static let fileName = "promotion.json"

    /// The entry of a package.
    subscript(_ edition: CatalogEdition, _ id: String) -> Package? {
        get { packages.first { $0.edition == edition.path && $0.id == id } }
        set {
            guard let place = packages.firstIndex(where: { $0.edition == edition.path && $0.id == id }) else { return }
            if let newValue { packages[place] = newValue } else { packages.remove(at: place) }
        }
    }

    /// Whether the listed version of a package is what a rollback to a named version gave it.
    func gave(_ package: ListedPackage, _ version: Int32, in edition: CatalogEdition) -> Bool {
        chosen?.contains(
            Chosen(edition: edition.path, id: package.id, version: version, result: package.version)) ?? false
    }

    /// The document; `nil` when nothing can be undone: then the file is removed.
    func encoded() throws(CatalogError) -> [UInt8]? {
        packages.isEmpty && chosen == nil ? nil : try CatalogJSON.encode(self, named: Self.fileName)
    }
}

extension Catalog {
    private var recordURL: URL { folder.appendingPathComponent(PromotionRecord.fileName) }

    /// What the last promotion changed; empty when there was none.
    func promotionRecord() throws(CatalogError) -> PromotionRecord {
        guard let bytes = try Self.bytes(recordURL) else { return PromotionRecord() }
        do { return try JSONDecoder().decode(PromotionRecord.self, from: Data(bytes)) } catch {
            throw CatalogError(
                .corrupt,
                "'\(recordURL.path)' is not the record of a promotion. Remove it; name the packages to roll back.",
                cause: error)
        }
    }

    /// The entries of packages that are still as the last promotion, or its rollback, published them.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func publishedByPromotion() throws(CatalogError) -> [CatalogEdition: Set<String>] {
        let lists = try lists()
        var ids: [CatalogEdition: Set<String>] = [:]
        for package in try promotionRecord().packages {
            guard let (edition, list) = lists.first(where: { $0.key.path == package.edition }),
                case let listed = list.filter({ $0.wholeID == package.id }),
                let version = listed.map(\.version).max(), [package.after, package.undone].contains(version)
            else { continue }
            ids[edition, default: []].formUnion(listed.map(\.id))
        }
        return ids
    }

    /// Replaces or removes the record.
    func write(_ record: PromotionRecord) throws(CatalogError) {
        guard let bytes = try record.encoded() else {
            return try CatalogError.naming { () throws(StorageError) in try Durable.remove(recordURL) }
        }
        try write(bytes, to: recordURL)
    }
}
