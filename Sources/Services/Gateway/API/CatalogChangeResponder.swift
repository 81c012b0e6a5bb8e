internal import Catalog
internal import ClusterClient
internal import Errors
internal import Foundation
internal import HummingbirdCore
internal import Wire

/// Compares catalogs of the coordinator, promotes packages from one to another, and rolls packages back.
enum CatalogChangeResponder {
    /// A difference, and how many of its packages were left out because the answer of the coordinator has a limit of size.
    private struct View: Encodable, Sendable {
        let packages: [CatalogDifference.Package]
        let unchanged: Int
        let new: CatalogDifference.Sum
        let old: CatalogDifference.Sum
        let shrinkage: Double
        let warnings: [String]
        let sequence: Int64?
        let omitted: UInt32

        init(_ answer: PBCatalogChanged) throws {
            let difference = try JSONDecoder().decode(CatalogDifference.self, from: answer.difference)
            (packages, unchanged) = (difference.packages, difference.unchanged)
            (new, old, shrinkage) = (difference.new, difference.old, difference.shrinkage)
            (warnings, sequence, omitted) = (difference.warnings, difference.sequence, answer.omitted)
        }
    }

    private struct Order: Codable, Sendable {
        let order: String
        /// The catalog that has the packages; absent = the main one.
        let from: String?
        /// Ids; absent or empty = all of a promotion, or those of the last promotion.
        let packages: [String]?
        let group: String?
        let language: String?
        /// Whether only packages without group and language are meant.
        let mainEdition: Bool?
        /// The version that comes back.
        let version: UInt32?
        /// From 0 to 1; absent = 0.5.
        let maxShrink: Double?
        let replaceTileset: Bool?
        let replaceArea: Bool?
        let dryRun: Bool?
    }

    /// What would change in one catalog if every package of the other were promoted.
    static func difference(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let wanted = PBCompareCatalogs.make {
            $0.from = routed["catalog"]
            $0.catalog = routed["other"]
        }
        let key = "compare \(routed["catalog"]) \(routed["other"])"
        return try view(await routed.services.cluster.read(key) { try await $0.compare(wanted) })
    }

    /// Promotes or rolls back; the answer comes when the catalog is changed.
    static func order(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let order = try await JSONBody.read(Order.self, routed.request)
        guard ["promote", "rollback"].contains(order.order) else {
            throw Problem(.wrongRequest, "'order' is promote or rollback.")
        }
        guard order.order == "promote" || order.from == nil, order.order == "rollback" || order.version == nil else {
            throw Problem(.wrongRequest, "'from' belongs to promote, 'version' to rollback.")
        }
        guard order.version != 0 else { throw Problem(.wrongRequest, "'version' is at least 1.") }
        guard order.mainEdition != true || order.group == nil && order.language == nil else {
            throw Problem(.wrongRequest, "'main_edition' is that without 'group' and 'language'.")
        }
        // No 'packages' means all: an empty list is a mistake of a program.
        guard (1...1_000).contains(order.packages?.count ?? 1) else {
            throw Problem(.wrongRequest, "'packages' has 1 to 1,000 ids; without it all packages are meant.")
        }
        let message = PBChangeCatalog.make {
            $0.order = order.order
            $0.catalog = routed["catalog"]
            $0.from = order.from ?? ""
            $0.packages = order.packages ?? []
            $0.edition = .make {
                $0.group = order.group ?? ""
                $0.language = order.language ?? ""
            }
            $0.mainEdition = order.mainEdition ?? false
            $0.version = order.version ?? 0
            $0.maxShrink = order.maxShrink ?? CatalogDifference.usualShrinkage
            $0.replacesTileset = order.replaceTileset ?? false
            $0.replacesArea = order.replaceArea ?? false
            $0.dryRun = order.dryRun ?? false
        }
        let answer = try await routed.services.cluster.ask { try await $0.change(message) }
        await routed.services.watch.refresh()
        return try view(answer)
    }

    private static func view(_ answer: PBCatalogChanged) throws(Problem) -> Response {
        do { return APIResponder.json(try View(answer)) } catch {
            throw Problem(.otherVersion, "The coordinator's answer is not a difference of two catalogs.")
        }
    }
}
