import Errors
internal import TextFormats
import TileBodies
import Tiles

/// The keys of a tileset file, read and checked one by one.
struct TilesetFields: Sendable {
    var id: String
    var name: String?
    var format: TileFormat?
    var zooms: ZoomRange?
    var bounds: BoundingBox?
    var attribution: String?
    var description: String?
    var rowOrder: RowOrder?
    var subdomains: [String]
    var headers: [String: String]
    var politeness: Politeness
    var http2: Bool
    var maxTileBytes: Int
    var language: String?
    var group: String?
    var keyEnvironment: String?
    var packs: PackScheme?
    var layers: [String]?
    var encoding: TerrainEncoding?
    var tileSize: Int?
    var overfetch: Double?
    var sync: Bool?
    var emptyStatuses: [Int]?
    var reject: [RejectedBody]?
    /// Whether the source was named on the command line, so that there is no file with keys.
    var isNamedDirectly = false

    init(_ reader: FieldReader, fallbackID: String) throws(TilesetsError) {
        id = try reader.text("id") ?? fallbackID
        name = try reader.text("name")
        attribution = try reader.text("attribution")
        description = try reader.text("description")
        subdomains = try reader.texts("subdomains") ?? []
        http2 = try reader.flag("http2") ?? false
        maxTileBytes = try reader.integer("max_tile_bytes", in: 1...(256 << 20)) ?? Tileset.defaultMaxTileBytes
        language = try reader.text("language")
        group = try reader.text("group")
        format = try Self.format(reader)
        rowOrder = try Self.rowOrder(reader)
        zooms = try Self.zooms(reader)
        bounds = try Self.bounds(reader)
        headers = try Self.headers(reader)
        keyEnvironment = try Self.key(reader)
        politeness = try Self.politeness(reader)
        packs = try Self.packs(reader)
        overfetch = try reader.number("overfetch", in: 0...1)
        sync = try reader.flag("sync") == true ? true : nil
        emptyStatuses = try reader.integers("empty_statuses", in: 400...499).map { Set($0).sorted() }
        layers = try reader.texts("layers").map { Set($0).sorted() }
        reject = try RejectedBody.list(reader["reject"], reader)
        encoding = try Self.encoding(reader)
        tileSize = try Self.tileSize(reader)
    }

    /// The zooms of a source that declares none: the default in MapLibre's style specification.
    private static let usualZooms = ZoomRange(min: 0, max: 22) ?? .all

    /// Joins the file's keys with the source's own metadata.
    func complete(_ source: TileSource, _ metadata: SourceMetadata) throws(TilesetsError) -> Tileset {
        try checkFormat(metadata)
        var format = format ?? metadata.format
        var foreign = metadata.foreignFormat
        if format == nil, source.scheme.row.target == .tiles {
            format = TileFormat(ofAddress: source.address) ?? TileFormat(ofQuery: source.address)
            foreign = foreign ?? ForeignFormat(ofAddress: source.address)
        }
        guard let format else { throw unknownFormat(foreign, metadata.formatFault) }
        let zooms = zooms ?? metadata.zooms ?? Self.usualZooms
        var tileset = Tileset(
            id: id, name: name ?? metadata.name, source: source, rowOrder: rowOrder ?? metadata.rowOrder ?? .xyz,
            format: format, zooms: zooms, bounds: bounds ?? metadata.bounds,
            attribution: attribution ?? metadata.attribution, description: description ?? metadata.description,
            vectorLayers: metadata.vectorLayers, headers: headers, politeness: politeness, http2: http2,
            maxTileBytes: maxTileBytes, language: language, keyEnvironment: keyEnvironment)
        tileset.packs = packs ?? metadata.packs
        tileset.saysZooms = self.zooms != nil || metadata.zooms != nil
        tileset.encoding = encoding ?? (format.traits.isVector ? nil : metadata.encoding)
        tileset.tileSize = tileSize ?? (format.traits.isVector ? nil : metadata.tileSize)
        tileset.isTileSizeChecked = tileSize == nil ? nil : true
        tileset.overfetch = overfetch
        tileset.sync = sync
        tileset.emptyStatuses = emptyStatuses
        tileset.reject = reject
        tileset.mixesPictures = metadata.mixesPictures ? true : nil
        tileset.build = metadata.build
        if let layers {
            tileset.layers = layers
            if let all = tileset.vectorLayers { tileset.vectorLayers = try Self.only(layers, of: all, id) }
        }
        return tileset
    }

