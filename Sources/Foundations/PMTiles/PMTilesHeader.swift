public import Errors
public import TileBodies
public import Tiles

/// The first 127 bytes of a PMTiles file, version 3, field by field.
///
/// Source: the PMTiles version 3 specification (protomaps/PMTiles, `spec/v3`), section 3.
public struct PMTilesHeader: Sendable, Hashable {
    /// Bytes of a header.
    public static let size = 127
    /// Header and root directory end within this many bytes, so that one request fetches both.
    public static let rootEnd: UInt64 = 16_384

    /// A part of the file.
    public struct Section: Sendable, Hashable {
        /// Its first byte.
        public var offset: UInt64
        /// Its number of bytes.
        public var length: UInt64
        /// Makes a section from its parts.
        public init(offset: UInt64, length: UInt64) {
            self.offset = offset
            self.length = length
        }
        /// The byte after it; a decoded header's sections end within their file.
        public var end: UInt64 { offset + length }
    }

    /// How directories, metadata or tiles are packed; the codes of the specification.
    public enum Compression {
        /// Not packed.
        public static let none: UInt8 = 1
        /// Gzip.
        public static let gzip: UInt8 = 2

        /// What a code means; `nil` for one that this build cannot read.
        ///
        /// Tiles of unknown compression are taken as they are.
        static func coding(_ code: UInt8) -> BodyCoding? {
            switch code {
            case none: .identity
            case gzip: .gzip
            case 3: .brotli
            case 4: .zstd
            default: nil
            }
        }
    }

    /// The root directory.
    public var root = Section(offset: 0, length: 0)
    /// The metadata, a JSON object.
    public var metadata = Section(offset: 0, length: 0)
    /// The leaf directories; length 0 when there are none.
    public var leaves = Section(offset: 0, length: 0)
    /// The bodies.
    public var tiles = Section(offset: 0, length: 0)
    /// Whether the stored length of the bodies was no length, so that ``tiles`` goes to the end of the file.
    ///
    /// tilemaker up to 3.0 subtracts the place of the leaf directories without having any: 2^64 − 16,384.
    public private(set) var hasUnknownLength = false
    /// Tiles that have a body, counting each tile of a run; 0 = unknown.
    public var addressedTiles: UInt64 = 0
    /// Entries in all directories that are not pointers; 0 = unknown.
    public var tileEntries: UInt64 = 0
    /// Different bodies; 0 = unknown.
    public var tileContents: UInt64 = 0
    /// Whether bodies lie in the order of their tiles.
    public var isClustered = false
    /// How directories and metadata are packed.
    public var internalCompression: UInt8 = 0
    /// How bodies are packed.
    public var tileCompression: UInt8 = 0
    /// What bodies are; see ``format``.
    public var tileType: UInt8 = 0
    /// The shallowest zoom.
    public var minZoom: UInt8 = 0
    /// The deepest zoom.
    public var maxZoom: UInt8 = 0
    /// West, south, east, north in 10^-7 degrees.
    public var edges: [Int32] = [0, 0, 0, 0]
    /// Where a viewer should look first: the zoom.
    public var centerZoom: UInt8 = 0
    /// Where a viewer should look first: longitude and latitude in 10^-7 degrees.
    public var center: [Int32] = [0, 0]

    /// A header that says nothing.
    public init() {}

