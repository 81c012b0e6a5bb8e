internal import TextFormats

/// The resources that are needed to draw a style.
///
/// Safe on hostile bytes: sizes and counts are limited, nesting is (512, by the JSON reader), and nothing is fetched.
/// - Source: MapLibre style specification: root, sources, sprite, glyphs, font-faces.
public struct StyleDocument: Sendable {
    /// The largest style read.
    ///
    /// Unit: bytes. Real ones have 20–500 kB.
    public static let maxBytes = 4 << 20
    static let maxSources = 256
    static let maxSprites = 16
    static let maxStacks = 64

    /// One source, as far as resources go.
    public struct Source: Sendable, Hashable {
        /// The source's name in the style.
        public let name: String
        /// `vector`, `raster`, `raster-dem`, `geojson`, `image`, `video` or another word.
        public let type: String
        /// The TileJSON's address as written, for tile sources; the image's, for images; the data's, for GeoJSON.
        public let url: String?
        /// Tile URLs written in the style itself.
        public let tiles: [String]
        /// `tileSize`; 512 if unknown, and always for vector tiles.
        public let tileSize: Int
        /// Whether rows are counted from the south.
        public let isTMS: Bool
        /// `encoding`: `mvt`, `mlt`, `mapbox`, `terrarium`; `nil` = the default of the type.
        public let encoding: String?
        /// `minzoom` and `maxzoom` as declared, whole numbers within 0...30.
        public let minZoom, maxZoom: Int?

        /// Whether it is made of tiles.
        public var hasTiles: Bool { ["vector", "raster", "raster-dem"].contains(type) }
    }

    /// One sprite.
    public struct Sprite: Sendable, Hashable {
        /// The name before the colon in an image's name; `default` for a style's only sprite.
        public let id: String
        /// The address as written, without `@2x` and extension.
        public let url: String
    }

    /// The style's own name.
    public let name: String?
    /// By name.
    public let sources: [Source]
    /// In the style's order.
    public let sprites: [Sprite]
    /// The glyphs' URL template as written.
    public let glyphs: String?
    /// Sorted.
    public let fontStacks: [FontStack]
    /// Addresses of font files (`font-faces`), sorted.
    public let fontFaces: [String]
    /// Layers whose fonts cannot all be found in the style.
    public let undecidedFonts: [String]
    /// The whole document.
    let root: [String: JSONValue]

    /// Reads a style.
    ///
    /// - Throws: ``StylesError`` `bad-style` naming the member, `too-large`.
    public init(_ bytes: [UInt8]) throws(StylesError) {
        guard bytes.count <= Self.maxBytes else {
            throw StylesError(
                .tooLarge, "The style has \(bytes.count) bytes; the limit is \(Self.maxBytes). Is this a style?")
        }
        guard case .object(let root)? = JSONValue(json: bytes) else {
            throw StylesError(.badStyle, "The style is not a JSON object; check its address.")
        }
        guard case .array(let layers)? = root["layers"], case .object(let named)? = root["sources"] else {
            throw StylesError(
                .badStyle,
                "The document has no 'layers' and 'sources', so it is not a MapLibre style; check its address.")
        }
        guard root["version"] == nil || root["version"] == .number(8) else {
            throw StylesError(.badStyle, "The style does not have version 8, the only supported version.")
        }
        guard named.count <= Self.maxSources else {
            throw StylesError(.tooLarge, "The style has \(named.count) sources; the limit is \(Self.maxSources).")
        }
        self.root = root
        name = Self.text(root["name"])
        sources = named.sorted { $0.key < $1.key }.map { Self.source($0.key, $0.value) }
        sprites = try Self.sprites(root["sprite"])
        glyphs = Self.text(root["glyphs"])
        let found = FontStacks(layers: layers)
        guard found.stacks.count <= Self.maxStacks else {
            throw StylesError(
                .tooLarge,
                "The style names \(found.stacks.count) font stacks; the limit is \(Self.maxStacks).")
        }
        fontStacks = glyphs == nil ? [] : found.stacks.sorted()
        undecidedFonts = glyphs == nil ? [] : found.undecided
        fontFaces = Self.faces(root["font-faces"])
        guard fontFaces.count <= Self.maxStacks else {
            throw StylesError(
                .tooLarge, "The style names \(fontFaces.count) font files; the limit is \(Self.maxStacks).")
        }
    }

    /// The style with every reference absolute; if all are absolute already, the same style with sorted keys.
    ///
    /// - Throws: ``StylesError`` `bad-style` when it cannot be written.
    public func absolute(base: String?) throws(StylesError) -> [UInt8] {
        try OfflineStyle.rewritten { try OfflineStyle.absolute(self, base: base) ?? OfflineStyle.encoded(root) }
    }

    private static func source(_ name: String, _ value: JSONValue) -> Source {
        guard case .object(let members) = value else {
            return Source(
                name: name, type: "", url: nil, tiles: [], tileSize: 512, isTMS: false, encoding: nil,
                minZoom: nil, maxZoom: nil)
        }
        let type = text(members["type"]) ?? ""
        var tiles: [String] = []
        if case .array(let list)? = members["tiles"] { tiles = list.prefix(64).compactMap { text($0) } }
        return Source(
            name: name, type: type, url: text(members[type == "geojson" ? "data" : "url"]), tiles: tiles,
            tileSize: type == "vector" ? 512 : whole(members["tileSize"], 1...4_096) ?? 512,
            isTMS: members["scheme"] == .string("tms"), encoding: text(members["encoding"]),
            minZoom: whole(members["minzoom"], 0...30),
            maxZoom: whole(members["maxzoom"], 0...30))
    }

    private static func sprites(_ value: JSONValue?) throws(StylesError) -> [Sprite] {
        guard case .array(let list)? = value else {
            return text(value).map { [Sprite(id: "default", url: $0)] } ?? []
        }
        guard list.count <= maxSprites else {
            throw StylesError(.tooLarge, "The style has \(list.count) sprites; the limit is \(maxSprites).")
        }
        var sprites: [Sprite] = []
        for item in list {
            guard case .object(let members) = item, let id = text(members["id"]), let url = text(members["url"]),
                !sprites.contains(where: { $0.id == id })
            else {
                throw StylesError(.badStyle, "The style's 'sprite' has an element without an id or url.")
            }
            sprites.append(Sprite(id: id, url: url))
        }
        return sprites
    }

    private static func faces(_ value: JSONValue?) -> [String] {
        guard case .object(let named)? = value else { return [] }
        var urls: Set<String> = []
        for face in named.values {
            if let url = text(face) { urls.insert(url) }
            guard case .array(let parts) = face else { continue }
            for case .object(let part) in parts { if let url = text(part["url"]) { urls.insert(url) } }
        }
        return urls.sorted()
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value, !text.isEmpty else { return nil }
        return text
    }

    static func whole(_ value: JSONValue?, _ range: ClosedRange<Int>) -> Int? {
        guard case .number(let number)? = value, let whole = Int(exactly: number.rounded(.down)) else { return nil }
        return range.contains(whole) ? whole : nil
    }
}
