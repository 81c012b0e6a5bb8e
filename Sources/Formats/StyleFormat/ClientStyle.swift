internal import TextFormats

/// A packed style in the form of a client's own database: with the addresses that the client computes, absolute
/// references, and the key filled in.
public struct ClientStyle: Sendable {
    /// One file under its client's key.
    public struct Resource: Sendable {
        /// What the client looks it up by.
        public let url: String
        /// What it is.
        public let kind: StyleResource.Kind
        /// The bytes; `nil` if the resource does not exist on the server.
        public let bytes: [UInt8]?
        /// `ETag`, as sent.
        public let etag: String?
        /// When it was last changed, according to the server.
        ///
        /// Unix seconds.
        public let modified: Int64?
    }

    /// A source whose tiles the style draws.
    public struct TileSource: Sendable, Hashable {
        /// The source's name in the style.
        public let name: String
        /// `vector`, `raster` or `raster-dem`.
        public let type: String
        /// The first tile URL with its placeholders: clients use it as the key of tiles.
        public let template: String
        /// Unit: pixels.
        public let tileSize: Int
        /// Whether the server counts rows from the south.
        public let isTMS: Bool
        /// `encoding` of the tiles, of the source or of its TileJSON; `nil` = the default of the type.
        public let encoding: String?
        /// The zooms that it declares; 0 and 22 if it declares none.
        public let minZoom, maxZoom: Int
    }

    /// The address of the style.
    public let url: String
    /// The style's name.
    public let name: String?
    /// Whether ranges of ideographs are among the resources.
    public let ideographs: Bool
    /// Everything but tiles, the style first, then sorted by URL.
    public let resources: [Resource]
    /// The tile sources that are left, by name.
    public let tileSources: [TileSource]

    /// Reads and verifies a pack and converts it to the client's form.
    ///
    /// If a sprite for dense screens does not exist on the server, the normal sprite is used, which clients then
    /// enlarge. If a sprite does not exist at all, an empty table and one transparent pixel are used, because clients
    /// fail if a sprite is missing.
    ///
    /// - Parameters:
    ///   - pack: The pack; made with both pixel ratios.
    ///   - address: The address apps use for the style; `nil` for the pack's own.
    ///   - without: Sources to leave out, with the layers that draw them.
    ///   - key: What `{key}` stands for in the apps' addresses.
    /// - Throws: ``StylesError`` `bad-style-pack`, `missing-secret`, `bad-style`.
    public init(
        _ pack: StylePack, address: String? = nil, without: Set<String> = [], key: String? = nil
    ) throws(StylesError) {
        let (entry, original, _) = try pack.style()
        guard let written = address ?? pack.index.style else {
            throw StylesError(
                .badURL, "The style pack was made from a file; pass --style-url with the address apps use.")
        }
        guard Set(pack.index.pixelRatios).isSuperset(of: [1, 2]) else {
            throw StylesError(.badPack, "Clients need sprites of both densities; make the pack with --pixel-ratio 1,2.")
        }
        let filler = KeyFiller(key)
        url = try filler.fill(written)
        let base = try filler.fill(pack.index.style ?? written)
        var bytes = try filler.fill(original)
        if let reduced = try OfflineStyle.reduced(try StyleDocument(bytes), without: without) { bytes = reduced }
        if let absolute = try OfflineStyle.rewritten({ try OfflineStyle.absolute(try StyleDocument(bytes), base: base) }
        ) {
            bytes = absolute
        }
        let style = try StyleDocument(bytes)
        let needs = try StyleNeeds(style, base: nil, choice: StyleChoice(ideographs: pack.index.ideographs))
        var found = PackLookup(pack, filler)
        var resources = [
            Resource(
                url: url, kind: .style, bytes: bytes, etag: entry.etag,
                modified: entry.modified.flatMap(HTTPDate.secondsSince1970))
        ]
        for need in needs.resources { resources.append(try found.resource(need)) }
        self.resources = resources
        tileSources = try found.tileSources(of: style)
        name = style.name
        ideographs = pack.index.ideographs
    }
}

/// Puts the key where a pack says `{key}`.
struct KeyFiller {
    private let key: String?
    init(_ key: String?) { self.key = key.map(GlyphRanges.encoded) }

