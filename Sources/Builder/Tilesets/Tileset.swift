public import Errors
public import TileBodies
public import Tiles

/// Everything that a worker needs to fetch and check tiles, except secrets, which stay in its environment.
public struct Tileset: Sendable, Hashable {
    /// 1...64 letters, digits, dots, hyphens, and underscores.
    public var id: String
    /// A human name.
    public var name: String?
    /// Where the tiles are.
    public var source: TileSource
    /// From which edge the URL's rows are counted.
    public var rowOrder: RowOrder
    /// What the bodies are.
    public var format: TileFormat
    /// The zooms it has.
    public var zooms: ZoomRange
    /// The area of its tiles; `nil` = unknown, so tiles may be anywhere.
    public var bounds: BoundingBox?
    /// The attribution text or HTML.
    public var attribution: String?
    /// A description.
    public var description: String?
    /// `vector_layers` as canonical JSON text.
    public var vectorLayers: String?
    /// The layers that its vector tiles keep, sorted; `nil` = all.
    ///
    /// ``vectorLayers`` has these alone.
    public var layers: [String]?
    /// How its pictures encode heights; `nil` = they are no heights.
    public var encoding: TerrainEncoding?
    /// The width and height at which its pictures are shown, in pixels, 256 or 512; `nil` = not said, and URLs say 256.
    public var tileSize: Int?
    /// Whether a picture of another size than ``tileSize`` is refused, because the tileset file says the size; `nil` = no.
    ///
    /// A size that the source says refuses nothing: servers send pictures of 512 pixels that are shown at 256.
    public var isTileSizeChecked: Bool?
    /// Bytes between the tiles of a remote archive that are also fetched to save requests, as a share of the tiles'
    /// bytes: 0...1; `nil` = 0.05.
    public var overfetch: Double?
    /// Whether a remote archive has a list of its blocks beside it, `.sync`; `nil` = none is looked for.
    public var sync: Bool?
    /// The statuses 400...499 that say "there is no such tile", besides 404 and 410, ascending; `nil` = none.
    public var emptyStatuses: [Int]?
    /// The bodies that stand for no tile or for a refusal, by digest; `nil` = none.
    public var reject: [RejectedBody]?
    /// Whether a picture of another format than ``format`` is a tile too; `nil` = no.
    public var mixesPictures: Bool?
    /// Request headers; secrets as `${NAME}`.
    public var headers: [String: String]
    /// How the origin is treated.
    public var politeness: Politeness
    /// HTTP/2 over TLS where the server offers it.
    public var http2: Bool
    /// The build of a source whose address changes; `nil` = its address stays.
    public var build: SourceBuild?
    /// The largest body taken, in bytes.
    ///
    /// Default 16 MiB.
    public var maxTileBytes: Int
    /// What `{language}` stands for.
    public var language: String?
    /// The environment variable whose value `{key}` stands for.
    public var keyEnvironment: String?
    /// Whether file or source say the zooms; else ``zooms`` are those of MapLibre's default, and mostly too deep.
    ///
    /// It is for the command that makes a job, and no part of the canonical form.
    public var saysZooms = true
    /// How its packages are cut into tile packs, if file or source defines it.
    ///
    /// It affects how packages are published, not the content of tiles; so it is not part of the canonical form.
    public var packs: PackScheme?

    /// The default limit of a body's size.
    public static let defaultMaxTileBytes = 16 << 20

    /// The headers with the environment's values in place, sorted by name.
    ///
    /// - Throws: ``TilesetsError`` `.missingSecret` naming the variable.
    public func resolvedHeaders(
        environment: [String: String]
    ) throws(TilesetsError) -> [(name: String, value: String)] {
        var resolved: [(name: String, value: String)] = []
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            let place = "Header '\(name)' of tileset '\(id)'"
            let filled = try Secrets.fill(value, from: environment, place: place)
            guard Self.isHeaderText(filled) else {
                throw TilesetsError(.badValue, "\(place) holds characters that cannot be sent, such as a line break.")
            }
            resolved.append((name, filled))
        }
        return resolved
    }

    /// The value of `{key}`, or `nil` when the tileset has none.
    ///
    /// - Throws: ``TilesetsError`` `.missingSecret` naming the variable.
    public func key(environment: [String: String]) throws(TilesetsError) -> String? {
        guard let keyEnvironment else { return nil }
        return try Secrets.fill("${\(keyEnvironment)}", from: environment, place: "The key of tileset '\(id)'")
    }

    /// The parsed URL templates; empty for archives.
    public func templates() throws(TilesetsError) -> [URLTemplate] {
        guard source.scheme == .templates else { return [] }
        var templates: [URLTemplate] = []
        for text in source.addresses {
            templates.append(
                try URLTemplate(
                    text, subdomains: source.subdomains, rowOrder: rowOrder,
                    tileSize: tileSize ?? URLTemplate.usualTileSize))
        }
        return templates
    }

    /// The only address of its source with `{key}` and `{language}` filled in.
    ///
    /// - Throws: ``TilesetsError`` `.missingSecret` naming the variable.
    public func address(environment: [String: String]) throws(TilesetsError) -> String {
        let key = try key(environment: environment)
        return source.address.replacing("{key}", with: URLTemplate.escaped(key ?? ""))
            .replacing("{language}", with: URLTemplate.escaped(language ?? ""))
    }

    static func isHeaderText(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    static func isHeaderName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
    }

    static func isID(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first.isNumber, text.utf8.count <= 64 else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }
}

extension Tileset {
    /// The layers that its tiles keep, as bodies are cut by it; `nil` = all.
    public var choice: LayerChoice? { layers.map { LayerChoice($0) } }

    /// What each of its pictures must be; `nil` = any picture.
    public var pictures: PictureRule? {
        PictureRule(side: isTileSizeChecked == true ? tileSize : nil, isLossless: encoding != nil)
    }

    /// How renderers must be told to read its tiles, as MapLibre's styles and TileJSON spell it; `nil` = as usual.
    public var sourceEncoding: String? { format == .mlt ? format.rawValue : encoding?.rawValue }
}
