internal import TextFormats
public import TileBodies
public import Tiles

/// The metadata of a source: from a TileJSON document, or the metadata of an MBTiles or PMTiles file.
public struct SourceMetadata: Sendable, Hashable {
    /// Tile URL templates, absolute; only TileJSON has them.
    public var templates: [String] = []
    /// The archives that an index names.
    public var archives: [ArchivePart] = []
    /// The source of the newest build, which takes the place of a ``SourceScheme/latest``.
    public var newest: TileSource?
    /// What is known of that build.
    public var build: SourceBuild?
    /// The format, if the source declares it.
    public var format: TileFormat?
    /// Whether ``format`` is that of tiles that were read, and no mere statement.
    public var isFormatOfTiles = false
    /// Why the format is not known, of an archive that was read, in words that follow its name.
    public var formatFault: String?
    /// What of the source is not as it declares, one thing in a sentence.
    public var remarks: [String] = []
    /// The format that the source declares, if this build cannot read it.
    public var foreignFormat: ForeignFormat?
    /// The zooms, if the source declares it.
    public var zooms: ZoomRange?
    /// The area, if the source declares it; `0,0,0,0` counts as unknown.
    public var bounds: BoundingBox?
    /// A human name.
    public var name: String?
    /// The attribution text or HTML.
    public var attribution: String?
    /// A description.
    public var description: String?
    /// `vector_layers` as canonical JSON text.
    public var vectorLayers: String?
    /// How pictures encode heights, if the source declares it.
    public var encoding: TerrainEncoding?
    /// The width and height at which pictures are shown, in pixels, if the source declares 256 or 512.
    public var tileSize: Int?
    /// From which edge the templates' rows are counted.
    public var rowOrder: RowOrder?
    /// Whether its tiles are of several formats of pictures.
    public var mixesPictures = false
    /// How packages of it are cut into tile packs.
    public var packs: PackScheme?

    /// Nothing known.
    public init() {}

    /// Reads `vector_layers`, `encoding` and `tileSize` from MBTiles' `json` row, PMTiles' metadata or TileJSON, and texts that are
    /// still missing.
    ///
    /// Anything else, or no JSON at all, changes nothing.
    public mutating func merge(metadataJSON: [UInt8]) {
        // Some writers put a byte order mark before it.
        let text = metadataJSON.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(metadataJSON.dropFirst(3)) : metadataJSON
        guard case .object(let values)? = JSONValue(json: text) else { return }
        if vectorLayers == nil, case .array? = values["vector_layers"] {
            // Third-party metadata that breaks a rule is left out.
            vectorLayers = values["vector_layers"].flatMap { try? $0.canonicalText() }
        }
        // Third-party metadata that breaks a rule is left out.
        packs = packs ?? values[PackScheme.sourceKey].flatMap { try? PackScheme(bands: $0) }
        encoding = encoding ?? Self.text(values["encoding"]).flatMap(TerrainEncoding.init(rawValue:))
        if tileSize == nil, case .number(let size)? = values["tileSize"], size == 256 || size == 512 {
            tileSize = Int(size)
        }
        name = name ?? Self.text(values["name"])
        attribution = attribution ?? Self.text(values["attribution"])
        description = description ?? Self.text(values["description"])
    }

    static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value, !text.isEmpty else { return nil }
        return text
    }

    /// Takes the zooms of the tiles where they go beyond the declared ones, with a remark.
    public mutating func widenZooms(to found: ZoomRange?) {
        guard let found else { return }
        guard let stated = zooms else {
            zooms = found
            return
        }
        guard found.min < stated.min || found.max > stated.max else { return }
        remarks.append(
            "The archive says zooms \(stated), but has tiles of zooms \(found); those of its tiles are taken.")
        zooms = ZoomRange(min: min(stated.min, found.min), max: max(stated.max, found.max))
    }

    /// A box of four numbers; `nil` for other text, and for 0,0,0,0, which many writers use for "unknown".
    public static func bounds(_ numbers: [Double]) -> BoundingBox? {
        guard numbers.count == 4, !numbers.allSatisfy({ $0 == 0 }) else { return nil }
        // Writers round outwards past the edge of the world; a box is a hint, so the numbers are clamped, not refused.
        let cut = [
            min(max(numbers[0], -180), 180), min(max(numbers[1], -90), 90), min(max(numbers[2], -180), 180),
            min(max(numbers[3], -90), 90),
        ]
        // Third-party metadata that breaks a rule is left out.
        return try? BoundingBox(west: cut[0], south: cut[1], east: cut[2], north: cut[3])
    }
}
