/// One file that is needed to draw a style.
public struct StyleResource: Sendable, Hashable {
    /// The kind of a resource; the raw value is the word in the index.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The style itself.
        case style
        /// A TileJSON document.
        case source
        /// GeoJSON.
        case data
        /// A range of glyphs, or a font file.
        case glyphs
        /// The image of a sprite.
        case spriteImage = "sprite-image"
        /// The table of a sprite.
        case spriteJSON = "sprite-json"
        /// An image source.
        case image

        /// The largest body taken.
        ///
        /// Unit: bytes.
        package var maxBytes: Int {
            switch self {
            case .style: StyleDocument.maxBytes
            case .source, .spriteJSON: 4 << 20
            case .glyphs, .spriteImage, .image: 16 << 20
            case .data: 64 << 20
            }
        }
    }

    /// The absolute URL a client asks for, `{key}` in place of the key.
    public let url: String
    /// What it is.
    public let kind: Kind
    /// Where it lies in a pack.
    public let path: String
    /// Whether clients work without it: a glyph range that the font does not have, a sprite for the other kind of
    /// screen.
    public let mayBeAbsent: Bool

    package init(url: String, kind: Kind, path: String, mayBeAbsent: Bool = false) {
        self.url = url
        self.kind = kind
        self.path = path
        self.mayBeAbsent = mayBeAbsent
    }
}

/// What of a style is wanted.
public struct StyleChoice: Sendable, Hashable {
    /// Glyph ranges of ideographs too, which most clients draw with the device's own font.
    public var ideographs: Bool
    /// Which sprites: 1, 2 or both.
    public var pixelRatios: Set<Int>

    /// Both sprites, no ideographs.
    public init(ideographs: Bool = false, pixelRatios: Set<Int> = [1, 2]) {
        self.ideographs = ideographs
        self.pixelRatios = pixelRatios
    }
}

/// The list of everything a style needs.
public struct StyleNeeds: Sendable {
    /// The most resources a pack may have.
    public static let limit = 32_768

    /// Sorted by URL, each URL once; the style itself is not among them.
    public let resources: [StyleResource]
    /// Warnings: sources that a pack cannot contain, fonts that cannot be determined.
    public let notes: [String]

    /// Lists what a style needs.
    ///
    /// - Parameters:
    ///   - style: The style.
    ///   - base: The style's absolute address, against which it is read; `nil` when it has none.
    ///   - choice: Which of its resources are wanted.
    /// - Throws: ``StylesError`` `bad-url` or `too-large` naming the reference.
    public init(_ style: StyleDocument, base: String?, choice: StyleChoice) throws(StylesError) {
        var list = ResourceList(base: base)
        for source in style.sources { try list.add(source) }
        for sprite in style.sprites { try list.add(sprite, choice.pixelRatios) }
        if let glyphs = style.glyphs {
            let template = try URLReference.resolve(glyphs, against: base)
            for stack in style.fontStacks {
                for start in GlyphRanges.starts(ideographs: choice.ideographs) {
                    list.add(
                        StyleResource(
                            url: GlyphRanges.url(template, stack: stack, start: start), kind: .glyphs,
                            path: PackPath.glyphs(stack, start), mayBeAbsent: true))
                }
            }
        }
        for face in style.fontFaces {
            let url = try URLReference.resolve(face, against: base)
            list.add(StyleResource(url: url, kind: .glyphs, path: PackPath.fontFace(url)))
        }
        if !style.undecidedFonts.isEmpty {
            list.notes.append(
                "these layers compute their fonts; the pack has only the fonts that are written in the style: "
                    + style.undecidedFonts.prefix(10).joined(separator: ", "))
        }
        guard list.byURL.count <= Self.limit else {
            throw StylesError(
                .tooLarge, "The style needs \(list.byURL.count) resources; the limit is \(Self.limit).")
        }
        resources = list.byURL.values.sorted { $0.url < $1.url }
        notes = list.notes
    }
}

private struct ResourceList {
    let base: String?
    var byURL: [String: StyleResource] = [:]
    var notes: [String] = []

    mutating func add(_ resource: StyleResource) {
        if byURL[resource.url] == nil { byURL[resource.url] = resource }
    }

    mutating func add(_ source: StyleDocument.Source) throws(StylesError) {
        switch source.type {
        case "vector", "raster", "raster-dem":
            if let url = source.url {
                add(
                    StyleResource(
                        url: try URLReference.resolve(url, against: base), kind: .source,
                        path: PackPath.source(source.name)))
            } else if source.tiles.isEmpty {
                throw StylesError(.badStyle, "Source '\(source.name)' has neither 'url' nor 'tiles'.")
            }
        case "geojson":
            guard let url = source.url, URLReference.scheme(of: url) != "data" else { return }
            add(
                StyleResource(
                    url: try URLReference.resolve(url, against: base), kind: .data, path: PackPath.data(source.name)))
        case "image":
            guard let url = source.url, URLReference.scheme(of: url) != "data" else { return }
            let absolute = try URLReference.resolve(url, against: base)
            add(StyleResource(url: absolute, kind: .image, path: PackPath.image(source.name, absolute)))
        default:
            notes.append(
                "source '\(source.name)' of type '\(URLReference.shown(source.type))' is not packed, because no client can store it"
            )
        }
    }

    mutating func add(_ sprite: StyleDocument.Sprite, _ ratios: Set<Int>) throws(StylesError) {
        let url = try URLReference.resolve(sprite.url, against: base)
        for ratio in ratios.sorted() {
            let suffix = ratio == 1 ? "" : "@2x"
            for (kind, type) in [(StyleResource.Kind.spriteJSON, "json"), (.spriteImage, "png")] {
                add(
                    StyleResource(
                        url: URLReference.append("\(suffix).\(type)", toPathOf: url), kind: kind,
                        path: "\(PackPath.sprite(sprite.id))\(suffix).\(type)", mayBeAbsent: ratio != 1))
            }
        }
    }
}
