public import Tiles

/// The newest version of a package in a catalog.
public struct PackageInfo: Hashable, Sendable {
    /// The id: of a region `EE`, `DE-BY`, or the one that the publisher chose.
    public var id: String
    /// The data group and the language of the labels.
    public var edition: Edition
    /// Counts from 1.
    public var version: Int32
    /// Bytes of the main file.
    public var size: UInt64
    /// The tiles of the package.
    public var mask: TileMask
    /// The zooms of its tiles; `nil` if unknown.
    public var zooms: ZoomRange?
    /// How old the data is, as its source says; `nil` if unknown.
    public var dataDate: String?
    /// The names of the sources that a map must show; `nil` if unknown.
    public var attribution: String?
    /// The tileset that the tiles are of; `nil` if unknown.
    public var tileset: String?
    /// Whether the catalog has the package as tile packs, too; regions are made of them.
    public var hasTilePacks = false
    /// Name paths by language: `Europe/Northern Europe/Estonia`.
    private let paths: [String: String]

    /// Describes a package that is in no catalog, for example a file of the app.
    ///
    /// - Parameter names: Name paths by language: `Europe/Northern Europe/Estonia`.
    public init(
        id: String, edition: Edition = Edition(), version: Int32, size: UInt64, mask: TileMask,
        zooms: ZoomRange? = nil, dataDate: String? = nil, names: [String: String] = [:]
    ) {
        (self.id, self.edition, self.version, self.size) = (id, edition, version, size)
        (self.mask, self.zooms, self.dataDate, paths) = (mask, zooms, dataDate, names)
    }

    init(_ offer: CatalogContent.Offer) {
        (id, version, size, mask, zooms) = (offer.id, offer.version, offer.size, offer.mask, offer.zooms)
        edition = Edition(group: offer.group, language: offer.language)
        (dataDate, attribution, tileset) = (offer.dataDate, offer.attribution, offer.tileset)
        hasTilePacks = offer.packs != nil
        paths = offer.names
    }

    /// The name in a language, otherwise in English, otherwise in any language; the id if there is no name.
    public func name(_ language: String) -> String { names(language).last ?? id }

    /// The names of the areas above it and its own name, from the largest area on.
    public func names(_ language: String) -> [String] {
        let path = paths[language] ?? paths["en"] ?? paths.min { $0.key < $1.key }?.value ?? ""
        return path.partsBetweenSlashes(omittingEmpty: true)
    }
}
