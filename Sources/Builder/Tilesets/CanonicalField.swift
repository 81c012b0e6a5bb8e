import Errors
import Tiles

/// The name of a member of the canonical form.
struct CanonicalKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringLiteral name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// A member of a tileset's canonical form, written and read by the same row.
///
/// The source's members are in ``SourceRow/key``. Workers know of a tileset what stands in these rows, and nothing else.
struct CanonicalField: Sendable {
    let key: String
    let write: @Sendable (Tileset, inout KeyedEncodingContainer<CanonicalKey>) throws -> Void
    let read: @Sendable (inout Tileset, KeyedDecodingContainer<CanonicalKey>) throws -> Void

    static let all: [CanonicalField] = [
        CanonicalField("id", \.id),
        CanonicalField("name", optional: \.name),
        CanonicalField("scheme", \.rowOrder),
        CanonicalField("format", \.format),
        CanonicalField("minzoom", write: { try $1.encode($0.zooms.min, forKey: "minzoom") }, read: readZooms),
        CanonicalField("maxzoom", write: { try $1.encode($0.zooms.max, forKey: "maxzoom") }, read: readZooms),
        CanonicalField(
            "bounds",
            write: {
                let numbers = $0.bounds.map { [$0.west, $0.south, $0.east, $0.north] }
                try $1.encodeIfPresent(numbers, forKey: "bounds")
            },
            read: {
                let numbers = try $1.decodeIfPresent([Double].self, forKey: "bounds")
                $0.bounds = numbers.flatMap(SourceMetadata.bounds)
            }),
        CanonicalField("attribution", optional: \.attribution),
        CanonicalField("description", optional: \.description),
        CanonicalField("vectorLayers", optional: \.vectorLayers),
        CanonicalField("layers", optional: \.layers),
        CanonicalField("encoding", optional: \.encoding),
        CanonicalField("tileSize", optional: \.tileSize),
        CanonicalField("isTileSizeChecked", optional: \.isTileSizeChecked),
        CanonicalField("overfetch", optional: \.overfetch),
        CanonicalField("sync", optional: \.sync),
        CanonicalField("emptyStatuses", optional: \.emptyStatuses),
        CanonicalField("reject", optional: \.reject),
        CanonicalField("mixesPictures", optional: \.mixesPictures),
        CanonicalField("headers", \.headers),
        CanonicalField("concurrency", \.politeness.concurrency),
        CanonicalField("requestsPerSecond", optional: \.politeness.requestsPerSecond),
        CanonicalField("bytesPerSecond", optional: \.politeness.bytesPerSecond),
        CanonicalField("userAgent", optional: \.politeness.userAgent),
        CanonicalField("contact", optional: \.politeness.contact),
        CanonicalField("connectSeconds", \.politeness.connectSeconds),
        CanonicalField("totalSeconds", \.politeness.totalSeconds),
        CanonicalField("stallSeconds", \.politeness.stallSeconds),
        CanonicalField("http2", \.http2),
        CanonicalField("maxTileBytes", \.maxTileBytes),
        CanonicalField("language", optional: \.language),
        CanonicalField("keyEnvironment", optional: \.keyEnvironment),
        CanonicalField("build", optional: \.build),
    ]

    /// A value that every tileset has.
    private init<Value: Codable & Sendable>(_ key: String, _ path: any WritableKeyPath<Tileset, Value> & Sendable) {
        self.key = key
        write = { try $1.encode($0[keyPath: path], forKey: CanonicalKey(key)) }
        read = { $0[keyPath: path] = try $1.decode(Value.self, forKey: CanonicalKey(key)) }
    }

    /// A value that is left out when the tileset has none.
    private init<Value: Codable & Sendable>(
        _ key: String, optional path: any WritableKeyPath<Tileset, Value?> & Sendable
    ) {
        self.key = key
        write = { try $1.encodeIfPresent($0[keyPath: path], forKey: CanonicalKey(key)) }
        read = { $0[keyPath: path] = try $1.decodeIfPresent(Value.self, forKey: CanonicalKey(key)) }
    }

    /// A value that is computed from the tileset's.
    private init(
        _ key: String,
        write: @escaping @Sendable (Tileset, inout KeyedEncodingContainer<CanonicalKey>) throws -> Void,
        read: @escaping @Sendable (inout Tileset, KeyedDecodingContainer<CanonicalKey>) throws -> Void
    ) {
        (self.key, self.write, self.read) = (key, write, read)
    }

    private static func readZooms(
        _ tileset: inout Tileset, _ members: KeyedDecodingContainer<CanonicalKey>
    ) throws {
        let low = try members.decode(Int.self, forKey: "minzoom")
        guard let zooms = ZoomRange(min: low, max: try members.decode(Int.self, forKey: "maxzoom")) else {
            throw TilesetsError(.badValue, "The tileset's description has no usable zooms.")
        }
        tileset.zooms = zooms
    }
}
