/// A part of a file with an area.
package struct AreaFeature: Sendable {
    /// Its properties; empty in formats without them.
    package var properties: [String: JSONText] = [:]
    /// Its own id, as features of GeoJSON may have; `nil` = none, or one that is not text.
    package var id: String?
    /// Its shape; empty in a feature without one.
    package var geometry: Geometry

    package init(properties: [String: JSONText] = [:], geometry: Geometry) {
        self.properties = properties
        self.geometry = geometry
    }
}

extension BoundingBox {
    /// The message for a place outside Web Mercator.
    package static let liesBeyond = "is outside the map: Web Mercator ends at 85.0511 degrees north and south"
}
