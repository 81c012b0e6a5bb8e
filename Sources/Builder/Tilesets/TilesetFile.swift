public import Errors
public import Foundation
internal import TextFormats
import TileBodies
import Tiles

/// A tileset file as written: YAML or JSON, checked for its keys, not yet complete.
///
/// ``TilesetKey/all`` has the keys.
public struct TilesetFile: Sendable {
    static let keys = TilesetKey.names()
    /// Tileset files are read up to this size, in bytes.
    static let maxBytes = 1 << 20

    enum Location: Sendable {
        case templates([String])
        case tileJSON(String)
        case mbtiles(String)
        case pmtiles(String)
        case remotePMTiles(String)
    }

    let location: Location
    private(set) var fields: TilesetFields
    /// What the file is called in errors.
    private let name: String

    /// The data group that its packages belong to; it affects where they are published, not their content.
    public var group: String? { fields.group }

    /// What `{language}` stands for.
    public var language: String? { fields.language }

    /// Whether its URLs name a language, so that each language has tiles of its own.
    public var hasLanguages: Bool {
        switch location {
        case .templates(let urls): urls.contains { $0.contains("{language}") }
        case .tileJSON(let url): url.contains("{language}")
        case .mbtiles, .pmtiles, .remotePMTiles: false
        }
    }

    /// The same file with another language.
    public func inLanguage(_ code: String) -> TilesetFile {
        var file = self
        file.fields.language = code
        return file
    }

    /// The TileJSON document that completes the tileset, `{key}` and `{language}` unfilled; `nil` when there is none.
    public var tileJSONURL: String? { if case .tileJSON(let url) = location { url } else { nil } }

    /// The address to fetch the TileJSON document from.
    public func tileJSONURL(key: String?) -> String? {
        tileJSONURL?.replacing("{key}", with: URLTemplate.escaped(key ?? ""))
            .replacing("{language}", with: URLTemplate.escaped(fields.language ?? ""))
    }
    /// The MBTiles or PMTiles archive that completes the tileset, as a source; `nil` when there is none.
    public var archive: Tileset.Source? {
        switch location {
        case .mbtiles(let path): .mbtiles(path: path)
        case .pmtiles(let path): .pmtiles(path: path)
        case .remotePMTiles(let url): .remotePMTiles(url: url)
        case .templates, .tileJSON: nil
        }
    }

