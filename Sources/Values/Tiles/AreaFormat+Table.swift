import Errors

extension AreaFeature {
    /// Reads points of interest in a table: commas, semicolons, tabs or bars divide its cells; other columns are ignored.
    ///
    /// Without a header the first two columns must be numbers, longitude then latitude. Numbers: see ``DegreesText``.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` with the line number and what was found.
    package static func features(table bytes: [UInt8]) throws(TilesError) -> [AreaFeature] {
        var reader = try TableReader(bytes) { (row) throws(TilesError) in try PointColumns(row) != nil }
        guard let header = try reader.next() else {
            throw TilesError(.badGeometry, "it is empty; expected longitude,latitude rows")
        }
        guard let columns = try PointColumns(header) else {
            let found = header.cells.map { $0.lowercased() }.joined(separator: ", ")
            throw TilesError(.badGeometry, "it has no longitude and latitude columns; found: \(found)")
        }
        var points: [Coordinate] = []
        if !columns.isTitled { points.append(try columns.point(header)) }
        while let row = try reader.next() { points.append(try columns.point(row)) }
        guard !points.isEmpty else { throw TilesError(.badGeometry, "it has a header but no points") }
        return [AreaFeature(geometry: Geometry(points: points))]
    }
}

/// Where a table has its longitudes and latitudes.
private struct PointColumns {
    let longitude: Int
    let latitude: Int
    /// Whether the first row has titles.
    let isTitled: Bool
    /// How many cells a row has.
    private let count: Int

    /// The columns by their titles, else the first two if they are degrees; `nil` without such columns.
    ///
    /// The ambiguous titles `x` and `y` are used only if there are no others.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` when two columns have the same meaning.
    init?(_ row: TableReader.Row) throws(TilesError) {
        let titles = row.cells.map { $0.lowercased() }
        let known = (
            ["longitude", "lon", "lng", "long", "decimallongitude", "longitud", "längengrad"],
            ["latitude", "lat", "decimallatitude", "latitud", "breitengrad"]
        )
        for (titles, (longitudes, latitudes)) in [
            (titles, known), (titles.map(Self.withoutUnit), known), (titles, (["x"], ["y"])),
        ] {
            let found = [longitudes, latitudes].map { names in titles.indices.filter { names.contains(titles[$0]) } }
            guard let longitude = found[0].first, let latitude = found[1].first else { continue }
            if let twice = found.first(where: { $0.count > 1 }) {
                throw TilesError(
                    .badGeometry,
                    "it has two columns with the same meaning: \(twice.map { titles[$0] }.joined(separator: ", "))",
                    hint: "keep one longitude and one latitude column")
            }
            (self.longitude, self.latitude, isTitled, count) = (longitude, latitude, true, titles.count)
            return
        }
        guard titles.count >= 2, DegreesText.degrees(row.cells[0], .longitude) != nil,
            DegreesText.degrees(row.cells[1], .latitude) != nil
        else { return nil }
        (longitude, latitude, isTitled, count) = (0, 1, false, 2)
    }

    /// A title without its unit (`lon (deg)`) and the sign of a database (`@lon`).
    private static func withoutUnit(_ title: String) -> String {
        title.prefix { $0 != "(" && $0 != "[" }.split { " @_".contains($0) }.joined()
    }

    func point(_ row: TableReader.Row) throws(TilesError) -> Coordinate {
        if hasDecimalCommas(row) {
            throw TilesError(
                .badGeometry, "line \(row.line) has \(row.cells.count) cells instead of \(count): '\(row.text)'",
                hint: "put numbers with a decimal comma into quotes, or divide the cells by semicolons")
        }
        guard row.cells.count > max(longitude, latitude),
            let east = DegreesText.degrees(row.cells[longitude], .longitude),
            let north = DegreesText.degrees(row.cells[latitude], .latitude)
        else {
            throw TilesError(
                .badGeometry, "line \(row.line) has no longitude (-180...180) and latitude (-90...90): '\(row.text)'",
                hint: "degrees are written as 24.7, \"24,7\", 24°42′E or 24 42 0 E")
        }
        guard abs(north) <= BoundingBox.maxLatitude else {
            throw TilesError(.badGeometry, "line \(row.line) \(BoundingBox.liesBeyond): '\(row.text)'")
        }
        return Coordinate(longitude: east, latitude: north)
    }

    /// Whether commas divide numbers too: more cells than titles, and whole numbers where the coordinates and what follows them are.
    private func hasDecimalCommas(_ row: TableReader.Row) -> Bool {
        let place = min(longitude, latitude)
        guard row.separator == UInt8(ascii: ","), isTitled ? row.cells.count >= count + 2 : row.cells.count == 4,
            abs(longitude - latitude) == 1, place + 4 <= row.cells.count
        else { return false }
        return row.cells[place..<place + 4].allSatisfy { cell in
            let digits = cell.utf8.drop { $0 == UInt8(ascii: "-") }
            return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
