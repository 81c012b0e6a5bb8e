import Errors

extension Geometry {
    /// Refuses a coordinate system other than WGS 84 in degrees; GeoJSON of 2008 could name one in `crs`.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` with the name.
    static func checkSystem(of members: [String: JSONText], at place: String) throws(TilesError) {
        guard let value = members["crs"], let name = name(of: value), !isDegrees(name) else { return }
        throw TilesError(
            .badGeometry,
            "GeoJSON at \(place.prefix(200)) has the coordinate system '\(name.prefix(80))'; "
                + "expected longitude and latitude in degrees of WGS 84 (CRS84 or EPSG:4326)",
            hint: "convert it, for example with ogr2ogr -t_srs EPSG:4326 NEW.geojson OLD.geojson")
    }

    /// What a `crs` names; `nil` for null.
    private static func name(of value: JSONText) -> String? {
        switch value {
        case .string(let name): return name
        case .object(let members):
            guard case .object(let properties)? = members["properties"] else { return "without a name" }
            for key in ["name", "code", "href"] {
                switch properties[key] {
                case .string(let name)?: return key == "code" ? "EPSG:\(name)" : name
                case .number(let code)?: return "EPSG:\(code.formatted)"
                case .object?, .list?, .numbers?, .other?, nil: continue
                }
            }
            return "without a name"
        case .number(let code): return "EPSG:\(code.formatted)"
        case .list, .numbers: return "without a name"
        case .other: return nil
        }
    }

    /// Names such as `urn:ogc:def:crs:OGC:1.3:CRS84`, `EPSG:4326` and `http://www.opengis.net/def/crs/EPSG/0/4979`.
    private static func isDegrees(_ name: String) -> Bool {
        let words = name.uppercased().split { ":/#".contains($0) }
        guard let last = words.last else { return false }
        if ["CRS84", "CRS84H"].contains(last) || last.filter({ $0.isLetter || $0.isNumber }) == "WGS84" { return true }
        return ["4326", "4979"].contains(last) && words.contains { $0.hasPrefix("EPSG") }
    }
}

extension Double {
    fileprivate var formatted: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
