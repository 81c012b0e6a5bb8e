import TileBodies
import Tiles
import Tilesets

/// The first 127 bytes of a PMTiles file, version 3.
struct PMTilesHeader {
    static let size = 127

    /// A part of the file.
    struct Section {
        let offset: UInt64
        let length: UInt64
    }

    let root: Section
    let metadata: Section
    let leaves: Section
    let tiles: Section
    let internalCompression: UInt8
    let tileCompression: UInt8
    let tileType: UInt8
    let zooms: ZoomRange?
    let bounds: [Double]

    /// - Throws: ``OriginsError`` `.badArchive` when the bytes are no header or a section lies outside the file.
    init(_ bytes: [UInt8], fileSize: UInt64, path: String) throws(OriginsError) {
        guard bytes.count >= Self.size, bytes.starts(with: "PMTiles".utf8) else {
            throw OriginsError(.badArchive, "'\(path)' is no PMTiles file: it does not begin with its mark.")
        }
        guard bytes[7] == 3 else {
            throw OriginsError(
                .unsupported, "PMTiles file '\(path)' has version \(bytes[7]); this build reads version 3. Convert it.")
        }
        func number(_ offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
        }
        func degrees(_ offset: Int) -> Double {
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
            return Double(Int32(bitPattern: bits)) / 1e7
        }
        var sections: [Section] = []
        for offset in [8, 24, 40, 56] {
            let section = Section(offset: number(offset), length: number(offset + 8))
            let end = section.offset.addingReportingOverflow(section.length)
            guard !end.overflow, end.partialValue <= fileSize else {
                throw OriginsError(
                    .badArchive, "PMTiles file '\(path)' is cut short: a section ends beyond its \(fileSize) bytes.")
            }
            sections.append(section)
        }
        (root, metadata, leaves, tiles) = (sections[0], sections[1], sections[2], sections[3])
        internalCompression = bytes[97]
        tileCompression = bytes[98]
        tileType = bytes[99]
        zooms = ZoomRange(min: Int(bytes[100]), max: min(Int(bytes[101]), TileID.maxZoom))
        bounds = [degrees(102), degrees(106), degrees(110), degrees(114)]
    }

    var format: TileFormat? {
        switch tileType {
        case 1: .mvt
        case 2: .png
        case 3: .jpeg
        case 4: .webp
        default: nil
        }
    }

    /// The coding of tile bodies; `nil` when it cannot be read here.
    var coding: BodyCoding? {
        switch tileCompression {
        case 0, 1: .identity
        case 2: .gzip
        default: nil
        }
    }
}
