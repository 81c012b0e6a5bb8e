public import Errors

/// Decides whether bytes are a MapLibre Tile (MLT): the frame of all layers, and of each layer that is known the table of its columns and the
/// lengths of their streams.
///
/// No value is decoded.
///
/// A layer of another tag than 1 is stepped over, as decoders do. Cost: one pass over the headers; the streams themselves are not read.
/// - Source: maplibre/maplibre-tile-spec at f65b29ef, its decoders in C++ (`decoder.cpp`, `type_map.hpp`, `stream.cpp`) and Rust
///   (`decoder/layer.rs`, `decoder/root.rs`).
public enum MLTScanner {
    /// The most columns of a layer, those inside of structs included; real ones have some hundreds, and each takes memory here.
    public static let columnLimit = 8_192
    /// The tag of a layer whose structure is known: the equivalent of a layer of a Mapbox Vector Tile.
    static let knownTag: UInt64 = 1

    /// Scans an unpacked tile; no bytes is a tile without layers.
    ///
    /// - Returns: How many layers it has whose structure is known.
    /// - Throws: ``TileBodiesError`` `.badMLT`, or `.truncated` when it ends inside a field.
    public static func scan(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) -> Int {
        var count = 0
        try layers(of: bytes) { _ in count += 1 }
        return count
    }

    /// Checks a whole tile that is declared as MLT.
    ///
    /// Without a known layer, short bytes of any kind can have the frame of one: those of a Mapbox Vector Tile are refused.
    /// - Throws: ``TileBodiesError`` as ``scan(_:)`` does.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) {
        guard try scan(bytes) == 0, (try? VectorTileScanner.check(bytes)) != nil else { return }
        throw TileBodiesError(.badMLT, "the MapLibre tile of \(bytes.count) bytes is broken: it has no known layer")
    }

    /// Whether bytes without a declared format are an MLT: they have a layer whose structure is known.
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool { ((try? scan(bytes)) ?? 0) > 0 }

    /// The layers of a tile with their fields.
    static func summary(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) -> [VectorTileSummary.Layer] {
        var found: [VectorTileSummary.Layer] = []
        try layers(of: bytes) { layer in
            var result = VectorTileSummary.Layer()
            result.name = String(decoding: layer.name, as: UTF8.self)
            result.extent = layer.extent
            result.features = layer.features
            for column in layer.columns {
                for (name, type) in column.fields {
                    result.fields[name] = result.fields[name]?.merged(with: type) ?? type
                }
            }
            found.append(result)
        }
        return found
    }

    private static func layers(
        of bytes: UnsafeRawBufferPointer, _ each: (MLTLayer) -> Void
    ) throws(TileBodiesError) {
        guard var cursor = ByteCursor(bytes) else { return }
        do throws(ScanFault) {
            var count = 0
            while !cursor.isAtEnd {
                var body = try cursor.part(try cursor.number())
                guard !body.isAtEnd else { throw .emptyLayer }
                count += 1
                guard count <= VectorTileScanner.layerLimit else { throw .tooManyLayers }
                // One byte is enough for every tag that there is; a decoder in C++ takes more.
                if try body.varint() == knownTag { each(try MLTLayer(&body)) }
            }
        } catch {
            let code: TileBodiesError.Code = error == .truncated ? .truncated : .badMLT
            throw TileBodiesError(code, "the MapLibre tile of \(bytes.count) bytes is broken: \(error.words)")
        }
    }
}
