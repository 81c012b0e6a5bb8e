/// How the colours of a picture encode heights in metres.
///
/// - Source: MapLibre style specification, `raster-dem`.
public enum TerrainEncoding: String, Codable, Sendable, Hashable, CaseIterable {
    /// red · 256 + green + blue / 256 − 32768.
    case terrarium
    /// −10000 + (red · 65536 + green · 256 + blue) · 0.1.
    case mapbox
}
