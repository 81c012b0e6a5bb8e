internal import Errors

extension TileFormat {
    /// Everything that Packhorse knows about a format.
    package final class Traits: Sendable {
        /// What messages call it.
        package let name: String
        /// What its files and tile addresses end in, lower case; the first is the usual one.
        package let suffixes: [String]
        /// Words that only metadata use for it, lower case.
        package let otherWords: [String]
        /// The media type that servers announce.
        package let mediaType: String
        /// Other media types for it, lower case.
        package let otherMediaTypes: [String]
        /// Its number in the header of PMTiles.
        package let pmtilesType: UInt8
        /// Reads the layers of a whole unpacked body; `nil` for a picture.
        package let layers: LayerReading?
        /// Whether single layers can be taken out of its bodies (``LayerChoice``).
        package let isCuttable: Bool
        /// How packages store its bodies: `.gzip` or `.identity`.
        package let coding: BodyCoding
        /// Whether the first bytes of a stored body are those of the format.
        package let begins: @Sendable (_ body: UnsafeRawBufferPointer) -> Bool
        /// Checks the structure of a whole unpacked body, which is not empty.
        package let scan: @Sendable (UnsafeRawBufferPointer) throws(TileBodiesError) -> Void
        /// Reads the size of a picture; `nil` for a vector format.
        let header: PictureHeader.Reading?

        /// Reads the layers of an unpacked body.
        package typealias LayerReading =
            @Sendable (_ body: UnsafeRawBufferPointer, _ isScanned: Bool) throws(TileBodiesError) -> VectorTileSummary

        /// Whether it has layers of features, of whichever encoding; else it is a picture.
        package var isVector: Bool { layers != nil }

        fileprivate init(
            name: String, suffixes: [String], otherWords: [String] = [], mediaType: String,
            otherMediaTypes: [String] = [], pmtilesType: UInt8, layers: LayerReading? = nil, isCuttable: Bool = false,
            coding: BodyCoding = .identity, begins: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool,
            scan: @escaping @Sendable (UnsafeRawBufferPointer) throws(TileBodiesError) -> Void,
            header: PictureHeader.Reading? = nil
        ) {
            self.name = name
            self.suffixes = suffixes
            self.otherWords = otherWords
            self.mediaType = mediaType
            self.otherMediaTypes = otherMediaTypes
            self.pmtilesType = pmtilesType
            self.layers = layers
            self.isCuttable = isCuttable
            self.coding = coding
            self.begins = begins
            self.scan = scan
            self.header = header
        }
    }

    /// Whether bodies have these bytes at these offsets.
    private static func bytes(_ parts: [Int: [UInt8]]) -> @Sendable (UnsafeRawBufferPointer) -> Bool {
        { body in parts.allSatisfy { offset, part in body.dropFirst(offset).starts(with: part) } }
    }

    private static let gzipBytes = bytes([0: [0x1f, 0x8b, 0x08]])

