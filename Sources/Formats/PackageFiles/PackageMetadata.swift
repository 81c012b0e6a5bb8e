public import TileBodies
public import Tiles

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
    /// How pictures encode heights; `nil` = they are no heights.
    public var encoding: TerrainEncoding?
    /// The width and height at which pictures are shown, in pixels; `nil` = not said.
    public var tileSize: Int?
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
