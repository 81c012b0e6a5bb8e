public import Errors
import Foundation
import TileBodies
import Tiles

extension Tileset {
    /// The keys and kinds of the canonical form, version 1.
    private struct Form: Codable {
        var version: Int
        var id: String
        var name: String?
        var templates: [String]?
        var subdomains: [String]?
        var mbtiles: String?
        var pmtiles: String?
        var pmtilesURL: String?
        var scheme: URLTemplate.Scheme
        var format: TileFormat
        var minzoom: Int
        var maxzoom: Int
        var bounds: [Double]?
        var attribution: String?
        var description: String?
        var vectorLayers: String?
        var layers: [String]?
        var overfetch: Double?
        var headers: [String: String]
        var concurrency: Int
        var requestsPerSecond: Double?
        var bytesPerSecond: Int?
        var userAgent: String?
        var contact: String?
        var connectSeconds: Double
        var totalSeconds: Double
        var stallSeconds: Double
        var http2: Bool
        var maxTileBytes: Int
        var language: String?
        var keyEnvironment: String?
    }

    /// The tileset as JSON with sorted keys: the same bytes for equal tilesets, on every machine.
    ///
    /// Holds the names of environment variables, never their values.
    public var canonicalJSON: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every number was checked to be finite; JSON cannot represent other numbers.
        return (try? encoder.encode(form)).map { [UInt8]($0) } ?? []
    }

    /// Reads the canonical form.
    ///
    /// - Throws: ``TilesetsError`` `.badSyntax` for other bytes, and the errors of a tileset file.
    public init(canonicalJSON: [UInt8]) throws(TilesetsError) {
        guard canonicalJSON.count <= 1 << 20 else {
            throw TilesetsError(.badSyntax, "The tileset's description is larger than 1 MiB.")
        }
        let form: Form
        do {
            form = try JSONDecoder().decode(Form.self, from: Data(canonicalJSON))
        } catch {
            throw TilesetsError(.badSyntax, "The tileset's description is not in its canonical form.")
        }
        guard form.version == 1 else {
            throw TilesetsError(
                .badSyntax,
                "The tileset's description has version \(form.version); this build reads version 1. Upgrade it.")
        }
        guard let zooms = ZoomRange(min: form.minzoom, max: form.maxzoom) else {
            throw TilesetsError(.badValue, "The tileset's description has no usable zooms.")
        }
        let source: Source
        switch (form.templates, form.mbtiles, form.pmtiles, form.pmtilesURL) {
        case (let templates?, nil, nil, nil): source = .http(templates: templates, subdomains: form.subdomains ?? [])
        case (nil, let path?, nil, nil): source = .mbtiles(path: path)
        case (nil, nil, let path?, nil): source = .pmtiles(path: path)
        case (nil, nil, nil, let url?): source = .remotePMTiles(url: url)
        default: throw TilesetsError(.badSyntax, "The tileset's description has no single source.")
        }
        self.init(
            id: form.id, name: form.name, source: source, scheme: form.scheme, format: form.format, zooms: zooms,
            bounds: form.bounds.flatMap(SourceMetadata.bounds), attribution: form.attribution,
            description: form.description, vectorLayers: form.vectorLayers, headers: form.headers,
            politeness: Politeness(), http2: form.http2, maxTileBytes: form.maxTileBytes, language: form.language,
            keyEnvironment: form.keyEnvironment)
        layers = form.layers
        overfetch = form.overfetch
        politeness.concurrency = form.concurrency
        politeness.requestsPerSecond = form.requestsPerSecond
        politeness.bytesPerSecond = form.bytesPerSecond
        politeness.userAgent = form.userAgent
        politeness.contact = form.contact
        politeness.connectSeconds = form.connectSeconds
        politeness.totalSeconds = form.totalSeconds
        politeness.stallSeconds = form.stallSeconds
        try check()
    }

    private var form: Form {
        var form = Form(
            version: 1, id: id, name: name, scheme: scheme, format: format, minzoom: zooms.min, maxzoom: zooms.max,
            bounds: bounds.map { [$0.west, $0.south, $0.east, $0.north] }, attribution: attribution,
            description: description, vectorLayers: vectorLayers, layers: layers, overfetch: overfetch,
            headers: headers,
            concurrency: politeness.concurrency, requestsPerSecond: politeness.requestsPerSecond,
            bytesPerSecond: politeness.bytesPerSecond, userAgent: politeness.userAgent, contact: politeness.contact,
            connectSeconds: politeness.connectSeconds,
            totalSeconds: politeness.totalSeconds, stallSeconds: politeness.stallSeconds, http2: http2,
            maxTileBytes: maxTileBytes, language: language, keyEnvironment: keyEnvironment)
        switch source {
        case .http(let templates, let subdomains):
            form.templates = templates
            form.subdomains = subdomains.isEmpty ? nil : subdomains
        case .mbtiles(let path): form.mbtiles = path
        case .pmtiles(let path): form.pmtiles = path
        case .remotePMTiles(let url): form.pmtilesURL = url
        }
        return form
    }
}

extension Tileset: Codable {
    /// Reads the text form of ``canonicalJSON``.
    public init(from decoder: any Decoder) throws {
        try self.init(canonicalJSON: Array(try decoder.singleValueContainer().decode(String.self).utf8))
    }

    /// Writes ``canonicalJSON`` as one text.
    public func encode(to encoder: any Encoder) throws {
        var one = encoder.singleValueContainer()
        try one.encode(String(decoding: canonicalJSON, as: UTF8.self))
    }
}
