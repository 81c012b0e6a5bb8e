import Errors
internal import TextFormats

/// Which layers of vector tiles are kept.
public struct LayerChoice: Sendable, Hashable {
    private let names: Set<[UInt8]>

    /// - Parameter names: The layers to keep; all others go.
    public init(_ names: [String]) {
        self.names = Set(names.map { Array($0.utf8) })
    }

    /// The tile without the layers that are not kept: the others byte for byte, in their order.
    ///
    /// - Parameter tile: An unpacked tile that ``VectorTileScanner`` has accepted.
    /// - Returns: `nil` when all its layers are kept; no bytes when none is left, or it had none.
    func kept(of tile: UnsafeRawBufferPointer) throws(TileBodiesError) -> [UInt8]? {
        do throws(ScanFault) {
            return try cut(tile)
        } catch {
            throw TileBodiesError(
                .badMVT, "the vector tile of \(Units.count(tile.count, of: "byte")) is broken: \(error.words)")
        }
    }

    private func cut(_ tile: UnsafeRawBufferPointer) throws(ScanFault) -> [UInt8]? {
        guard var cursor = ByteCursor(tile) else { return [] }
        var result: [UInt8] = []
        var (kept, dropped) = (0, 0)
        while !cursor.isAtEnd {
            let field = cursor.rest
            let key = try cursor.varint()
            if key == 3 << 3 | 2 {
                guard try isKept(try cursor.delimited()) else {
                    dropped += 1
                    continue
                }
                kept += 1
            } else {
                try cursor.skipField(key)
            }
            result += field.prefix(field.count - cursor.remaining)
        }
        if kept == 0 { return [] }
        return dropped == 0 ? nil : result
    }

    private func isKept(_ layer: ByteCursor) throws(ScanFault) -> Bool {
        var cursor = layer
        var isKept = false
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            // If a field occurs twice, the last one counts, as for every reader of Protocol Buffers.
            if key == 1 << 3 | 2 {
                isKept = names.contains(Array(try cursor.delimited().rest))
            } else {
                try cursor.skipField(key)
            }
        }
        return isKept
    }
}
