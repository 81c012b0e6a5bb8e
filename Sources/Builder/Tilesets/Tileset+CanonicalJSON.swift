public import Errors
import Foundation
import TileBodies
import Tiles

extension Tileset {
    /// The keys and kinds of the canonical form, version 1.
    private struct CanonicalTileset: Codable {
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
        return (try? encoder.encode(canonical)).map { [UInt8]($0) } ?? []
    }

    /// Reads the canonical form.
    ///
    /// - Throws: ``TilesetsError`` `.badSyntax` for other bytes, and the errors of a tileset file.
    public init(canonicalJSON: [UInt8]) throws(TilesetsError) {
        guard canonicalJSON.count <= 1 << 20 else {
            throw TilesetsError(.badSyntax, "The tileset's description is larger than 1 MiB.")
        }
        let canonical: CanonicalTileset
        do {
            canonical = try JSONDecoder().decode(CanonicalTileset.self, from: Data(canonicalJSON))
        } catch {
            throw TilesetsError(.badSyntax, "The tileset's description is not in its canonical form.")
        }
        guard canonical.version == 1 else {
            throw TilesetsError(
                .badSyntax,
                "The tileset's description has version \(canonical.version); this build reads version 1. Upgrade it.")
        }
        guard let zooms = ZoomRange(min: canonical.minzoom, max: canonical.maxzoom) else {
            throw TilesetsError(.badValue, "The tileset's description has no usable zooms.")
        }
        let source: Source
        switch (canonical.templates, canonical.mbtiles, canonical.pmtiles, canonical.pmtilesURL) {
        case (let templates?, nil, nil, nil):
            source = .http(templates: templates, subdomains: canonical.subdomains ?? [])
        case (nil, let path?, nil, nil): source = .mbtiles(path: path)
        case (nil, nil, let path?, nil): source = .pmtiles(path: path)
        case (nil, nil, nil, let url?): source = .remotePMTiles(url: url)
        default: throw TilesetsError(.badSyntax, "The tileset's description has no single source.")
        }
        self.init(
            id: canonical.id, name: canonical.name, source: source, scheme: canonical.scheme, format: canonical.format,
            zooms: zooms,
            bounds: canonical.bounds.flatMap(SourceMetadata.bounds), attribution: canonical.attribution,
            description: canonical.description, vectorLayers: canonical.vectorLayers, headers: canonical.headers,
            politeness: Politeness(), http2: canonical.http2, maxTileBytes: canonical.maxTileBytes,
            language: canonical.language,
            keyEnvironment: canonical.keyEnvironment)
        layers = canonical.layers
        overfetch = canonical.overfetch
        politeness.concurrency = canonical.concurrency
        politeness.requestsPerSecond = canonical.requestsPerSecond
        politeness.bytesPerSecond = canonical.bytesPerSecond
        politeness.userAgent = canonical.userAgent
        politeness.contact = canonical.contact
        politeness.connectSeconds = canonical.connectSeconds
        politeness.totalSeconds = canonical.totalSeconds
        politeness.stallSeconds = canonical.stallSeconds
        try check()
    }

    private var canonical: CanonicalTileset {
        var canonical = CanonicalTileset(
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
            canonical.templates = templates
            canonical.subdomains = subdomains.isEmpty ? nil : subdomains
        case .mbtiles(let path): canonical.mbtiles = path
        case .pmtiles(let path): canonical.pmtiles = path
        case .remotePMTiles(let url): canonical.pmtilesURL = url
        }
        return canonical
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
