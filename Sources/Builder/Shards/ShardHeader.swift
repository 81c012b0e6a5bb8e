import Errors
internal import Files
public import Tiles

/// What a shard is about: written first, so that a shard is self-describing.
public struct ShardHeader: Hashable, Sendable {
    /// The id of the tileset the bodies belong to: 1...255 bytes of UTF-8.
    public let tileset: String
    /// The tile above (or equal to) every tile of the shard.
    public let cell: TileID
    /// The zooms the shard's tiles may have.
    public let zooms: ZoomRange

    /// Makes a header from its parts.
    public init(tileset: String, cell: TileID, zooms: ZoomRange) {
        self.tileset = tileset
        self.cell = cell
        self.zooms = zooms
    }

    /// Whether a tile may be in the shard.
    public func admits(_ tile: TileID) -> Bool { zooms.contains(tile.zoom) && cell.contains(tile) }

    /// The ids (``TileID/hilbertID``) of all tiles that may be in the shard: a range for each zoom, ascending.
    ///
    /// The tiles of a zoom below the cell follow one another along the curve.
    var ids: [Range<UInt64>] {
        guard cell.zoom <= zooms.max else { return [] }
        return (max(cell.zoom, zooms.min)...zooms.max).map { zoom in
            let depth = UInt64(2 * (zoom - cell.zoom))
            let first = ShardMap.firstID(ofZoom: zoom) + (cell.hilbertPlace << depth)
            return first..<first + (1 << depth)
        }
    }

    static let signature = Array("PKHSHARD".utf8)
    static let version: UInt16 = 1
    static let skippableMagic: UInt32 = 0x184D_2A50
    /// Magic, length, signature, version, zooms, cell and the shortest tileset id.
    static let smallest = 8 + 8 + 2 + 3 + 8 + 1 + 1
    static let largest = smallest + ShardLimits.tileset - 1

    /// The header as the LZ4 skippable frame that begins the file.
    func encoded() throws(StorageError) -> [UInt8] {
        let id = Array(tileset.utf8)
        guard 1...ShardLimits.tileset ~= id.count else {
            throw StorageError(
                .limitExceeded, "The tileset id has \(id.count) bytes; a shard takes 1 to \(ShardLimits.tileset).")
        }
        var bytes: [UInt8] = []
        bytes.append(little: Self.skippableMagic)
        bytes.append(little: UInt32(Self.smallest - 8 - 1 + id.count))
        bytes += Self.signature
        bytes.append(little: Self.version)
        bytes += [UInt8(zooms.min), UInt8(zooms.max), UInt8(cell.zoom)]
        bytes.append(little: UInt32(cell.x))
        bytes.append(little: UInt32(cell.y))
        bytes.append(UInt8(id.count))
        return bytes + id
    }

    /// Reads the frame; `bytes` is all of it and nothing more.
    init(decoding bytes: [UInt8], path: String) throws(StorageError) {
        var reader = ByteReader(bytes[...])
        guard reader.uint32() == Self.skippableMagic, reader.uint32() == UInt32(bytes.count - 8),
            reader.bytes(8).map(Array.init) == Self.signature
        else {
            throw StorageError(.notAShard, "'\(path)' does not begin with a Packhorse shard header.")
        }
        guard let version = reader.uint16(), version == Self.version else {
            throw StorageError(
                .unsupportedVersion,
                "'\(path)' has an unknown shard format version; this build reads version \(Self.version). Use the build that wrote it."
            )
        }
        guard let least = reader.uint8(), let most = reader.uint8(), let zoom = reader.uint8(),
            let x = reader.uint32(), let y = reader.uint32(), let length = reader.uint8(),
            let id = reader.bytes(Int(length)), length > 0, reader.remaining == 0,
            let zooms = ZoomRange(min: Int(least), max: Int(most)),
            let cell = TileID(zoom: Int(zoom), x: Int(x), y: Int(y)),
            let tileset = String(validating: id, as: UTF8.self)
        else {
            throw StorageError(.corrupt, "'\(path)' has a damaged shard header. Fetch this batch again.")
        }
        self.init(tileset: tileset, cell: cell, zooms: zooms)
    }
}
