public import CatalogFormat
public import Errors
public import Foundation

/// A change of packages of a catalog that is planned and not made yet.
///
/// ``Catalog/apply(_:cutting:)`` makes all of it or nothing.
public struct CatalogPlan: Sendable {
    /// Where packages are.
    struct Place: Hashable, Sendable, Comparable {
        let edition: CatalogEdition
        let id: String

        static func < (left: Place, right: Place) -> Bool {
            (left.edition, left.id) < (right.edition, right.id)
        }
    }

    /// What the change means.
    public enum Kind: String, Sendable {
        /// Packages of another catalog become the listed ones.
        case promotion
        /// Earlier versions become the listed ones again.
        case rollback
    }

    /// What the change means.
    public let kind: Kind
    /// What it changes; packages that only the changed catalog has are left out.
    public internal(set) var difference: CatalogDifference
    /// What is published.
    public internal(set) var requests: [PublishRequest] = []
    /// What is withdrawn.
    var withdrawn: [Place] = []
    /// The listed version of each package that it changes, as it was when the plan was made; `nil` for none.
    var expected: [Place: Int32?] = [:]
    /// Of a rollback to a named version: that version.
    var version: Int32?
    /// What is remembered when the change is made.
    var record = PromotionRecord()

    /// Whether there is nothing to change.
    public var isEmpty: Bool { requests.isEmpty && withdrawn.isEmpty }

    /// The entries that it publishes, by edition: of a package in parts those of its parts.
    public var published: [CatalogEdition: Set<String>] {
        Dictionary(grouping: requests, by: \.options.edition).mapValues { Set($0.flatMap(\.listedIDs)) }
    }
}

/// Which packages of a catalog an order is about.
public struct CatalogSelection: Sendable, Hashable {
    /// Ids of packages, not of parts; empty = all.
    public var ids: [String] = []
    /// The only edition; `nil` = every edition.
    public var edition: CatalogEdition?

    /// Everything.
    public init() {}

    /// - Parameters:
    ///   - ids: Ids of packages; empty = all.
    ///   - edition: The only edition; `nil` = every edition.
    public init(_ ids: [String], edition: CatalogEdition? = nil) {
        (self.ids, self.edition) = (ids, edition)
    }

    /// The chosen ones of a catalog's packages.
    ///
    /// - Parameter name: The catalog in an error.
    /// - Throws: `missing-package` for an id that none of the editions has.
    public func choose(
        from lists: [CatalogEdition: [CatalogEntry]], named name: String
    ) throws(CatalogError) -> [CatalogEdition: [CatalogEntry]] {
        let chosen = filter(lists)
        let found = Set(chosen.values.flatMap { $0.map(\.wholeID) })
        if let absent = ids.first(where: { !found.contains($0) }) {
            let part = lists.values.joined().first { $0.id == absent }?.part
            throw CatalogError(
                .missingPackage,
                "The catalog in '\(name)' has no package '\(absent.prefix(130))'\(edition.map { " in edition '\($0)'" } ?? "").",
                hint: part.map { "it is part \($0.number) of '\($0.of)'; name the whole package" }
            )
        }
        return chosen
    }

    /// The same without an error for ids that are not there.
    public func filter(_ lists: [CatalogEdition: [CatalogEntry]]) -> [CatalogEdition: [CatalogEntry]] {
        let wanted = Set(ids)
        return lists.filter { edition == nil || $0.key == edition }
            .mapValues { list in wanted.isEmpty ? list : list.filter { wanted.contains($0.wholeID) } }
    }
}

/// Cuts a package into tile packs, whose files it puts into the folder of an edition; this module does not know their
/// format.
///
/// Returns `nil` for a package that has no packs.
public typealias PackMaker = @Sendable (_ request: PublishRequest, _ edition: URL) throws -> PublishedPacks?

extension Catalog {
    /// The lists of every edition.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func lists() throws(CatalogError) -> [CatalogEdition: [CatalogEntry]] {
        var lists: [CatalogEdition: [CatalogEntry]] = [:]
        for edition in try editions() { lists[edition] = try packages(in: edition) }
        return lists
    }

    /// The listed version of each package of an edition; of a package in parts by the id of the package.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func listedVersions(in edition: CatalogEdition) throws(CatalogError) -> [String: Int32] {
        let packages = ListedPackage.all(of: try packages(in: edition))
        return Dictionary(packages.map { ($0.id, $0.version) }) { first, _ in first }
    }

    /// The folder of an edition.
    func home(_ edition: CatalogEdition) -> URL {
        edition.path.isEmpty ? folder : folder.appendingPathComponent(edition.path, isDirectory: true)
    }
}
