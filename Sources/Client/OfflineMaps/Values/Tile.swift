public import Foundation

/// What the store says about a tile.
public enum TileAnswer: Sendable {
    /// The tile.
    case found(Tile)
    /// The server has no such tile.
    case empty
    /// The tile is not on this device.
    case absent
}

/// A tile that was found.
public struct Tile: Sendable {
    /// The bytes, as stored.
    public var body: Data
    /// How ``body`` is compressed.
    public var coding: Coding
    /// The media type of the uncompressed bytes.
    public var mediaType: String
    /// From where the tile is.
    public var origin: Origin
    /// Whether the tile has expired; it may still be drawn.
    public var isStale: Bool
    /// Tells the store that the bytes are wrong.
    var reportDamage: (@Sendable () -> Void)?

    /// Makes a tile of its parts.
    public init(body: Data, coding: Coding, mediaType: String, origin: Origin, isStale: Bool = false) {
        self.body = body
        self.coding = coding
        self.mediaType = mediaType
        self.origin = origin
        self.isStale = isStale
    }
}

/// How the bytes of a body are compressed.
public enum Coding: String, Codable, Sendable {
    case plain, gzip, zlib
}

/// From where a tile is.
public struct Origin: Hashable, Sendable {
    /// The item that holds it.
    public var item: Item?
    /// The tileset.
    public var tileset: String?
    /// The version of the item.
    public var version: Int32?
    /// The date of the data.
    public var dataDate: String?
    /// The names of the sources that a map must show.
    public var attribution: String?
    /// Whether it comes from the ambient cache.
    public var isAmbient: Bool

    /// Makes an origin of its parts.
    public init(
        item: Item? = nil, tileset: String? = nil, version: Int32? = nil, dataDate: String? = nil,
        attribution: String? = nil, isAmbient: Bool = false
    ) {
        self.item = item
        self.tileset = tileset
        self.version = version
        self.dataDate = dataDate
        self.attribution = attribution
        self.isAmbient = isAmbient
    }
}

/// Whether a tile is on the device.
public enum TileStatus: Sendable {
    /// Neither the tile nor a part of it.
    case missing
    /// The tile, without all tiles below it.
    case partial
    /// The tile and all tiles below it, down to the last zoom.
    case full
}
