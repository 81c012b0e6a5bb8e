public import Errors

/// The content of a vector tile: its layers, how many features each has, and the fields they use with their types.
public struct VectorTileSummary: Sendable, Hashable {
    /// The type of a field, as it is usually written in `vector_layers` of TileJSON.
    public enum FieldType: String, Sendable, Hashable, Codable {
        /// Text.
        case string = "String"
        /// Any integer or floating-point number.
        case number = "Number"
        /// True or false.
        case boolean = "Boolean"
        /// Different types in different features.
        case mixed = "Mixed"

        /// The type of a field that has values of both types.
        public func merged(with other: FieldType) -> FieldType { self == other ? self : .mixed }

        /// From the bits of the types of its values; `nil` when there are none.
        fileprivate init?(bits: UInt8) {
            switch bits {
            case 0: return nil
            case 1: self = .string
            case 2: self = .number
            case 4: self = .boolean
            default: self = .mixed
            }
        }
    }

    /// One layer.
    public struct Layer: Sendable, Hashable {
        /// The name, unique in the tile.
        public var name = ""
        /// Version of the specification of Mapbox Vector Tiles, 1 or 2.
        public var version = 1
        /// Units per tile side.
        public var extent = 4096
        /// Number of features.
        public var features = 0
        /// The fields that features use, by name.
        public var fields: [String: FieldType] = [:]
    }

    /// The layers in the order of the tile.
    public let layers: [Layer]

    init(layers: [Layer]) { self.layers = layers }

    /// Reads an unpacked Mapbox Vector Tile.
    ///
    /// - Parameter isScanned: Whether ``VectorTileScanner`` has accepted it. For other bytes the result is an error or
    ///   undefined.
    /// - Throws: ``TileBodiesError`` `.badMVT` or `.truncated`, as ``VectorTileScanner`` does.
    public init(_ bytes: UnsafeRawBufferPointer, isScanned: Bool) throws(TileBodiesError) {
        if !isScanned { _ = try VectorTileScanner.scan(bytes) }
        do {
            layers = try Self.read(bytes)
        } catch {
            throw TileBodiesError(.badMVT, "the vector tile is broken: \(error.words)")
        }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) -> [Layer] {
        var layers: [Layer] = []
        guard var cursor = ByteCursor(bytes) else { return layers }
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            if key == 3 << 3 | 2 { layers.append(try layer(try cursor.delimited())) } else { try cursor.skipField(key) }
        }
        return layers
    }

    private static func layer(_ whole: ByteCursor) throws(ScanFault) -> Layer {
        var result = Layer()
        var cursor = whole
        var keys: [String] = []
        var types: [UInt8] = []
        var features: [ByteCursor] = []
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            switch key {
            case 1 << 3 | 2: result.name = String(decoding: try cursor.delimited().rest, as: UTF8.self)
            case 2 << 3 | 2: features.append(try cursor.delimited())
            case 3 << 3 | 2: keys.append(String(decoding: try cursor.delimited().rest, as: UTF8.self))
            case 4 << 3 | 2: types.append(try type(try cursor.delimited()))
            case 5 << 3: result.extent = Int(UInt32(truncatingIfNeeded: try cursor.varint()))
            case 15 << 3: result.version = Int(truncatingIfNeeded: try cursor.varint())
            default: try cursor.skipField(key)
            }
        }
        result.features = features.count
        var used = [UInt8](repeating: 0, count: keys.count)
        // Keys and values may follow the features in the tile, so the pairs are looked up last.
        for feature in features {
            var cursor = feature
            while !cursor.isAtEnd {
                let key = try cursor.varint()
                guard key == 2 << 3 | 2 else {
                    try cursor.skipField(key)
                    continue
                }
                var pairs = try cursor.delimited()
                while !pairs.isAtEnd {
                    let name = try pairs.varint()
                    let value = try pairs.varint()
                    guard name < UInt64(used.count), value < UInt64(types.count) else { throw .tags }
                    used[Int(name)] |= types[Int(value)]
                }
            }
        }
        for (field, bits) in zip(keys, used) {
            guard let type = FieldType(bits: bits) else { continue }
            result.fields[field] = result.fields[field]?.merged(with: type) ?? type
        }
        return result
    }

    /// The bit of a value's type, 0 for a value without one; as bits, because a tile refers to its values far more often than it has any.
    private static func type(_ whole: ByteCursor) throws(ScanFault) -> UInt8 {
        var result: UInt8 = 0
        var cursor = whole
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            try cursor.skipField(key)
            switch key >> 3 {
            case 1: result = 1
            case 2...6: result = 2
            case 7: result = 4
            default: break
            }
        }
        return result
    }
}
