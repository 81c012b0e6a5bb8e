/// Something that the store can hold.
public enum Item: Hashable, Sendable {
    /// A whole package of the catalog, in one format.
    case package(String, Edition = Edition(), Format = .mbtiles)
    /// All tile packs of a package.
    case packs(String, Edition = Edition())
    /// A region that was registered with the store.
    case region(RegionID)
    /// A style pack: the style, its sprites and its glyphs.
    case style(String)
}

extension Item {
    /// The id without its edition: of a package, a style or a region.
    public var identifier: String {
        switch self {
        case .package(let id, _, _), .packs(let id, _), .style(let id): id
        case .region(let id): id.text
        }
    }

    /// The edition; the main one for styles and regions.
    public var edition: Edition {
        switch self {
        case .package(_, let edition, _), .packs(_, let edition): edition
        case .region, .style: Edition()
        }
    }

    /// How a sentence for people begins with it: `The package 'EE'`.
    var subject: String {
        switch self {
        case .package(let id, _, _): "The package '\(id)'"
        case .packs(let id, _): "The package '\(id)' in tile packs"
        case .region(let id): "The region '\(id.text)'"
        case .style(let id): "The style '\(id)'"
        }
    }

    /// Whether it is one file with a version; tile packs have none, because regions share them.
    package var hasVersion: Bool {
        switch self {
        case .package, .style: true
        case .packs, .region: false
        }
    }
}

/// The JSON of an item: `{"kind": "package", "id": "EE", "group": "terrain", "language": "de", "format": "mbtiles"}`.
extension Item: Codable {
    private enum CodingKeys: String, CodingKey { case kind, id, group, language, format }
    private enum Kind: String, Codable { case package, packs, region, style }

    private var kind: Kind {
        switch self {
        case .package: .package
        case .packs: .packs
        case .region: .region
        case .style: .style
        }
    }

    /// Reads an item.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let id = try values.decode(String.self, forKey: .id)
        let edition = Edition(
            group: try values.decodeIfPresent(String.self, forKey: .group),
            language: try values.decodeIfPresent(String.self, forKey: .language))
        switch try values.decode(Kind.self, forKey: .kind) {
        case .package: self = .package(id, edition, Format(try values.decode(String.self, forKey: .format)))
        case .packs: self = .packs(id, edition)
        case .region: self = .region(RegionID(id))
        case .style: self = .style(id)
        }
    }

    /// Writes an item.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(kind, forKey: .kind)
        try values.encode(identifier, forKey: .id)
        try values.encodeIfPresent(edition.group, forKey: .group)
        try values.encodeIfPresent(edition.language, forKey: .language)
        if case .package(_, _, let format) = self { try values.encode(format.name, forKey: .format) }
    }
}

/// The part of a catalog for one data group and one language.
public struct Edition: Hashable, Codable, Sendable {
    /// The data group; `nil` is the catalog's main data.
    public var group: String?
    /// The language of the labels; `nil` is the catalog's own.
    public var language: String?

    /// Names an edition.
    public init(group: String? = nil, language: String? = nil) {
        self.group = group
        self.language = language
    }
}

/// The kind of file that a package has.
public struct Format: Hashable, Codable, Sendable {
    /// The name as the catalog writes it.
    public var name: String

    /// Names a format.
    public init(_ name: String) { self.name = name }

    /// A file in the MBTiles format.
    public static let mbtiles = Format("mbtiles")
    /// A file in the PMTiles format, version 3.
    public static let pmtiles = Format("pmtiles")
    /// An offline database of MapLibre Native.
    public static let maplibre = Format("maplibre")
    /// A file that is stored and not read, for example routing data.
    public static let opaque = Format("opaque")
}

/// The name of a region; the app chooses it.
public struct RegionID: Hashable, Codable, ExpressibleByStringLiteral, Sendable {
    /// The name.
    public var text: String

    /// Names a region.
    public init(_ text: String) { self.text = text }

    /// Names a region by a literal.
    public init(stringLiteral value: String) { text = value }
}

/// The number of a task; the store never gives it to a second task.
public struct TaskID: Hashable, Codable, Comparable, Sendable {
    /// The number, from 1.
    public var number: Int64

    /// Names a task.
    public init(number: Int64) { self.number = number }

    /// Earlier tasks come first.
    public static func < (left: TaskID, right: TaskID) -> Bool { left.number < right.number }
}
