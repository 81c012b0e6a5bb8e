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

    /// What `url` names.
    public let source: TileSource
    private(set) var fields: TilesetFields
    /// What of its addresses was read as something else than it is written, and what the owner of a known source asks for, one sentence each, for people.
    public let notes: [String]
    /// The keys, of a source whose address changes; empty for others.
    private var keys: [String: JSONValue] = [:]
    /// What the file is called in errors.
    private let name: String

    /// The data group that its packages belong to; it affects where they are published, not their content.
    public var group: String? { fields.group }

    /// What `{language}` stands for.
    public var language: String? { fields.language }

    /// Whether its URLs name a language, so that each language has tiles of its own.
    public var hasLanguages: Bool {
        source.scheme.row.takesLanguage && source.addresses.contains { $0.contains("{language}") }
    }

    /// The same file with another language.
    public func inLanguage(_ code: String) -> TilesetFile {
        var file = self
        file.fields.language = code
        return file
    }

    /// Reads a tileset file.
    ///
    /// - Throws: ``TilesetsError`` naming the file and the key.
    public static func read(_ url: URL) throws(TilesetsError) -> TilesetFile {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            data = try file.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw TilesetsError(
                .unreadable, "Tileset file '\(url.path)' cannot be read; check the path and its permissions.")
        }
        if let scheme = archiveScheme(of: data) {
            throw TilesetsError(
                .badSyntax, "'\(url.path)' is an archive of tiles, not a tileset file.",
                hint: "name it with its kind: \(scheme):\(url.path)")
        }
        guard data.count <= maxBytes else {
            throw TilesetsError(
                .badSyntax, "Tileset file '\(url.path)' is larger than 1 MiB, so it is not a tileset file.")
        }
        return try TilesetFile(
            text: String(decoding: UnicodeText.utf8([UInt8](data)), as: UTF8.self), name: url.lastPathComponent,
            folder: url.deletingLastPathComponent())
    }

    /// The word before the path of an archive that a file seems to be.
    private static func archiveScheme(of data: Data) -> String? {
        if data.starts(with: Array("PMTiles".utf8)) { return "pmtiles" }
        return data.starts(with: Array("SQLite format 3\0".utf8)) ? "mbtiles" : nil
    }

    /// A tileset file with nothing but this source, as ``SourceScheme`` reads it.
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
            var file = try TilesetFile(.object(keys), name: shown, folder: folder, fallbackID: "tiles")
            file.fields.isNamedDirectly = true
            return file
        }
    }

    /// An address as errors may name it: without a query and without user information.
    package static func withoutSecrets(_ source: String) -> String {
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
            try TilesetFile(value, name: name, folder: folder, fallbackID: Self.id(ofPath: name))
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

    private init(_ value: JSONValue, name: String, folder: URL, fallbackID: String) throws(TilesetsError) {
        let (filled, note) = LatestPreset.filled(value)
        let reader = try FieldReader(filled, name: name, known: Self.keys)
        self.name = name
        var fields = try TilesetFields(reader, fallbackID: fallbackID)
        let written: WrittenAddresses?
        (source, written) = try Self.source(reader, subdomains: fields.subdomains, folder: folder)
        notes = (written?.notes ?? []) + [note].compactMap(\.self)
        if let written { fields.subdomains = written.subdomains }
        if reader["id"] == nil {
            switch source.scheme.row.target {
            case .file: fields.id = Self.id(ofPath: source.address)
            case .remoteFile: fields.id = Self.id(ofPath: SourceRow.path(ofURL: source.address))
            case .tiles, .document, .archives: break
            }
        }
        self.fields = fields
        if source.scheme == .latest, case .object(let keys) = filled { self.keys = keys }
    }

    /// The file as JSON, with its id and language, of a source whose address changes: a later reader looks for the newest build with it.
    ///
    /// `nil` for other sources. Secrets stay names of environment variables.
    public var following: String? {
        guard source.scheme == .latest else { return nil }
        var keys = keys
        keys["id"] = .string(fields.id)
        keys["language"] = fields.language.map(JSONValue.string)
        // What was read from JSON or YAML has no number that JSON cannot hold.
        return try? JSONValue.object(keys).canonicalText()
    }

    /// The id of a tileset that has none, after the name of its archive or file.
    ///
    /// A name without any ASCII letter or digit is spelled by its code points: `地図.mbtiles` has the id `u5730-u56f3`.
    private static func id(ofPath path: String) -> String {
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        let cleaned = name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "-" }
        let id = String(String(cleaned).drop { !$0.isLetter && !$0.isNumber }.prefix(64))
        guard id.isEmpty else { return id }
        let points = name.unicodeScalars.prefix(8).map { "u" + String($0.value, radix: 16) }
        return points.isEmpty ? "tiles" : points.joined(separator: "-")
    }

    /// What 'archives' names, or else the texts of 'url': of the first scheme that knows them.
    private static func source(
        _ reader: FieldReader, subdomains: [String], folder: URL
    ) throws(TilesetsError) -> (TileSource, WrittenAddresses?) {
        var archives = try LatestFields.source(reader)
        if archives == nil {
            archives = try ArchiveFields.source(reader["archives"], reader, folder: folder)
        } else if let other = ["url", "archives"].first(where: { reader[$0] != nil }) {
            throw TilesetsError(
                .badValue, "Tileset file '\(reader.name)' has both latest and \(other); remove one of them.")
        }
        guard let texts = try reader.texts("url") else {
            if let archives { return (archives, nil) }
            throw TilesetsError(
                .missingKey,
                "Tileset file '\(reader.name)' has no 'url'; write \(SourceScheme.words).")
        }
        guard archives == nil else {
            throw TilesetsError(
                .badValue, "Tileset file '\(reader.name)' has both url and archives; remove one of them.")
        }
        let written = try WrittenAddresses(texts, subdomains: subdomains)
        for scheme in SourceScheme.allCases {
            guard let addresses = try scheme.row.read(written.texts, folder) else { continue }
            return (TileSource(scheme, addresses), written)
        }
        throw TilesetsError(.badValue, "'url' names no source of tiles; write \(SourceScheme.words).")
    }

    /// Completes the tileset; values of the file override values of the source.
    ///
    /// - Parameters:
    ///   - metadata: What the source says about itself; needed for all but tile URLs.
    ///   - key: The value of the key variable; where a document repeats it in its tile URLs, it is replaced by
    ///     `{key}`.
    /// - Throws: ``TilesetsError`` naming what is still missing or refused.
    public func resolved(metadata: SourceMetadata? = nil, key: String? = nil) throws(TilesetsError) -> Tileset {
        try Self.naming(name) { () throws(TilesetsError) in try complete(metadata, key) }
    }

    private func complete(_ metadata: SourceMetadata?, _ key: String?) throws(TilesetsError) -> Tileset {
        var source = self.source
        if source.scheme.row.target == .tiles {
            source = TileSource(source.scheme, source.addresses, subdomains: fields.subdomains)
        }
        if source.scheme.row.target == .document { source = try named(by: metadata, key) }
        let tileset = try fields.complete(source, metadata ?? SourceMetadata())
        try tileset.check()
        return tileset
    }

    /// The source that a document names in place of itself.
    private func named(by metadata: SourceMetadata?, _ key: String?) throws(TilesetsError) -> TileSource {
        // The address that the document was asked for may be part of those in it.
        func withoutKey(_ address: String) -> String {
            guard let key, !key.isEmpty else { return address }
            return address.replacing(key, with: "{key}").replacing(URLTemplate.escaped(key), with: "{key}")
        }
        if let newest = metadata?.newest {
            return TileSource(newest.scheme, newest.addresses.map(withoutKey), subdomains: fields.subdomains)
        }
        if let archives = metadata?.archives, !archives.isEmpty {
            let texts = archives.map {
                ArchivePart($0.zooms, $0.extent, size: $0.size, at: withoutKey($0.address)).text
            }
            return TileSource(.archives, texts)
        }
        guard let templates = metadata?.templates, !templates.isEmpty else {
            throw TilesetsError(.missingKey, "Tileset '\(fields.id)': its document was not read.")
        }
        return TileSource(.templates, templates.map(withoutKey), subdomains: fields.subdomains)
    }

    /// Completes the tileset with a TileJSON document that came from the file's own address, or with nothing.
    public func resolved(tileJSON: [UInt8]?) throws(TilesetsError) -> Tileset {
        guard let tileJSON else { return try resolved() }
        return try resolved(metadata: try SourceMetadata(tileJSON: tileJSON, from: source.address))
    }

    /// The tileset before it is complete: what reading its document or its remote archive needs.
    ///
    /// - Throws: ``TilesetsError`` for an address that may not be asked.
    public func forAsking() throws(TilesetsError) -> Tileset { try forAsking(source) }

    /// The same for another source than its own: a document or a build that it names.
    public func forAsking(_ source: TileSource) throws(TilesetsError) -> Tileset {
        var tileset = Tileset(
            id: fields.id, source: source, rowOrder: .xyz, format: .mvt, zooms: .all,
            headers: fields.headers, politeness: fields.politeness, http2: fields.http2,
            maxTileBytes: Tileset.defaultMaxTileBytes, language: fields.language, keyEnvironment: fields.keyEnvironment)
        tileset.emptyStatuses = fields.emptyStatuses
        try Self.naming(name) { () throws(TilesetsError) in try source.scheme.row.checkAsking(tileset) }
        return tileset
    }
}