    /// Refuses a format that the tiles of an archive do not have; no tile of it could be used.
    ///
    /// The first bytes do not tell one vector format from the other, and an archive may have pictures of several formats: there the
    /// statement counts.
    private func checkFormat(_ metadata: SourceMetadata) throws(TilesetsError) {
        guard metadata.isFormatOfTiles, let said = format, let found = metadata.format, said != found,
            said.traits.isVector != found.traits.isVector
        else { return }
        let place = isNamedDirectly ? "--input-format" : "'format'"
        throw TilesetsError(
            .badValue,
            "Tileset '\(id)': \(place) says \(said.rawValue), and the tiles of the archive are \(found.rawValue). Omit \(place), or write \(found.rawValue)."
        )
    }

    private func unknownFormat(_ foreign: ForeignFormat?, _ fault: String?) -> TilesetsError {
        guard let foreign else {
            // Without a file there is nothing to add a key to.
            let remedy = isNamedDirectly ? "say it with --input-format" : "add format"
            return TilesetsError(
                .missingKey,
                "Tileset '\(id)' \(fault ?? "has no known format"); \(remedy): one of \(TileFormat.knownWords).")
        }
        return TilesetsError(
            .badValue,
            "Tileset '\(id)' has tiles in the format \(foreign.name), which this version of Packhorse does not support; "
                + "it supports \(TileFormat.knownWords). Use a source in one of these formats.")
    }

    /// The metadata of some of a source's layers.
    ///
    /// - Throws: ``TilesetsError`` naming one that it does not have.
    private static func only(_ layers: [String], of text: String, _ id: String) throws(TilesetsError) -> String {
        guard case .array(let all)? = JSONValue(json: Array(text.utf8)) else { return text }
        let named = all.map { item in
            guard case .object(let values) = item, case .string(let name)? = values["id"] else { return "" }
            return name
        }
        if let strange = layers.first(where: { !named.contains($0) }) {
            let nearest = Nearest.word(to: strange, among: named).map { "; did you mean '\($0)'?" }
            throw TilesetsError(
                .badValue,
                "Tileset '\(id)' has no layer '\(strange.prefix(80))'\(nearest ?? ""); it has \(named.sorted().joined(separator: ", "))."
            )
        }
        let kept = zip(named, all).filter { layers.contains($0.0) }.map(\.1)
        do { return try JSONValue.array(kept).canonicalText() } catch { return text }
    }

    private static func packs(_ reader: FieldReader) throws(TilesetsError) -> PackScheme? {
        guard let value = reader["tile_packs"] else { return nil }
        do throws(TilesError) { return try PackScheme(bands: value) } catch {
            throw TilesetsError(.badValue, "Tileset file '\(reader.name)': tile_packs: \(error.message)")
        }
    }