    /// The row of each format.
    private var row: Traits {
        switch self {
        case .mvt:
            Traits(
                name: "Mapbox vector tile", suffixes: ["pbf", "mvt"], otherWords: ["mbvt", "vector", "protobuf"],
                mediaType: "application/vnd.mapbox-vector-tile",
                otherMediaTypes: ["application/x-protobuf", "application/protobuf"], pmtilesType: 1,
                layers: { (body, isScanned) throws(TileBodiesError) in
                    try VectorTileSummary(body, isScanned: isScanned)
                }, isCuttable: true, coding: .gzip, begins: Self.gzipBytes, scan: VectorTileScanner.check)
        case .png:
            Traits(
                name: "PNG", suffixes: ["png"], mediaType: "image/png", otherMediaTypes: ["image/x-png"],
                pmtilesType: 2,
                begins: Self.bytes([0: [0x89, 0x50, 0x4e, 0x47]]), scan: PNGScanner.scan,
                header: PictureHeader.png)
        case .jpeg:
            Traits(
                name: "JPEG", suffixes: ["jpg", "jpeg"], mediaType: "image/jpeg",
                otherMediaTypes: ["image/jpg", "image/pjpeg"], pmtilesType: 3,
                begins: Self.bytes([0: [0xff, 0xd8, 0xff]]), scan: JPEGScanner.scan,
                header: PictureHeader.jpeg)
        case .webp:
            Traits(
                name: "WebP", suffixes: ["webp"], mediaType: "image/webp", pmtilesType: 4,
                begins: Self.bytes([0: Array("RIFF".utf8), 8: Array("WEBP".utf8)]), scan: WebPScanner.scan,
                header: PictureHeader.webp)
        case .avif:
            Traits(
                name: "AVIF", suffixes: ["avif"], mediaType: "image/avif", pmtilesType: 5, begins: AVIFScanner.begins,
                scan: AVIFScanner.scan, header: PictureHeader.avif)
        case .mlt:
            Traits(
                name: "MapLibre tile", suffixes: ["mlt"], mediaType: "application/vnd.maplibre-tile",
                otherMediaTypes: ["application/vnd.maplibre-vector-tile"], pmtilesType: 6,
                layers: { (body, _) throws(TileBodiesError) in VectorTileSummary(layers: try MLTScanner.summary(body))
                },
                coding: .gzip, begins: Self.gzipBytes, scan: MLTScanner.check)
        }
    }

    private static let table = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.row) })

    /// Everything that Packhorse knows about the format.
    package var traits: Traits { Self.table[self] ?? row }
}

extension TileFormat {
    /// All formats with their traits, for searches.
    private static let rows = allCases.map { (format: $0, traits: $0.traits) }

    /// The format for a word of metadata, the end of an address or a media type, in any case of letters.
    ///
    /// What other programs add to a word is passed over: a dot before it, parameters behind it, and the number that
    /// Mapnik and its kin write for colours or quality (`png256`, `jpeg80`, `png8:z=1`).
    package init?(word: String) {
        var word = word.lowercased().prefix { !":;?".contains($0) }
            .drop { $0.isWhitespace || $0 == "." || $0 == "\u{FEFF}" }
        while word.last?.isWhitespace == true { word.removeLast() }
        var bare = word
        while bare.last.map({ "0123456789".contains($0) }) == true { bare.removeLast() }
        guard let format = Self.named(String(word)) ?? Self.named(String(bare)) else { return nil }
        self = format
    }

    private static func named(_ word: String) -> TileFormat? {
        rows.first { _, traits in
            traits.suffixes.contains(word) || traits.otherWords.contains(word) || traits.mediaType == word
                || traits.otherMediaTypes.contains(word)
        }?.format
    }

    /// The format that the path of an address or file ends in, in any case of letters; `nil` for none.
    package init?(ofAddress address: String) {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: "."), path[dot...].utf8.count <= 8 else { return nil }
        let suffix = path[path.index(after: dot)...].lowercased()
        guard let found = Self.rows.first(where: { $0.traits.suffixes.contains(suffix) }) else { return nil }
        self = found.format
    }

    /// The format with this number in the header of PMTiles; `nil` for one that this build cannot read.
    package init?(pmtilesType: UInt8) {
        guard let found = Self.rows.first(where: { $0.traits.pmtilesType == pmtilesType }) else { return nil }
        self = found.format
    }

    /// The format whose stored bodies begin as these bytes do: gzip is taken for a Mapbox Vector Tile.
    package init?(beginning bytes: UnsafeRawBufferPointer) {
        guard let found = Self.rows.first(where: { $0.traits.begins(bytes) }) else { return nil }
        self = found.format
    }

    /// The format of a picture by its first bytes; `nil` for other bytes.
    package init?(pictureBeginning bytes: UnsafeRawBufferPointer) {
        guard let format = TileFormat(beginning: bytes), !format.traits.isVector else { return nil }
        self = format
    }

    /// The words for messages: `pbf, png, jpg, webp, avif, mlt`.
    package static let knownWords = allCases.map(\.rawValue).joined(separator: ", ")
}