    func fill(_ text: String) throws(StylesError) -> String {
        guard text.contains("{key}") else { return text }
        guard let key else {
            throw StylesError(
                .missingSecret, "'\(URLReference.shown(text))' needs the key that apps use; pass --key-env.")
        }
        return text.replacing("{key}", with: key)
    }

    func fill(_ bytes: [UInt8]) throws(StylesError) -> [UInt8] {
        let mark = Array("{key}".utf8)
        guard bytes.firstRange(of: mark) != nil else { return bytes }
        guard let key else {
            throw StylesError(.missingSecret, "The style's documents need the key that apps use; pass --key-env.")
        }
        return bytes.replacing(mark, with: Array(key.utf8))
    }

    /// The form in the pack's index.
    func masked(_ url: String) -> String { key.map { url.replacing($0, with: "{key}") } ?? url }
}

/// Finds what a client asks for in a pack.
private struct PackLookup {
    let pack: StylePack
    let filler: KeyFiller
    /// TileJSON documents as written into the database, by URL.
    private var documents: [String: [UInt8]] = [:]

    init(_ pack: StylePack, _ filler: KeyFiller) {
        self.pack = pack
        self.filler = filler
    }

    mutating func resource(_ need: StyleResource) throws(StylesError) -> ClientStyle.Resource {
        guard let entry = pack.entry(filler.masked(need.url)), entry.kind == need.kind else {
            throw StylesError(.badPack, "The style pack lacks '\(filler.masked(need.url))'; make it again.")
        }
        var bytes = try pack.bytes(of: entry)
        if let body = bytes {
            try ResourceCheck.check(body, need)
        } else {
            guard need.mayBeAbsent else {
                throw StylesError(.badPack, "The style pack has no '\(entry.url)', which clients need; make it again.")
            }
            bytes = try substitute(need)
        }
        switch need.kind {
        case .data: bytes = try bytes.map { (body) throws(StylesError) in try filler.fill(body) }
        case .source:
            bytes = try bytes.map { (body) throws(StylesError) in
                try TileJSONDocument.absolute(try filler.fill(body), base: need.url)
            }
            documents[need.url] = bytes
        case .style, .glyphs, .spriteImage, .spriteJSON, .image: break
        }
        return ClientStyle.Resource(
            url: need.url, kind: need.kind, bytes: bytes, etag: entry.etag,
            modified: entry.modified.flatMap(HTTPDate.secondsSince1970))
    }

    /// The replacement of an absent sprite; `nil` for glyphs, which clients treat as an empty range.
    private func substitute(_ need: StyleResource) throws(StylesError) -> [UInt8]? {
        guard need.kind == .spriteJSON || need.kind == .spriteImage else { return nil }
        let plain = filler.masked(need.url.replacing("@2x.", with: "."))
        if let entry = pack.entry(plain), entry.kind == need.kind, let bytes = try pack.bytes(of: entry) {
            return bytes
        }
        return need.kind == .spriteJSON ? Array("{}".utf8) : Self.pixel
    }

    /// One clear pixel: a PNG of grey and alpha.
    private static let pixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 4,
        0, 0, 0, 0xB5, 0x1C, 12, 2, 0, 0, 0, 11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x60, 0x60, 0, 0, 0, 3, 0,
        1, 0x2B, 9, 0x4D, 0x84, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    func tileSources(of style: StyleDocument) throws(StylesError) -> [ClientStyle.TileSource] {
        var sources: [ClientStyle.TileSource] = []
        for source in style.sources where source.hasTiles {
            var (template, isTMS) = (source.tiles.first, source.isTMS)
            var (low, high) = (source.minZoom, source.maxZoom)
            var encoding = source.encoding
            if let url = source.url, let document = documents[url].flatMap(TileJSONDocument.init) {
                (template, isTMS) = (document.template, document.isTMS)
                (low, high) = (document.minZoom, document.maxZoom)
                encoding = encoding ?? document.encoding
            }
            guard let template else {
                throw StylesError(.badStyle, "Source '\(source.name)' has no tile URL.")
            }
            sources.append(
                ClientStyle.TileSource(
                    name: source.name, type: source.type, template: template, tileSize: source.tileSize, isTMS: isTMS,
                    encoding: encoding, minZoom: low ?? 0, maxZoom: high ?? 22))
        }
        return sources
    }
}
