import Errors
internal import TextFormats

/// Reads the key `latest` of a tileset file.
enum LatestFields {
    /// The source; `nil` for a file without the key.
    static func source(_ reader: FieldReader) throws(TilesetsError) -> TileSource? {
        switch reader["latest"] {
        case nil: return nil
        case .string(let text)?: return TileSource(.latest, try named(text, reader).text)
        case .object?: return TileSource(.latest, try written(reader).text)
        case .some(let value):
            throw reader.wrong("latest", value: value, expected: "the name of a preset, an address, or a mapping")
        }
    }

    /// A source that one address says.
    private static func named(_ text: String, _ reader: FieldReader) throws(TilesetsError) -> LatestSource {
        guard SourceRow.isWeb(text[...]) else {
            let names = LatestPreset.all.map(\.name)
            let nearest = Nearest.word(to: text, among: names).map { "; did you mean '\($0)'?" }
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': latest '\(BuildName.shown(text))' is no address and no preset\(nearest ?? "; the presets are \(names.joined(separator: ", "))")."
            )
        }
        if DatedAddress.isMeant(by: text) {
            _ = try DatedAddress(text)
            return LatestSource(.date, at: text)
        }
        guard !text.lowercased().hasPrefix("s3://"), !SourceRow.path(ofURL: text).lowercased().hasSuffix(".pmtiles"),
            !text.contains("{z}")
        else {
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': latest '\(BuildName.shown(text))' names one build; write {date} where its date stands, or 'url' in place of 'latest'."
            )
        }
        return LatestSource(.tileJSON, at: text)
    }

    /// A source that a mapping says.
    private static func written(_ reader: FieldReader) throws(TilesetsError) -> LatestSource {
        guard let inner = try reader.mapping("latest", known: TilesetKey.names(in: "latest")) else {
            throw reader.wrong("latest", value: .null, expected: "a mapping")
        }
        let written: [(LatestSource.Form, String?)] = [
            (.index, try inner.text("index")), (.text, try inner.text("text")), (.tileJSON, try inner.text("tilejson")),
            (.archives, try inner.text("archives")),
        ]
        let documents = written.compactMap { form, address in address.map { (form, $0) } }
        let url = try inner.text("url")
        guard documents.count <= 1 else {
            throw bad(reader, "has \(documents.map(\.0.rawValue).joined(separator: " and ")); write one of them")
        }
        guard let (form, document) = documents.first else {
            guard let url, DatedAddress.isMeant(by: url) else {
                throw bad(reader, "needs index, text, tilejson or archives with an address, or url with {date}")
            }
            return try named(url, reader)
        }
        guard SourceRow.isWeb(document[...]), !document.lowercased().hasPrefix("s3://") else {
            throw bad(
                reader, "has \(form.rawValue): '\(BuildName.shown(document))', which is no address of a web server")
        }
        try checkURL(url, of: form, reader)
        var source = LatestSource(form, at: document, address: url)
        guard form == .index else {
            let strange = ["items", "key", "order", "size", "md5", "match"].first { inner[$0] != nil }
            if let strange { throw bad(reader, "has \(strange), which is for an index") }
            return source
        }
        source.items = try inner.text("items")
        source.key = try inner.text("key")
        source.order = try inner.text("order")
        source.size = try inner.text("size")
        source.md5 = try inner.text("md5")
        source.match = try match(inner["match"], inner)
        return source
    }

    private static func checkURL(
        _ url: String?, of form: LatestSource.Form, _ reader: FieldReader
    ) throws(TilesetsError) {
        switch form {
        case .index, .text:
            guard let url else {
                if form == .index { return }
                throw bad(reader, "with text needs url, the address of a build with {build} for the name in the text")
            }
            guard SourceRow.isWeb(url[...]), form == .text || url.contains("{build}") else {
                throw bad(
                    reader,
                    "has url: '\(BuildName.shown(url))'; write an address with {build} for the name of the build")
            }
            guard form == .text || !LatestSource.leadsToTiles(url) else {
                throw bad(
                    reader, "with index leads to tiles; a tile server needs text or tilejson, which can be asked again")
            }
        case .tileJSON, .archives, .date:
            guard url == nil else {
                throw bad(reader, "with \(form.rawValue) has no url: the document has the addresses")
            }
        }
    }

    private static func match(
        _ value: JSONValue?, _ mapping: FieldReader
    ) throws(TilesetsError) -> [String: String]? {
        guard let value else { return nil }
        guard case .object(let values) = value else {
            throw mapping.wrong("match", value: value, expected: "a mapping of members to values")
        }
        let members = try FieldReader(value, name: mapping.name, path: "latest.match", known: Array(values.keys))
        var match: [String: String] = [:]
        for name in values.keys.sorted() { match[name] = try members.text(name) }
        return match.isEmpty ? nil : match
    }

    private static func bad(_ reader: FieldReader, _ why: String) -> TilesetsError {
        TilesetsError(.badValue, "Tileset file '\(reader.name)': latest \(why).")
    }
}
