import Foundation

/// Web Mercator: its names, and which grids of other services are the tiles of Packhorse.
enum WebMercator {
    /// What services call it; as ends of URNs and addresses too.
    static let names = [
        "EPSG:3857", "EPSG:900913", "EPSG:102100", "EPSG:102113", "EPSG:3785", "EPSG:41001", "ESRI:102100",
        "ESRI:102113",
        "OSGEO:41001",
    ]
    /// The width of the world in metres.
    static let worldWidth = 2 * Double.pi * 6_378_137

    /// Whether a name of a reference system is one of them: `EPSG:3857`, `urn:ogc:def:crs:EPSG:6.18:3:3857`,
    /// `http://www.opengis.net/def/crs/EPSG/0/3857`.
    static func isName(_ text: String) -> Bool {
        let parts = text.split { ":/".contains($0) }.map { $0.lowercased() }
        guard let code = parts.last,
            let authority = parts.dropLast().last(where: { ["epsg", "esri", "osgeo"].contains($0) })
        else { return false }
        return names.contains { $0.lowercased() == "\(authority):\(code)" }
    }

    /// Whether a number of a reference system, as ArcGIS writes it, is one of them.
    static func isCode(_ code: Double) -> Bool { [3857, 900_913, 102_100, 102_113, 3785].contains(code) }

    /// The zoom whose tiles have this width.
    ///
    /// - Parameter width: Metres.
    /// - Returns: `nil` unless it is one of our zooms within a millionth.
    static func zoom(ofTileWidth width: Double) -> Int? {
        guard width.isFinite, width > 0 else { return nil }
        let exact = log2(worldWidth / width)
        guard exact.isFinite, abs(exact - exact.rounded()) < 1e-6, (-0.5...40).contains(exact) else { return nil }
        return Int(exact.rounded())
    }

    /// Degrees of a position in metres.
    static func longitude(_ x: Double) -> Double { x / worldWidth * 360 }

    /// Degrees of a position in metres.
    static func latitude(_ y: Double) -> Double { atan(sinh(y / worldWidth * 2 * .pi)) * 180 / .pi }

    /// Whether a position is the north-west corner of the world within a metre.
    ///
    /// Some services write its axes in the other order, which the signs show.
    static func isCorner(_ x: Double, _ y: Double) -> Bool {
        let half = worldWidth / 2
        return abs(x + half) < 1 && abs(y - half) < 1 || abs(x - half) < 1 && abs(y + half) < 1
    }
}
