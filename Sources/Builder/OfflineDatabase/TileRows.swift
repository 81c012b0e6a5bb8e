internal import Errors
internal import GRDB
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// The tiles of a database; each is unpacked and checked once.
struct TileRows {
    /// Tiles by template, density and zoom.
    private(set) var counts: [Key: [Int: UInt64]] = [:]
    /// Raster formats found, by template; `mvt` where the bodies are vector tiles.
    private(set) var formats: [String: Set<TileFormat>] = [:]

    /// What tiles are stored under.
    struct Key: Hashable {
        let template: String
        let pixelRatio: Int64
    }

    static func check(
        _ database: Database, into report: inout VerifyReport, content: inout TileContent
    ) throws -> TileRows {
        var found = TileRows()
        var zooms: [Int: UInt64] = [:]
        let checker = BodyChecker()
        let rows = try Row.fetchCursor(
            database, sql: "SELECT url_template, pixel_ratio, z, x, y, \(CachedRow.columns) FROM tiles ORDER BY id")
        while let row = try rows.next() {
            report.tiles += 1
            let numbers = (1..<5).map { Int64.fromDatabaseValue(row[$0]) ?? -1 }
            guard let template = String.fromDatabaseValue(row[0]), 1...2 ~= numbers[0], numbers.allSatisfy({ $0 >= 0 }),
                numbers[1] <= Int64(TileID.maxZoom), numbers[2] < 1 << numbers[1], numbers[3] < 1 << numbers[1]
            else {
                report.add(
                    "bad-tile", at: "tile \(report.tiles)", because: "it has no template, or invalid coordinates")
                continue
            }
            let place = "\(numbers[1])/\(numbers[2])/\(numbers[3])"
            var bytes: [UInt8]?
            switch CachedRow.body(row, from: 5, at: place, into: &report) {
            case .bytes(let body):
                bytes = body
                found.check(body, template: template, at: place, with: checker, into: &report)
            case .none, .broken: break
            }
            content.add(zoom: Int(numbers[1]), column: Int(numbers[2]), row: Int(numbers[3]), bytes: bytes)
            found.counts[Key(template: template, pixelRatio: numbers[0]), default: [:]][Int(numbers[1]), default: 0] +=
                1
            zooms[Int(numbers[1]), default: 0] += 1
        }
        report.tilesPerZoom = zooms.sorted { $0.key < $1.key }.map { .init(zoom: $0.key, tiles: $0.value) }
        report.format = Set(found.formats.values.joined().map(\.rawValue)).sorted().joined(separator: ", ")
        return found
    }

    private mutating func check(
        _ body: [UInt8], template: String, at place: String, with checker: BodyChecker, into report: inout VerifyReport
    ) {
        do throws(TileBodiesError) {
            if let format = body.withUnsafeBytes({ TileFormat(pictureBeginning: $0) }) {
                _ = try checker.check(body, coding: .identity, declared: format)
                formats[template, default: []].insert(format)
            } else if Gzip.isGzip(body) {
                report.add("bad-body", at: place, because: "it is gzip; clients do not unpack that here")
            } else {
                let format = body.withUnsafeBytes { TileFormat(vectorTile: $0) } ?? .mvt
                if format == .mvt { try Self.scan(body) }
                formats[template, default: []].insert(format)
            }
        } catch {
            report.add(error.code.description, at: place, because: error.message)
        }
    }

    private static func scan(_ body: [UInt8]) throws(TileBodiesError) {
        try body.withUnsafeBufferPointer { (buffer) throws(TileBodiesError) in
            _ = try VectorTileScanner.scan(UnsafeRawBufferPointer(buffer))
        }
    }
}
