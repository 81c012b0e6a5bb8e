public import Foundation
public import Tiles

/// What a region is to hold.
public struct RegionDefinition: Hashable, Codable, Sendable {
    /// Where.
    public var area: Area
    /// Which zooms.
    public var zooms: ZoomRange
    /// From where.
    public var sources: [SourceDescriptor]
    /// Whether the glyphs of Chinese, Japanese and Korean characters are downloaded.
    public var ideographs = false
    /// The pixel ratio of raster tiles and sprites: 1 or 2.
    public var pixelRatio = 1.0

    /// Describes a region.
    public init(_ area: Area, zooms: ZoomRange, sources: [SourceDescriptor]) {
        self.area = area
        self.zooms = zooms
        self.sources = sources
    }
}

/// Where a region is.
public enum Area: Hashable, Codable, Sendable {
    /// A rectangle.
    case box(BoundingBox)
    /// Points, lines and polygons.
    case geometry(Geometry)
    /// Everything within a distance of places.
    case around([Coordinate], meters: Double)
    /// Tiles.
    case mask(TileMask)
}

/// From where a region gets its data.
public enum SourceDescriptor: Hashable, Codable, Sendable {
    /// A tileset of the catalog.
    case tileset(String, Edition = Edition())
    /// A style and all that it needs.
    case style(URL)
    /// A tile server.
    case online(OnlineSource)
}

/// A server of single tiles.
public struct OnlineSource: Codable, Hashable, Sendable {
    /// The name in the store.
    public var id: String
    /// The address with {z}, {x} and {y}.
    public var template: String
    /// Whether {y} is counted from the south.
    public var isTMS = false
    /// The width of a tile in pixels.
    public var tileSize = 256
    /// The zooms that the server has; `nil` is all.
    public var zooms: ZoomRange?
    /// Headers of each request.
    public var headers: [String: String] = [:]
    /// How long a tile may take.
    public var timeout: Duration = .seconds(10)
    /// The highest rate of requests.
    public var requestsPerSecond = 20.0
    /// The most requests at once.
    public var parallel = 8

    /// Names a server.
    public init(id: String, template: String) {
        self.id = id
        self.template = template
    }
}
