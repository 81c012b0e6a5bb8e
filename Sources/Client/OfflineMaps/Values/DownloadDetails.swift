internal import Foundation
internal import StyleFormat

/// What the planner knows of a download beyond what the rules need: where its bytes are, and what its row will say.
struct DownloadDetails: Sendable, Hashable {
    /// The address of the whole file or of the tile.
    var address: URL
    /// What the address is.
    var kind: ResourceRequest.Kind
    /// Headers of the request.
    var headers: [String: String] = [:]
    /// The address of the patch, when the download has one.
    var patch: URL?
    /// The installed file that the patch is for.
    var base: URL?
    /// The file as it will be installed; of a tile, the pack that it belongs to.
    var file: InstalledFile
    /// The tile, for a single tile.
    var tile: TilePlace?
    /// The resource, for a single resource of a style.
    var resource: StyleResource?
    /// How fast its server may be asked.
    var limits: RequestLimits?

    /// The limits of a tile server, for all requests to it together.
    struct RequestLimits: Sendable, Hashable {
        var perSecond: Double
        var parallel: Int
        var timeout: Duration
    }

    /// A single tile and the pack that is being filled with it.
    struct TilePlace: Sendable, Hashable {
        var zoom: Int
        var column: Int
        var row: Int
    }
}

/// A plan with what the operations on its downloads need.
struct DetailedPlan: Sendable {
    var answer: PlanAnswer
    /// What regions need; the column `required` of their rows.
    var needs: [RegionID: RegionNeeds] = [:]
}

/// Everything that a plan depends on, as it is at one moment.
struct PlanView: Sendable {
    /// The catalog's address; other addresses are relative to it.
    var address: URL?
    /// What the catalog offers; `nil` when none was read.
    var content: CatalogContent?
    var rows: StoreRows
    var regions: [RegionID: RegionDefinition]
    /// The data groups that the user selected.
    var groups: Set<String>
}
