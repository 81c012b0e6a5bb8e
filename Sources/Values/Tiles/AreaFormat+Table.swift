import Errors
import Foundation
package import Tiles

/// Points of interest in a CSV file: a header row that names longitude and latitude, then one row per point.
package struct PointsFile {
    package let points: [Coordinate]
    /// The message for a place outside Web Mercator.
    package static let liesBeyond = "is outside the map: Web Mercator ends at 85.0511 degrees north and south"

    /// Parses the table: comma, semicolon or tab; quotes are allowed, but not line breaks inside them; other columns
    /// are ignored.
    ///
    /// Without a header the first two columns must be numbers, longitude then latitude.
    ///
    /// - Throws: ``CLIError`` 65 with the line number and what was found.
    package init(text: String, name: String) throws {
        let lines = text.replacingOccurrences(of: "\u{FEFF}", with: "").split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let numbered = lines.enumerated().filter { !$1.allSatisfy(\.isWhitespace) }
        guard let header = numbered.first else {
            throw CLIError(.badData, "'\(name)' is empty; expected longitude,latitude rows")
        }
        if let open = numbered.first(where: { _, row in !row.count(where: { $0 == "\"" }).isMultiple(of: 2) }) {
            throw CLIError(
                .badData,
                "'\(name)' line \(open.offset + 1) has an unclosed quote; line breaks in quotes are not supported")
        }
        let separator: Character = [";", "\t"].first { header.element.contains($0) } ?? ","
        let titles = Self.cells(header.element, separator).map { $0.lowercased() }
        let columns: (Int, Int)
        let rows: ArraySlice<(offset: Int, element: Substring)>
        if let named = try Self.columns(titles, name) {
            (columns, rows) = (named, numbered.dropFirst())
        } else if titles.count >= 2, Double(titles[0]) != nil, Double(titles[1]) != nil {
            (columns, rows) = ((0, 1), numbered[...])
        } else {
            let found = titles.joined(separator: ", ")
            throw CLIError(.badData, "'\(name)' has no longitude and latitude columns; found: \(found)")
        }
        points = try rows.map { line, row in
            let cells = Self.cells(row, separator)
            guard cells.count > max(columns.0, columns.1),
                let longitude = Double(cells[columns.0]), let latitude = Double(cells[columns.1]),
                (-180...180).contains(longitude), (-90...90).contains(latitude)
            else {
                throw CLIError(
                    .badData,
                    "'\(name)' line \(line + 1) has no longitude (-180...180) and latitude (-90...90): '\(row)'")
            }
            guard abs(latitude) <= BoundingBox.maxLatitude else {
                throw CLIError(.badData, "'\(name)' line \(line + 1) \(Self.liesBeyond): '\(row)'")
            }
            return Coordinate(longitude: longitude, latitude: latitude)
        }
        guard !points.isEmpty else { throw CLIError(.badData, "'\(name)' has a header but no points") }
    }

    /// The columns of longitude and latitude by their titles.
    ///
    /// The ambiguous titles `x` and `y` are used only if there are no others.
    ///
    /// - Throws: ``CLIError`` 65 when two columns have the same meaning.
    private static func columns(_ titles: [String], _ name: String) throws -> (Int, Int)? {
        let pairs = [
            (["longitude", "lon", "lng", "long"], ["latitude", "lat"]), (["x"], ["y"]),
        ]
        for (longitudes, latitudes) in pairs {
            let found = [longitudes, latitudes].map { names in titles.indices.filter { names.contains(titles[$0]) } }
            guard let longitude = found[0].first, let latitude = found[1].first else { continue }
            if let twice = found.first(where: { $0.count > 1 }) {
                throw CLIError(
                    .badData,
                    "'\(name)' has two columns with the same meaning: \(twice.map { titles[$0] }.joined(separator: ", "))",
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