    /// Reads a header.
    ///
    /// - Throws: ``ArchiveError`` `.badArchive` when the bytes are no header or a section lies outside the file,
    ///   `.unsupported` for another version.
    public init(_ bytes: [UInt8], fileSize: UInt64, path: String) throws(ArchiveError) {
        // The headers of other versions have other lengths.
        guard let version = Self.version(bytes) else {
            throw ArchiveError(
                .badArchive, "'\(path)' is not a PMTiles file: it does not begin with the PMTiles signature.")
        }
        guard version == 3 else { throw Self.refusal(of: version, path) }
        guard bytes.count >= Self.size else {
            throw ArchiveError(
                .badArchive,
                "PMTiles file '\(path)' is truncated: it has \(fileSize) bytes, but a header has \(Self.size).")
        }
        func number(_ offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
        }
        func position(_ offset: Int) -> Int32 {
            Int32(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) })
        }
        var sections: [Section] = []
        for offset in [8, 24, 40, 56] {
            var section = Section(offset: number(offset), length: number(offset + 8))
            if offset == 56, Self.isUnknown(section), section.offset <= fileSize {
                section.length = fileSize - section.offset
                hasUnknownLength = true
            }
            let end = section.offset.addingReportingOverflow(section.length)
            guard !end.overflow, end.partialValue <= fileSize else {
                throw ArchiveError(
                    .badArchive, "PMTiles file '\(path)' is truncated: a section ends beyond its \(fileSize) bytes.")
            }
            sections.append(section)
        }
        (root, metadata, leaves, tiles) = (sections[0], sections[1], sections[2], sections[3])
        (addressedTiles, tileEntries, tileContents) = (number(72), number(80), number(88))
        isClustered = bytes[96] == 1
        internalCompression = bytes[97]
        tileCompression = bytes[98]
        tileType = bytes[99]
        (minZoom, maxZoom) = (bytes[100], bytes[101])
        edges = [102, 106, 110, 114].map(position)
        centerZoom = bytes[118]
        center = [119, 123].map(position)
    }

    /// A length that a subtraction below zero gave, after a place that can be one.
    private static func isUnknown(_ section: Section) -> Bool {
        section.length >= 0 &- (1 << 40) && 1..<(1 << 62) ~= section.offset
    }

    /// The version that the first bytes of a file say; `nil` when they are not those of a PMTiles file.
    ///
    /// Versions 1 and 2 begin with "PM" and two bytes of version (protomaps/PMTiles, `spec/v2`).
    public static func version(_ bytes: [UInt8]) -> Int? {
        if bytes.starts(with: "PMTiles".utf8) { return bytes.count > 7 ? Int(bytes[7]) : 3 }
        let isOld = bytes.starts(with: "PM".utf8) && bytes.count >= 10 && 1...2 ~= bytes[2] && bytes[3] == 0
        return isOld ? Int(bytes[2]) : nil
    }

    /// What drafts of version 3 have in place of the number 3: the digit, so that they begin with the text "PMTiles3".
    ///
    /// Everything else of their header and directories is as in the specification.
    public static let draftVersion = Int(UInt8(ascii: "3"))

    /// A version in words: `version 3`, `a draft of version 3`.
    public static func words(_ version: Int) -> String {
        version == draftVersion ? "a draft of version 3" : "version \(version)"
    }

    private static func refusal(of version: Int, _ path: String) -> ArchiveError {
        guard version != draftVersion else {
            // What is on a server is changed in a copy.
            let copy = path.contains("://") ? "COPY.pmtiles" : path
            return ArchiveError(
                .unsupported,
                "'\(path)' is a draft of PMTiles version 3: it begins with the text 'PMTiles3', and not with the number 3 in "
                    + "byte 7. \(copy == path ? "Make it" : "Download it, and make the copy") readable: "
                    + "printf '\\3' | dd of='\(copy)' bs=1 seek=7 conv=notrunc")
        }
        let remedy =
            version < 3
            ? "Convert it with the program 'pmtiles' of Protomaps: pmtiles convert OLD.pmtiles NEW.pmtiles."
            : "Write it again as version 3."
        return ArchiveError(
            .unsupported,
            "PMTiles file '\(path)' is of another version than 3: version \(version), which cannot be read. \(remedy)")
    }

    /// The 127 bytes.
    public var encoded: [UInt8] {
        func little(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        var bytes = Array("PMTiles".utf8) + [3]
        for section in [root, metadata, leaves, tiles] {
            bytes += little(section.offset, 8) + little(section.length, 8)
        }
        for count in [addressedTiles, tileEntries, tileContents] { bytes += little(count, 8) }
        bytes += [isClustered ? 1 : 0, internalCompression, tileCompression, tileType, minZoom, maxZoom]
        for edge in edges { bytes += little(UInt64(UInt32(bitPattern: edge)), 4) }
        bytes.append(centerZoom)
        for place in center { bytes += little(UInt64(UInt32(bitPattern: place)), 4) }
        return bytes
    }

    /// The zooms, limited to the deepest zoom of this build; `nil` if they are reversed.
    public var zooms: ZoomRange? { ZoomRange(min: Int(minZoom), max: min(Int(maxZoom), TileID.maxZoom)) }

    /// West, south, east, north in degrees.
    public var bounds: [Double] { edges.map { Double($0) / 1e7 } }

    /// The format of the bodies; `nil` if this build cannot read them.
    public var format: TileFormat? {
        get { TileFormat(pmtilesType: tileType) }
        set { tileType = newValue?.traits.pmtilesType ?? 0 }
    }

    /// The coding of tile bodies; `nil` when it cannot be read here.
    public var coding: BodyCoding? {
        tileCompression == 0 ? .identity : Compression.coding(tileCompression)
    }
}
