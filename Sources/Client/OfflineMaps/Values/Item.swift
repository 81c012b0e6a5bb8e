/// Something that the store can hold.
public enum Item: Hashable, Codable, Sendable {
    /// A whole package of the catalog, in one format.
    case package(String, Edition = Edition(), Format = .mbtiles)
    /// All tile packs of a package.
    case packs(String, Edition = Edition())
    /// A region that was registered with the store.
    case region(RegionID)
    /// A style pack: the style, its sprites and its glyphs.
    case style(String)
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
