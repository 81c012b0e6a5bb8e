public import CatalogFormat
public import Tiles

/// How finished packages are published: what a submission asks for, carried unchanged to the catalog.
public struct PublishOptions: Sendable, Hashable {
    /// The name of the catalog that exists without any option.
    public static let mainCatalog = "main"

    /// The name of the catalog, as a coordinator knows it.
    public var catalog = Self.mainCatalog
    /// The part of the catalog.
    public var edition = CatalogEdition.main
    /// How old the data is, as its source says: `2026-10-01`.
    ///
    /// At most 40 printable characters; `nil` if unknown.
    public var dataDate: String?
    /// How the packages are cut into tile packs; `nil` = no tile packs.
    public var packs: PackScheme?
    /// The largest size of a file in bytes: a package with a larger one is published in parts; `nil` = no limit.
    public var maxFile: UInt64?
    /// Whether they may replace packages of another tileset.
    public var replacesTileset = false
    /// Whether they may replace packages of another area, and be smaller if their area or zooms differ.
    public var replacesArea = false
    /// Whether they may have less than half of the tiles or bytes of the listed version.
    public var allowsShrink = false
    /// Whether all packages of a job are published in one change of the catalog, or none.
    public var together = false
    /// What follows when the job is done, in this order.
    public var then: [CatalogStep] = []

    /// The main edition of the main catalog; nothing unusual is allowed.
    public init() {}

    /// Whether a name can be that of a further catalog: 1 to 32 lower-case letters, digits and hyphens, not `main`.
    public static func isCatalogName(_ name: String) -> Bool { CatalogEdition.isWord(name) && name != mainCatalog }

    /// Whether packages of the same id replace each other.
    public func hasSamePlace(as other: PublishOptions) -> Bool { catalog == other.catalog && edition == other.edition }
}