    /// Reads a tileset file.
    ///
    /// - Throws: ``TilesetsError`` naming the file and the key.
    public static func read(_ url: URL) throws(TilesetsError) -> TilesetFile {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw TilesetsError(
                .unreadable, "Tileset file '\(url.path)' cannot be read; check the path and its permissions.")
        }
        guard data.count <= maxBytes else {
            throw TilesetsError(
                .badSyntax, "Tileset file '\(url.path)' is larger than 1 MiB, so it is not a tileset file.")
        }
        return try TilesetFile(
            text: String(decoding: data, as: UTF8.self), name: url.lastPathComponent,
            folder: url.deletingLastPathComponent())
    }

    /// A tileset file with nothing but this source: a TileJSON URL, tile URL, `mbtiles:PATH`, `pmtiles:PATH`, or the URL of a PMTiles archive.
    ///
    /// - Parameters:
    ///   - contact: A mail address or web page of the user, for public hosts.
    ///   - format: The word of the tile format, for a source that does not say it.
    /// - Throws: ``TilesetsError`` when the text is none of these.
    public init(
        source: String, folder: URL, contact: String? = nil, format: String? = nil
    ) throws(TilesetsError) {
        let shown = Self.withoutSecrets(source)
        self = try Self.naming(shown) { () throws(TilesetsError) in
            let politeness = contact.map { ["politeness": JSONValue.object(["contact": .string($0)])] } ?? [:]
            var keys = politeness.merging(["url": .string(source)]) { $1 }
            keys["format"] = format.map(JSONValue.string)
            let reader = try FieldReader(.object(keys), name: shown, known: Self.keys)
            var file = try TilesetFile(reader, folder: folder, fallbackID: "tiles")
            file.fields.isNamedDirectly = true
            return file
        }
    }

    /// An address as errors may name it: without a query and without user information.
    private static func withoutSecrets(_ source: String) -> String {
        let text = source.prefix { !"?#".contains($0) }
        guard let mark = text.firstRange(of: "://") else { return String(text) }
        let authority = text[mark.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return text[..<mark.upperBound] + String(text[text.index(after: at)...])
    }

    /// Parses the text of a tileset file; relative paths count from `folder`.
    public init(text: String, name: String, folder: URL) throws(TilesetsError) {
        let value: JSONValue
        if let json = JSONValue(json: Array(text.utf8)) {
            value = json
        } else {
            value = try JSONValue(yaml: text, name: name)
        }
        self = try Self.naming(name) { () throws(TilesetsError) in
            let reader = try FieldReader(value, name: name, known: Self.keys)
            let stem = URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent
            return try TilesetFile(reader, folder: folder, fallbackID: stem)
        }
    }

    /// Puts the file's name before an error that names neither it nor its tileset.
    private static func naming<Value>(
        _ name: String, _ body: () throws(TilesetsError) -> Value
    ) throws(TilesetsError) -> Value {
        do { return try body() } catch {
            guard !error.message.contains("ileset '"), !error.message.contains("'\(name)'") else { throw error }
            throw TilesetsError(error.code, "Tileset file '\(name)': \(error.message)", hint: error.hint)
        }
    }

    private init(_ reader: FieldReader, folder: URL, fallbackID: String) throws(TilesetsError) {
        guard let urls = try reader.texts("url") else {
            throw TilesetsError(
                .missingKey,
                "Tileset file '\(reader.name)' has no 'url'; write a tile URL, a TileJSON URL, mbtiles:PATH, pmtiles:PATH, or the URL of a PMTiles archive."
            )
        }
        name = reader.name
        var fields = try TilesetFields(reader, fallbackID: fallbackID)
        location = try Self.location(urls, folder: folder)
        if reader["id"] == nil {
            if case .mbtiles(let path) = location { fields.id = Self.stem(path) }
            if case .pmtiles(let path) = location { fields.id = Self.stem(path) }
            if case .remotePMTiles(let url) = location { fields.id = Self.stem(Self.path(ofURL: url)) }
        }
        self.fields = fields
    }

    private static func stem(_ path: String) -> String {
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        let cleaned = name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "-" }
        return String(String(cleaned).drop { !$0.isLetter && !$0.isNumber }.prefix(64))
    }

    private static func location(_ urls: [String], folder: URL) throws(TilesetsError) -> Location {
        let first = urls[0]
        if let url = remoteArchive(first) {
            guard urls.count == 1 else {
                throw TilesetsError(.badValue, "'url' must name one archive; several URLs are possible only for tiles.")
            }
            return .remotePMTiles(url)
        }
        for prefix in ["mbtiles:", "pmtiles:"] where first.hasPrefix(prefix) {
            var path = first.dropFirst(prefix.count)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard urls.count == 1, !path.isEmpty, !path.hasPrefix("http") else {
                throw TilesetsError(
                    .badValue,
                    "'url' with \(prefix) must name one local file; only pmtiles: reads from a web server too.")
            }
            let name = String(path)
            let url = name.hasPrefix("/") ? URL(fileURLWithPath: name) : folder.appendingPathComponent(name)
            let absolute = url.standardizedFileURL.path
            return prefix == "mbtiles:" ? .mbtiles(absolute) : .pmtiles(absolute)
        }
        if urls.count == 1, !first.contains("{z}"), !first.contains("{q}") {
            let filled = first.replacing("{key}", with: "").replacing("{language}", with: "")
            // Other braces can only be meant as tile placeholders, and then some are missing.
            if filled.contains("{") { _ = try URLTemplate(first) }
            try HostPolicy.check(first)
            return .tileJSON(first)
        }
        return .templates(urls)
    }

    /// The URL of a PMTiles archive on a web server or in an S3 bucket: one after `pmtiles:`, or one whose path ends with `.pmtiles`.
    private static func remoteArchive(_ text: String) -> String? {
        func isWeb(_ text: Substring) -> Bool {
            let text = text.lowercased()
            return ["http://", "https://", "s3://"].contains { text.hasPrefix($0) }
        }
        if text.hasPrefix("pmtiles:"), isWeb(text.dropFirst("pmtiles:".count)) {
            return String(text.dropFirst("pmtiles:".count))
        }
        // Nothing else is read from a bucket.
        if text.lowercased().hasPrefix("s3://") { return text }
        return isWeb(text[...]) && !text.contains("{z}") && path(ofURL: text).lowercased().hasSuffix(".pmtiles")
            ? text : nil
    }

    private static func path(ofURL text: String) -> String { String(text.prefix { !"?#".contains($0) }) }

    /// Completes the tileset; values of the file override values of the source.
    ///
    /// - Parameters:
    ///   - metadata: What the source says about itself; needed when ``tileJSONURL`` or ``archive`` is set.
    ///   - key: The value of the key variable; where a TileJSON document repeats it in its tile URLs, it is replaced by
    ///     `{key}`.
    /// - Throws: ``TilesetsError`` naming what is still missing or refused.
    public func resolved(metadata: SourceMetadata? = nil, key: String? = nil) throws(TilesetsError) -> Tileset {
        try Self.naming(name) { () throws(TilesetsError) in try complete(metadata, key) }
    }

    private func complete(_ metadata: SourceMetadata?, _ key: String?) throws(TilesetsError) -> Tileset {
        let source: Tileset.Source
        switch location {
        case .mbtiles(let path): source = .mbtiles(path: path)
        case .pmtiles(let path): source = .pmtiles(path: path)
        case .remotePMTiles(let url): source = .remotePMTiles(url: url)
        case .templates(let templates): source = .http(templates: templates, subdomains: fields.subdomains)
        case .tileJSON:
            guard let metadata, !metadata.templates.isEmpty else {
                throw TilesetsError(.missingKey, "Tileset '\(fields.id)': its TileJSON document was not read.")
            }
            var templates = metadata.templates
            if let key, !key.isEmpty {
                templates = templates.map {
                    $0.replacing(key, with: "{key}").replacing(URLTemplate.escaped(key), with: "{key}")
                }
            }
            source = .http(templates: templates, subdomains: fields.subdomains)
        }
        let tileset = try fields.complete(source, metadata ?? SourceMetadata())
        try tileset.check()
        return tileset
    }

    /// Completes the tileset with the TileJSON document that ``tileJSONURL`` names, or with nothing.
    public func resolved(tileJSON: [UInt8]?) throws(TilesetsError) -> Tileset {
        guard let tileJSON, let url = tileJSONURL else { return try resolved() }
        return try resolved(metadata: try SourceMetadata(tileJSON: tileJSON, from: url))
    }

    /// The tileset's id, headers, and politeness before it is complete: what reading its TileJSON document or remote archive needs.
    ///
    /// - Throws: ``TilesetsError`` for an archive whose address is not allowed.
    public func forAsking() throws(TilesetsError) -> Tileset {
        let tileset = Tileset(
            id: fields.id, source: archive ?? .http(templates: [], subdomains: []), scheme: .xyz, format: .mvt,
            zooms: .all,
            headers: fields.headers, politeness: fields.politeness, http2: fields.http2,
            maxTileBytes: Tileset.defaultMaxTileBytes, language: fields.language, keyEnvironment: fields.keyEnvironment)
        if case .remotePMTiles = location { try Self.naming(name) { () throws(TilesetsError) in try tileset.check() } }
        return tileset
    }
}
