public import Errors

extension Geometry {
    /// Reads GeoJSON of any type: the seven geometries, `Feature` and `FeatureCollection`.
    ///
    /// Strict in syntax and safe on hostile text: nested at most 64 deep, memory within a small multiple of the text.
    /// Altitudes and members that are not part of GeoJSON are ignored; a null geometry adds nothing. Longitudes may lie
    /// within ±540, latitudes within ±90 degrees. For edges longer than 180° see ``longEdges``. A member `crs`, which older files have, must name
    /// WGS 84 in degrees.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` saying where and what.
    public init(geoJSON bytes: [UInt8]) throws(TilesError) {
        self.init()
        try add(try JSONTextReader.read(bytes), at: "the top")
    }

    fileprivate init(_ value: JSONText, at place: String) throws(TilesError) {
        self.init()
        try add(value, at: place)
    }

    /// The polygons as a GeoJSON geometry, always the same bytes for the same polygons.
    package var polygonsGeoJSON: String {
        let parts = polygons.map { polygon in
            let rings = polygon.map { ring in
                "[\(ring.map { "[\($0.longitude),\($0.latitude)]" }.joined(separator: ","))]"
            }
            return "[\(rings.joined(separator: ","))]"
        }
        return #"{"coordinates":["# + parts.joined(separator: ",") + #"],"type":"MultiPolygon"}"#
    }

    private mutating func add(_ value: JSONText, at place: String) throws(TilesError) {
        guard case .object(let members) = value, case .string(let type)? = members["type"] else {
            throw Self.failure(place, "lacks an object with a 'type'")
        }
        try Self.checkSystem(of: members, at: place)
        switch type {
        case "FeatureCollection":
            for (index, feature) in try Self.list(members["features"], named: "features", of: type, at: place)
                .enumerated()
            {
                try add(feature, at: "feature \(index)")
            }
        case "GeometryCollection":
            for (index, part) in try Self.list(members["geometries"], named: "geometries", of: type, at: place)
                .enumerated()
            {
                try add(part, at: "\(place), geometry \(index)")
            }
        case "Feature":
            guard let geometry = members["geometry"] else { throw Self.failure(place, "lacks its 'geometry'") }
            if case .other = geometry { return }
            try add(geometry, at: place)
        default:
            try add(type, members["coordinates"] ?? .other, at: place)
        }
    }

    private mutating func add(_ type: String, _ value: JSONText, at place: String) throws(TilesError) {
        switch type {
        case "Point":
            if case .list(let none) = value, none.isEmpty { return }
            points.append(try Self.coordinate(value, place))
        case "MultiPoint": points += try Self.line(value, place)
        case "LineString": lines += try Self.filled([Self.line(value, place)], least: 2, place)
        case "MultiLineString": lines += try Self.filled(Self.rings(value, place), least: 2, place)
        case "Polygon": polygons += Self.filled([try Self.filled(Self.rings(value, place), least: 3, place)])
        case "MultiPolygon":
            for polygon in try Self.list(value, named: "coordinates", of: type, at: place) {
                polygons += Self.filled([try Self.filled(Self.rings(polygon, place), least: 3, place)])
            }
        default:
            throw Self.failure(place, "has the type '\(type.prefix(40))', which is not a GeoJSON type")
        }
    }

    fileprivate static func failure(_ place: String, _ what: String) -> TilesError {
        TilesError(
            .badGeometry,
            "GeoJSON at \(place.prefix(200)) \(what); expected a geometry, a Feature or a FeatureCollection (RFC 7946)."
        )
    }

    /// The lines that are not empty, each of which has enough positions: a ring that was simplified to three is one.
    private static func filled(
        _ lines: [[Coordinate]], least: Int, _ place: String
    ) throws(TilesError) -> [[Coordinate]] {
        let filled = filled(lines)
        if let short = filled.first(where: { $0.count < least }) {
            throw failure(
                place, "has a \(least == 2 ? "line" : "ring") of \(short.count) position\(short.count == 1 ? "" : "s")")
        }
        return filled
    }

    private static func filled<Part>(_ parts: [[Part]]) -> [[Part]] { parts.filter { !$0.isEmpty } }

    fileprivate static func list(
        _ value: JSONText?, named name: String, of type: String, at place: String
    ) throws(TilesError) -> [JSONText] {
        guard case .list(let values)? = value else { throw failure(place, "is a \(type) without a list of '\(name)'") }
        return values
    }

    private static func rings(_ value: JSONText, _ place: String) throws(TilesError) -> [[Coordinate]] {
        var rings: [[Coordinate]] = []
        guard case .list(let values) = value else {
            throw failure(place, "has no list of lines or rings in its 'coordinates': check its brackets")
        }
        for ring in values { rings.append(try line(ring, place)) }
        return rings
    }

    private static func line(_ value: JSONText, _ place: String) throws(TilesError) -> [Coordinate] {
        guard case .list(let values) = value else {
            throw failure(
                place,
                "has no list of positions in its 'coordinates' where a line or ring is expected: check its brackets")
        }
        var line: [Coordinate] = []
        line.reserveCapacity(values.count)
        for value in values { line.append(try coordinate(value, place)) }
        return line
    }

    private static func coordinate(_ value: JSONText, _ place: String) throws(TilesError) -> Coordinate {
        guard case .numbers(let numbers) = value, numbers.count >= 2 else {
            throw failure(place, "has a position that is not [longitude, latitude]")
        }
        guard abs(numbers[0]) <= 540, abs(numbers[1]) <= 90 else {
            throw failure(
                place,
                "has the position [\(numbers[0]), \(numbers[1])], which is not in degrees "
                    + "(longitude within ±540, latitude within ±90)")
        }
        return Coordinate(longitude: numbers[0], latitude: numbers[1])
    }
}

extension AreaFeature {
    /// Reads GeoJSON of any type: the features of a collection, else one.
    ///
    /// - Throws: ``TilesError`` as `Geometry(geoJSON:)` does.
    package static func features(geoJSON bytes: [UInt8]) throws(TilesError) -> [AreaFeature] {
        let value = try JSONTextReader.read(bytes)
        guard case .object(let members) = value, case .string("FeatureCollection")? = members["type"] else {
            return [try AreaFeature(value, at: "the top")]
        }
        try Geometry.checkSystem(of: members, at: "the top")
        let list = try Geometry.list(members["features"], named: "features", of: "FeatureCollection", at: "the top")
        var found: [AreaFeature] = []
        for (index, feature) in list.enumerated() { found.append(try AreaFeature(feature, at: "feature \(index)")) }
        return found
    }

    private init(_ value: JSONText, at place: String) throws(TilesError) {
        if case .object(let members) = value, case .object(let properties)? = members["properties"] {
            self.properties = properties
        }
        if case .object(let members) = value, case .string(let id)? = members["id"] { self.id = id }
        geometry = try Geometry(value, at: place)
    }
}
