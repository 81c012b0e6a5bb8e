import Foundation
package import Tiles

/// Points of interest in a CSV file (MyRangeBC's case): a header row that names longitude and latitude, then a row a point.
package struct PointsFile {
    package let points: [Coordinate]

    /// Reads the table: comma, semicolon or tab, quotes allowed but no line breaks in them, other columns ignored.
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
                "'\(name)' line \(open.offset + 1) has a quote that does not end; line breaks in quotes are not taken")
        }
        let separator: Character = [";", "\t"].first { header.element.contains($0) } ?? ","
        let titles = Self.cells(header.element, separator).map { $0.lowercased() }
        let named = (
            titles.firstIndex { ["longitude", "lon", "lng", "long", "x"].contains($0) },
            titles.firstIndex { ["latitude", "lat", "y"].contains($0) }
        )
        let columns: (Int, Int)
        let rows: ArraySlice<(offset: Int, element: Substring)>
        if let longitude = named.0, let latitude = named.1 {
            (columns, rows) = ((longitude, latitude), numbered.dropFirst())
        } else if titles.count >= 2, Double(titles[0]) != nil, Double(titles[1]) != nil {
            (columns, rows) = ((0, 1), numbered[...])
        } else {
            let found = titles.joined(separator: ", ")
            throw CLIError(.badData, "'\(name)' names no longitude and latitude columns; found: \(found)")
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
                throw CLIError(.badData, "'\(name)' line \(line + 1) \(AreaReader.liesBeyond): '\(row)'")
            }
            return Coordinate(longitude: longitude, latitude: latitude)
        }
        guard !points.isEmpty else { throw CLIError(.badData, "'\(name)' has a header but no points") }
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
