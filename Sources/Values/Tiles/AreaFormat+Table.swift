import Errors
import Foundation

extension AreaFeature {
    /// Reads points of interest in a CSV file: comma, semicolon or tab; quotes are allowed, but not line breaks inside them; other columns
    /// are ignored.
    ///
    /// Without a header the first two columns must be numbers, longitude then latitude.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` with the line number and what was found.
    static func features(table bytes: [UInt8]) throws(TilesError) -> [AreaFeature] {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.replacingOccurrences(of: "\u{FEFF}", with: "").split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let numbered = lines.enumerated().filter { !$1.allSatisfy(\.isWhitespace) }
        guard let header = numbered.first else {
            throw TilesError(.badGeometry, "it is empty; expected longitude,latitude rows")
        }
        if let open = numbered.first(where: { _, row in !row.count(where: { $0 == "\"" }).isMultiple(of: 2) }) {
            throw TilesError(
                .badGeometry,
                "line \(open.offset + 1) has an unclosed quote; line breaks in quotes are not supported")
        }
        let separator: Character = [";", "\t"].first { header.element.contains($0) } ?? ","
        let titles = Self.cells(header.element, separator).map { $0.lowercased() }
        let columns: (Int, Int)
        let rows: ArraySlice<(offset: Int, element: Substring)>
        if let named = try Self.columns(titles) {
            (columns, rows) = (named, numbered.dropFirst())
        } else if titles.count >= 2, Double(titles[0]) != nil, Double(titles[1]) != nil {
            (columns, rows) = ((0, 1), numbered[...])
        } else {
            let found = titles.joined(separator: ", ")
            throw TilesError(.badGeometry, "it has no longitude and latitude columns; found: \(found)")
        }
        let points = try rows.map { (line, row) throws(TilesError) in
            let cells = Self.cells(row, separator)
            guard cells.count > max(columns.0, columns.1),
                let longitude = Double(cells[columns.0]), let latitude = Double(cells[columns.1]),
                (-180...180).contains(longitude), (-90...90).contains(latitude)
            else {
                throw TilesError(
                    .badGeometry,
                    "line \(line + 1) has no longitude (-180...180) and latitude (-90...90): '\(row)'")
            }
            guard abs(latitude) <= BoundingBox.maxLatitude else {
                throw TilesError(.badGeometry, "line \(line + 1) \(BoundingBox.liesBeyond): '\(row)'")
            }
            return Coordinate(longitude: longitude, latitude: latitude)
        }
        guard !points.isEmpty else { throw TilesError(.badGeometry, "it has a header but no points") }
        return [AreaFeature(geometry: Geometry(points: points))]
    }

    /// The columns of longitude and latitude by their titles.
    ///
    /// The ambiguous titles `x` and `y` are used only if there are no others.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` when two columns have the same meaning.
    private static func columns(_ titles: [String]) throws(TilesError) -> (Int, Int)? {
        let pairs = [
            (["longitude", "lon", "lng", "long"], ["latitude", "lat"]), (["x"], ["y"]),
        ]
        for (longitudes, latitudes) in pairs {
            let found = [longitudes, latitudes].map { names in titles.indices.filter { names.contains(titles[$0]) } }
            guard let longitude = found[0].first, let latitude = found[1].first else { continue }
            if let twice = found.first(where: { $0.count > 1 }) {
                throw TilesError(
                    .badGeometry,
                    "it has two columns with the same meaning: \(twice.map { titles[$0] }.joined(separator: ", "))",
                    hint: "keep one longitude and one latitude column")
            }
            return (longitude, latitude)
        }
        return nil
    }

    private static func cells(_ line: Substring, _ separator: Character) -> [String] {
        var cells = [""]
        var quoted = false
        for character in line {
            if character == "\"" {
                quoted.toggle()
            } else if character == separator, !quoted {
                cells.append("")
            } else {
                cells[cells.count - 1].append(character)
            }
        }
        return cells.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
