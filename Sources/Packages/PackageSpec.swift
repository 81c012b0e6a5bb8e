public import TileBodies
public import Tiles

/// The description of a package; together with the tiles it determines every byte of the file.
public struct PackageSpec: Sendable {
    /// The package's id: a file name without its extension.
    public let id: String
    /// The tiles that may be in it: those of the mask at these zooms.
    public let mask: TileMask
    /// The zooms it spans; `zooms.max` is at most the mask's.
    public let zooms: ZoomRange
    /// The content of its metadata table.
    public let metadata: PackageMetadata
    /// Which of ``formatVersions`` to write.
    public let formatVersion: Int

    /// Makes a spec from its parts.
    public init(
        id: String, mask: TileMask, zooms: ZoomRange, metadata: PackageMetadata,
        formatVersion: Int = PackageSpec.formatVersion
    ) {
        self.formatVersion = formatVersion
        self.id = id
        self.mask = mask
        self.zooms = zooms
        self.metadata = metadata
    }

    /// The version of the bytes this build writes for a spec.
    ///
    /// It is raised whenever the same spec and tiles would give other bytes, so that a coordinator never mixes builds
    /// in one catalog version.
    public static let formatVersion = 3

    /// The versions this build writes: 3, and 1 (without a seal, made by SQLite, with the library's version in its
    /// header), which a coordinator requests while an older worker that merges is connected.
    ///
    /// Version 2 was version 3 with SQLite's own pages; it was never released.
    public static let formatVersions = [1, 3]
}

/// The metadata of a package.
///
/// No dates and no versions of programs: the same tiles make the same file.
public struct PackageMetadata: Sendable, Hashable {
    /// Whether the map is drawn below others or above them.
    public enum Role: String, Sendable, Hashable, Codable {
        /// A base map, drawn below overlays.
        case baselayer
        /// An overlay, drawn above a base map.
        case overlay
    }

    /// The name shown to people.
    public var name: String
    /// What the bodies are.
    public var format: TileFormat
    /// The area, in degrees.
    public var bounds: BoundingBox
    /// Where a viewer should look first; `nil`: the middle of the bounds, at the zoom that shows all of them.
    public var center: Center?
    /// The attribution that must be shown with the map.
    public var attribution: String?
    /// What the map shows.
    public var description: String?
    /// Base layer or overlay.
    public var role: Role
    /// The version of the *map's* data, as its maker counts them.
    public var version: String
    /// JSON text of the array of vector layers (or of an object that has it under `vector_layers`).
    ///
    /// `nil`: for vector tiles, the layers and fields found in the tiles.
    public var vectorLayersJSON: String?
    /// Further rows, such as `schema`; they may not repeat a name the package writes itself.
    public var extra: [String: String]

    /// A place and a zoom.
    public struct Center: Sendable, Hashable {
        /// Degrees east.
        public var longitude: Double
        /// Degrees north.
        public var latitude: Double
        /// The zoom.
        public var zoom: Int
        /// Makes a centre from its parts.
        public init(longitude: Double, latitude: Double, zoom: Int) {
            self.longitude = longitude
            self.latitude = latitude
            self.zoom = zoom
        }
    }

    /// Makes metadata from its parts.
    public init(
        name: String, format: TileFormat, bounds: BoundingBox, center: Center? = nil, attribution: String? = nil,
        description: String? = nil, role: Role = .baselayer, version: String = "1.0", vectorLayersJSON: String? = nil,
        extra: [String: String] = [:]
    ) {
        self.name = name
        self.format = format
        self.bounds = bounds
        self.center = center
        self.attribution = attribution
        self.description = description
        self.role = role
        self.version = version
        self.vectorLayersJSON = vectorLayersJSON
        self.extra = extra
    }
}
