internal import Errors
internal import GRDB
internal import PackageFiles
internal import StyleFormat
internal import TileBodies
internal import Tiles

/// Checks that each region is complete, as a client counts it.
///
/// - Source: MapLibre Native's offline code, schema version 6.
struct RegionCheck {
    private let database: Database
    private let resources: ResourceRows
    private let tiles: TileRows

    init(_ database: Database, resources: ResourceRows, tiles: TileRows) {
        self.database = database
        self.resources = resources
        self.tiles = tiles
    }

    func run(_ report: inout VerifyReport) throws {
        let rows = try Row.fetchAll(database, sql: "SELECT id, definition, description FROM regions LIMIT 1000")
        if rows.isEmpty { report.add("no-region", at: "regions", because: "clients merge only regions") }
        for row in rows {
            let place = "region \(Int64.fromDatabaseValue(row[0]) ?? 0)"
            let description: DatabaseValue = row[2]
            switch description.storage {
            case .blob, .null: break
            default: report.add("bad-region", at: place, because: "its description is not bytes")
            }
            guard let id = Int64.fromDatabaseValue(row[0]), let text = String.fromDatabaseValue(row[1]) else {
                report.add("bad-region", at: place, because: "its definition is not text")
                continue
            }
            switch RegionDefinition.read(text) {
            case .success(let definition): try check(definition, id: id, at: place, into: &report)
            case .failure(let error):
                report.add("bad-region", at: place, because: "a client cannot read its definition: \(error.reason)")
            }
        }
        for (table, map, column) in [
            ("tiles", "region_tiles", "tile_id"), ("resources", "region_resources", "resource_id"),
        ] {
            let loose =
                try Int.fetchOne(
                    database,
                    sql: "SELECT count(*) FROM \(table) WHERE NOT EXISTS (SELECT 1 FROM \(map) WHERE \(column) = id)")
                ?? 0
            if loose > 0 {
                report.add(
                    "in-no-region", at: "table '\(table)'",
                    because: "\(loose) rows are in no region; clients ignore them")
            }
        }
    }

    private func check(_ definition: RegionDefinition, id: Int64, at place: String, into report: inout VerifyReport)
        throws
    {
        let mapped = Set(
            try Int64.fetchAll(
                database, sql: "SELECT resource_id FROM region_resources WHERE region_id = ?", arguments: [id]))
        // `ResourceRows` has reported a style that cannot be read.
        guard let bytes = try resources.bytes(definition.styleURL), let style = try? StyleDocument(bytes) else {
            return report.add(
                "missing-resource", at: place, because: "its style '\(definition.styleURL.prefix(200))' does not exist")
        }
        var needed = [definition.styleURL]
        do {
            needed += try StyleNeeds(style, base: nil, choice: StyleChoice(ideographs: definition.includesIdeographs))
                .resources.map(\.url)
        } catch {
            report.add(error.code.description, at: place, because: error.message)
        }
        for url in needed {
            guard let entry = resources.entries[url], mapped.contains(entry.id) else {
                report.add("missing-resource", at: place, because: "'\(url.prefix(200))' is needed, but does not exist")
                continue
            }
        }
        var required: UInt64 = 0
        for source in style.sources where source.hasTiles {
            required &+= try count(source, for: definition, at: place, into: &report)
        }
        let stored =
            try Int64.fetchOne(
                database, sql: "SELECT count(*) FROM region_tiles WHERE region_id = ?", arguments: [id]) ?? 0
        if UInt64(max(0, stored)) < required {
            report.add("incomplete", at: place, because: "a client counts \(required) tiles, the file has \(stored)")
        }
    }

    /// Tiles a client counts for a source.
    private func count(
        _ source: StyleDocument.Source, for definition: RegionDefinition, at place: String,
        into report: inout VerifyReport
    ) throws -> UInt64 {
        var (template, low, high) = (source.tiles.first, source.minZoom, source.maxZoom)
        var encoding = source.encoding
        if let url = source.url {
            guard let document = try resources.bytes(url).flatMap(TileJSONDocument.init) else {
                report.add(
                    "missing-resource", at: place, because: "the TileJSON of source '\(source.name)' cannot be read")
                return 0
            }
            (template, low, high) = (document.template, document.minZoom, document.maxZoom)
            encoding = encoding ?? document.encoding
        }
        guard let template else {
            report.add("missing-resource", at: place, because: "source '\(source.name)' has no tile URL")
            return 0
        }
        let isDense = source.type != "vector" && template.contains("{ratio}") && definition.pixelRatio > 1
        let stored = tiles.counts[TileRows.Key(template: template, pixelRatio: isDense ? 2 : 1)] ?? [:]
        if stored.isEmpty { report.add("missing-tiles", at: place, because: "source '\(source.name)' has no tile") }
        let formats = tiles.formats[template] ?? []
        if formats.contains(where: { $0.traits.isVector != (source.type == "vector") }) {
            report.add("wrong-type", at: place, because: "source '\(source.name)' is \(source.type), its tiles are not")
        }
        let isMLT = encoding == TileFormat.mlt.rawValue
        if formats.contains(where: { $0.traits.isVector && ($0 == .mlt) != isMLT }) {
            report.add(
                "wrong-type", at: place,
                because:
                    "source '\(source.name)' \(isMLT ? "says" : "does not say") encoding mlt, its tiles are otherwise")
        }
        let client = ClientZooms(type: source.type, tileSize: source.tileSize)
        let first = max(client.tileZoom(definition.minZoom), low ?? 0)
        let last = min(client.tileZoom(definition.maxZoom), high ?? 22, TileID.maxZoom)
        guard first <= last else { return 0 }
        var required: UInt64 = 0
        for (zoom, count) in definition.tileCounts(first...last).sorted(by: { $0.key < $1.key }) {
            required &+= count
            if stored[zoom, default: 0] < count {
                report.add(
                    "incomplete", at: place,
                    because: "source '\(source.name)' at zoom \(zoom): a client counts \(count) tiles, "
                        + "the file has \(stored[zoom, default: 0])")
            }
        }
        return required
    }
}