    private static func format(_ reader: FieldReader) throws(TilesetsError) -> TileFormat? {
        guard let word = try reader.text("format") else { return nil }
        guard let format = TileFormat(word: word) else {
            if let foreign = ForeignFormat(word: word) {
                throw TilesetsError(
                    .badValue,
                    "Tileset file '\(reader.name)': the format \(foreign.name) is not supported by this version of Packhorse; it supports \(TileFormat.knownWords)."
                )
            }
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': format '\(word.prefix(40))' is not known; expected one of \(TileFormat.knownWords)."
            )
        }
        return format
    }

    private static func encoding(_ reader: FieldReader) throws(TilesetsError) -> TerrainEncoding? {
        guard let word = try reader.text("encoding") else { return nil }
        guard let encoding = TerrainEncoding(rawValue: word) else {
            let hint = word == "mlt" || word == "mvt" ? "; of vector tiles write format: \(word)" : ""
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': encoding '\(word.prefix(40))' is not known; expected terrarium or mapbox\(hint)."
            )
        }
        return encoding
    }

    private static func tileSize(_ reader: FieldReader) throws(TilesetsError) -> Int? {
        guard let size = try reader.integer("tile_size", in: 1...65_536) else { return nil }
        guard size == 256 || size == 512 else {
            throw TilesetsError(
                .badValue, "Tileset file '\(reader.name)': tile_size is \(size); expected 256 or 512.")
        }
        return size
    }

    private static func rowOrder(_ reader: FieldReader) throws(TilesetsError) -> RowOrder? {
        guard let word = try reader.text("scheme") else { return nil }
        guard let order = RowOrder(rawValue: word) else {
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': scheme '\(word.prefix(40))' is not known; expected xyz or tms.")
        }
        return order
    }

    private static func zooms(_ reader: FieldReader) throws(TilesetsError) -> ZoomRange? {
        let shallow = try reader.integer("minzoom", in: 0...TileID.maxZoom)
        let deep = try reader.integer("maxzoom", in: 0...TileID.maxZoom)
        guard let text = try reader.text("zoom") else {
            guard shallow != nil || deep != nil else { return nil }
            guard let deep, let range = ZoomRange(min: shallow ?? 0, max: deep) else {
                throw TilesetsError(
                    .badValue,
                    "Tileset file '\(reader.name)': minzoom needs a maxzoom that is not smaller; or write zoom: 0-14.")
            }
            return range
        }
        guard shallow == nil, deep == nil else {
            throw TilesetsError(
                .badValue, "Tileset file '\(reader.name)' has both zoom and minzoom or maxzoom; remove one of them.")
        }
        do throws(TilesError) {
            return try ZoomRange(parsing: text)
        } catch {
            throw TilesetsError(.badValue, "Tileset file '\(reader.name)': \(error.message)")
        }
    }

    private static func bounds(_ reader: FieldReader) throws(TilesetsError) -> BoundingBox? {
        var numbers: [Double] = []
        do throws(TilesError) {
            switch reader["bounds"] {
            case nil: return nil
            case .string(let text)?: return try BoundingBox(parsing: text)
            case .array(let items)?:
                numbers = items.compactMap { if case .number(let number) = $0 { number } else { nil } }
                guard numbers.count == 4, items.count == 4 else { break }
                return try BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
            default: break
            }
        } catch {
            throw TilesetsError(.badValue, "Tileset file '\(reader.name)': \(error.message)")
        }
        throw TilesetsError(
            .badValue, "Tileset file '\(reader.name)': bounds must be [west, south, east, north] in degrees.")
    }

    private static func headers(_ reader: FieldReader) throws(TilesetsError) -> [String: String] {
        guard let value = reader["headers"] else { return [:] }
        guard case .object(let values) = value else {
            throw reader.wrong("headers", value: value, expected: "a mapping of names to texts")
        }
        var headers: [String: String] = [:]
        let inner = try FieldReader(value, name: reader.name, path: "headers", known: Array(values.keys))
        for name in values.keys { headers[name] = try inner.text(name) ?? "" }
        return headers
    }

    private static func key(_ reader: FieldReader) throws(TilesetsError) -> String? {
        guard let text = try reader.text("key") else { return nil }
        let name = text.hasPrefix("${") && text.hasSuffix("}") ? String(text.dropFirst(2).dropLast()) : ""
        guard Secrets.isName(name) else {
            throw TilesetsError(
                .literalSecret,
                "Tileset file '\(reader.name)': key must name an environment variable: key: ${NAME}. Do not write keys into files."
            )
        }
        return name
    }

    private static func politeness(_ reader: FieldReader) throws(TilesetsError) -> Politeness {
        var politeness = Politeness()
        if let inner = try reader.mapping("politeness", known: TilesetKey.names(in: "politeness")) {
            politeness.concurrency = try inner.integer("concurrency", in: 1...256) ?? politeness.concurrency
            politeness.requestsPerSecond = try inner.number("requests_per_second", in: 0.01...100_000)
            politeness.bytesPerSecond = try inner.integer("bytes_per_second", in: 10_000...1_000_000_000_000)
            politeness.userAgent = try inner.text("user_agent")
            politeness.contact = try inner.text("contact")
        }
        if let inner = try reader.mapping("timeouts", known: TilesetKey.names(in: "timeouts")) {
            politeness.connectSeconds = try inner.number("connect", in: 0.1...600) ?? politeness.connectSeconds
            politeness.totalSeconds = try inner.number("total", in: 0.1...3_600) ?? politeness.totalSeconds
            politeness.stallSeconds = try inner.number("stall", in: 1...600) ?? politeness.stallSeconds
        }
        return politeness
    }
}
