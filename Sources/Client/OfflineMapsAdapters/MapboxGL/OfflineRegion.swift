public import Foundation
internal import OfflineMaps
public import Tiles

/// What an offline pack is to hold.
public protocol OfflineRegion: Sendable {
    /// The style; `nil` is the store's default style.
    var styleURL: URL? { get }
    /// Whether the glyphs of Chinese, Japanese and Korean characters are downloaded.
    var includesIdeographicGlyphs: Bool { get set }
    /// The first zoom.
    var minimumZoomLevel: Double { get }
    /// The last zoom; may be infinite.
    var maximumZoomLevel: Double { get }
}

/// A rectangle with all its tiles.
public struct TilePyramidOfflineRegion: OfflineRegion, Codable, Sendable {
    /// The style; `nil` is the store's default style.
    public var styleURL: URL?
    /// The rectangle.
    public var bounds: BoundingBox
    /// The first zoom.
    public var minimumZoomLevel: Double
    /// The last zoom; may be infinite.
    public var maximumZoomLevel: Double
    /// Whether the glyphs of Chinese, Japanese and Korean characters are downloaded.
    public var includesIdeographicGlyphs = false

    /// Describes a rectangle.
    public init(styleURL: URL?, bounds: BoundingBox, fromZoomLevel: Double, toZoomLevel: Double) {
        self.styleURL = styleURL
        self.bounds = bounds
        minimumZoomLevel = fromZoomLevel
        maximumZoomLevel = toZoomLevel
    }
}

/// A shape with all tiles that it touches.
public struct ShapeOfflineRegion: OfflineRegion, Codable, Sendable {
    /// The style; `nil` is the store's default style.
    public var styleURL: URL?
    /// Points, lines and polygons.
    public var shape: Geometry
    /// The first zoom.
    public var minimumZoomLevel: Double
    /// The last zoom; may be infinite.
    public var maximumZoomLevel: Double
    /// Whether the glyphs of Chinese, Japanese and Korean characters are downloaded.
    public var includesIdeographicGlyphs = false

    /// Describes a shape.
    public init(styleURL: URL?, shape: Geometry, fromZoomLevel: Double, toZoomLevel: Double) {
        self.styleURL = styleURL
        self.shape = shape
        minimumZoomLevel = fromZoomLevel
        maximumZoomLevel = toZoomLevel
    }
}

extension RegionDefinition {
    /// The definition that a store needs for a region of Mapbox GL.
    ///
    /// Zooms are rounded down, as the renderer does for vector tiles.
    ///
    /// - Throws: `invalidArguments` for zooms that are none, a relative or local style URL, and a region of another type.
    init(_ region: any OfflineRegion) throws(StoreError) {
        let (first, last) = (region.minimumZoomLevel, region.maximumZoomLevel)
        guard first >= 0, first <= last, first <= Double(TileID.maxZoom),
            let zooms = ZoomRange(min: Int(first), max: Int(min(last, Double(TileID.maxZoom))))
        else {
            throw StoreError(.invalidArguments, "The region has the zooms \(first) to \(last); expected 0 to 22.")
        }
        let area: Area
        switch region {
        case let pyramid as TilePyramidOfflineRegion: area = .box(pyramid.bounds)
        case let shape as ShapeOfflineRegion: area = .geometry(shape.shape)
        default:
            throw StoreError(
                .invalidArguments, "The region is a \(type(of: region)).",
                advice: "Use TilePyramidOfflineRegion or ShapeOfflineRegion.")
        }
        if let url = region.styleURL, url.scheme == nil || url.isFileURL {
            throw StoreError(
                .invalidArguments, "The style URL '\(url)' is a file or relative.",
                advice: "Name the address of the style on its server.")
        }
        self.init(area, zooms: zooms, sources: region.styleURL.map { [.style($0)] } ?? [])
        ideographs = region.includesIdeographicGlyphs
    }

    /// The region of Mapbox GL that says the same, or a shape or rectangle around it.
    var offlineRegion: any OfflineRegion {
        let style = sources.lazy.compactMap { if case .style(let url) = $0 { url } else { nil } }.first
        let (first, last) = (Double(zooms.min), Double(zooms.max))
        func shape(_ geometry: Geometry) -> any OfflineRegion {
            var region = ShapeOfflineRegion(
                styleURL: style, shape: geometry, fromZoomLevel: first, toZoomLevel: last)
            region.includesIdeographicGlyphs = ideographs
            return region
        }
        func pyramid(_ box: BoundingBox) -> any OfflineRegion {
            var region = TilePyramidOfflineRegion(styleURL: style, bounds: box, fromZoomLevel: first, toZoomLevel: last)
            region.includesIdeographicGlyphs = ideographs
            return region
        }
        switch area {
        case .box(let box): return pyramid(box)
        case .geometry(let geometry): return shape(geometry)
        case .around(let places, let meters):
            return shape(Geometry.circles(points: places, radiusMeters: max(0, meters)))
        case .mask(let mask): return pyramid(mask.bounds ?? .world)
        }
    }
}
