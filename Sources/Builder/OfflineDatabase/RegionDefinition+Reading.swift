internal import Foundation
internal import Tiles

extension RegionDefinition {
    /// Reads a definition as strictly as a client does.
    ///
    /// - Returns: The definition, or the reason why a client cannot read it.
    static func read(_ text: String) -> Result<RegionDefinition, Malformed> {
        // The parser's error names no place; the reason says what the definition must be.
        guard let members = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            return .failure(Malformed("it is not a JSON object"))
        }
        guard let style = members["style_url"] as? String, !style.isEmpty else {
            return .failure(Malformed("style_url is not text"))
        }
        for name in ["min_zoom", "pixel_ratio"] + (members["max_zoom"] == nil ? [] : ["max_zoom"]) {
            guard isDouble(name, in: text), number(members[name]) != nil else {
                return .failure(Malformed("\(name) is not a number with a decimal point"))
            }
        }
        let area: Area
        if let list = members["bounds"] as? [Any] {
            let numbers = list.compactMap(number)
            guard list.count == 4, numbers.count == 4, areDoubles("bounds", in: text),
                abs(numbers[0]) <= 90, abs(numbers[2]) <= 90, abs(numbers[1]) <= 180, abs(numbers[3]) <= 180,
                numbers[0] <= numbers[2]
            else {
                return .failure(Malformed("bounds are not [south, west, north, east] with decimal points"))
            }
            area = .bounds(south: numbers[0], west: numbers[1], north: numbers[2], east: numbers[3])
        } else if let geometry = members["geometry"] as? [String: Any], JSONSerialization.isValidJSONObject(geometry),
            // A geometry that cannot be written or read leads to the reason below.
            let json = try? JSONSerialization.data(withJSONObject: geometry, options: .sortedKeys),
            // A geometry that cannot be read leads to the reason below.
            let shape = try? Geometry(geoJSON: [UInt8](json)), !shape.isEmpty
        {
            area = .geometry(String(decoding: json, as: UTF8.self), shape)
        } else {
            return .failure(Malformed("it has neither bounds nor a geometry"))
        }
        return .success(
            RegionDefinition(
                styleURL: style, minZoom: number(members["min_zoom"]) ?? 0,
                maxZoom: members["max_zoom"].flatMap(number) ?? .infinity,
                pixelRatio: number(members["pixel_ratio"]) ?? 1,
                includesIdeographs: members["include_ideographs"] as? Bool ?? true, area: area))
    }

    /// Why a client cannot read a definition.
    struct Malformed: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private static func number(_ value: Any?) -> Double? {
        guard let number = value as? NSNumber, number.doubleValue.isFinite else { return nil }
        return number.doubleValue
    }

    /// Whether the text writes a member as a double; the client's JSON reader requires it, ours does not distinguish.
    private static func isDouble(_ name: String, in text: String) -> Bool {
        guard let rest = text.firstRange(of: "\"\(name)\"").map({ text[$0.upperBound...] }) else { return false }
        let value = rest.drop { $0 == ":" || $0.isWhitespace }.prefix { "+-.0123456789eE".contains($0) }
        return value.contains { ".eE".contains($0) }
    }

    private static func areDoubles(_ name: String, in text: String) -> Bool {
        guard let rest = text.firstRange(of: "\"\(name)\"").map({ text[$0.upperBound...] }) else { return false }
        let list = rest.drop { $0 == ":" || $0 == "[" || $0.isWhitespace }.prefix { $0 != "]" }
        return list.split(separator: ",").allSatisfy { $0.contains { ".eE".contains($0) } }
    }
}

extension RegionDefinition {
    /// How many tiles of a zoom a client counts for the region.
    ///
    /// - Source: MapLibre Native's offline code, schema version 6; for geometries the exact cover, which is never less
    ///   than the client's.
    func tileCounts(_ zooms: ClosedRange<Int>) -> [Int: UInt64] {
        var counts: [Int: UInt64] = [:]
        switch area {
        case .bounds(let south, let west, let north, let east):
            for zoom in zooms {
                counts[zoom] = Self.count(south: south, west: west, north: north, east: east, zoom: zoom)
            }
        case .geometry(_, let geometry):
            let mask = TileMask(covering: MercatorShape(geometry), maxZoom: min(zooms.upperBound, TileID.maxZoom))
            for zoom in zooms { counts[zoom] = mask.count(atZoom: zoom) }
        }
        return counts
    }

    private static func count(
        south: Double, west: Double, north: Double, east: Double, zoom: Int
    ) -> UInt64 {
        guard zoom > 0, zoom <= 30 else { return 1 }
        let side = Double(1 << zoom)
        func x(_ longitude: Double) -> Double {
            (longitude >= 180 ? longitude - 360 : longitude) / 360 * side + side / 2
        }
        func y(_ latitude: Double) -> Double {
            let limit = BoundingBox.maxLatitude
            let angle = max(-limit, min(limit, latitude)) * Double.pi / 180
            return (1 - log(tan(angle) + 1 / cos(angle)) / Double.pi) / 2 * side
        }
        let (first, last) = (x(west).rounded(.down), x(east).rounded(.up) - 1)
        let top = max(0, min(side - 1, y(north).rounded(.down)))
        let bottom = max(0, min(side - 1, y(south).rounded(.down)))
        let width = first > last ? side - first + last : last - first
        return UInt64(max(0, width + 1)) * UInt64(max(0, bottom - top + 1))
    }
}
