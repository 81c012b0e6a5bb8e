public import Foundation

/// A style, TileJSON, tile, glyph range or sprite that a renderer asked for.
public struct Resource: Sendable {
    /// The bytes, as stored.
    public var body: Data
    /// The media type of the uncompressed bytes.
    public var mediaType: String
    /// How ``body`` is compressed.
    public var coding: Coding
    /// The ETag.
    public var etag: String?
    /// Whether it has expired; it may still be used.
    public var isStale: Bool
    /// Whether the server has no content for it (204).
    public var isEmpty: Bool
    /// Tells the store that the bytes are wrong.
    var reportDamage: (@Sendable () -> Void)?

    /// Makes a resource of its parts.
    public init(
        body: Data, mediaType: String, coding: Coding = .plain, etag: String? = nil, isStale: Bool = false,
        isEmpty: Bool = false
    ) {
        self.body = body
        self.mediaType = mediaType
        self.coding = coding
        self.etag = etag
        self.isStale = isStale
        self.isEmpty = isEmpty
    }
}

/// Until when a resource that an app brings is fresh.
public struct Freshness: Hashable, Sendable {
    /// When the server changed it.
    public var modified: Date?
    /// When it becomes stale.
    public var expires: Date?
    /// The server's ETag.
    public var eTag: String?
    /// Whether the server has to be asked, while it can be, before a stale body is used.
    public var mustRevalidate = false

    /// Makes a freshness that says nothing.
    public init() {}
}

/// A style of the catalog.
public struct StyleInfo: Hashable, Sendable {
    /// The id.
    public var id: String
    /// The name for people.
    public var name: String?
    /// The version.
    public var version: Int32
    /// The bytes of its pack.
    public var size: UInt64

    /// Makes a style's description of its parts.
    public init(id: String, name: String? = nil, version: Int32, size: UInt64) {
        self.id = id
        self.name = name
        self.version = version
        self.size = size
    }
}
