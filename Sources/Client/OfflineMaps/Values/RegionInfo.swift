public import Foundation
public import Tiles

/// A region as it is now.
public struct RegionInfo: Sendable {
    /// The name.
    public var id: RegionID
    /// What it is to hold.
    public var definition: RegionDefinition
    /// The app's own data.
    public var context: Data
    /// Whether it is complete.
    public var state: RegionState
    /// How far it is.
    public var progress: TaskProgress
    /// The bytes of all that it needs, also of what others share.
    public var bytes: UInt64
    /// The tiles that it has.
    public var covered: TileMask
    /// The zooms that it has, extended to whole bands.
    public var zooms: ZoomRange
    /// When its first pack expires.
    public var expires: Date?
    /// What is missing.
    public var missing: [Missing]
    /// What failed.
    public var failed: [Missing]

    /// Describes a region.
    public init(
        id: RegionID, definition: RegionDefinition, context: Data, state: RegionState, progress: TaskProgress,
        bytes: UInt64, covered: TileMask, zooms: ZoomRange, expires: Date? = nil, missing: [Missing] = [],
        failed: [Missing] = []
    ) {
        self.id = id
        self.definition = definition
        self.context = context
        self.state = state
        self.progress = progress
        self.bytes = bytes
        self.covered = covered
        self.zooms = zooms
        self.expires = expires
        self.missing = missing
        self.failed = failed
    }
}

/// The JSON of a region: its name and state, zooms, counts, and what is missing or has failed.
extension RegionInfo: Encodable {
    private enum CodingKeys: String, CodingKey {
        case region, state, minZoom, maxZoom, bytes, resources, tiles, packs, expires, missing, failed
    }

    /// Writes a region; a time is ISO 8601.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id.text, forKey: .region)
        try values.encode(state, forKey: .state)
        try values.encode(zooms.min, forKey: .minZoom)
        try values.encode(zooms.max, forKey: .maxZoom)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(progress.resources, forKey: .resources)
        try values.encode(progress.tiles, forKey: .tiles)
        try values.encode(progress.packs, forKey: .packs)
        try values.encodeIfPresent(expires?.ISO8601Format(), forKey: .expires)
        try values.encode(missing, forKey: .missing)
        try values.encode(failed, forKey: .failed)
    }
}

/// Whether a region is complete.
public enum RegionState: String, Codable, Sendable {
    /// Nothing was requested yet.
    case registered
    /// A task works on it.
    case loading
    /// All is there.
    case complete
    /// Something failed.
    case incomplete
    /// All is there, and a pack has expired.
    case stale
    /// A file was damaged.
    case damaged
}

/// Something that a region lacks.
public struct Missing: Hashable, Codable, Sendable {
    /// The name: an address, a tileset, or a kind of tile.
    public var what: String
    /// Why; `nil` when it was not tried.
    public var cause: FailureCause?
    /// How many.
    public var count: UInt64

    /// Names what is missing.
    public init(_ what: String, cause: FailureCause? = nil, count: UInt64 = 1) {
        self.what = what
        self.cause = cause
        self.count = count
    }
}
