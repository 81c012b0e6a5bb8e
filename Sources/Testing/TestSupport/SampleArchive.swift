/// Small PMTiles archives, made byte by byte.
public enum SampleArchive {
    /// An archive of all tiles of zooms 0 to `zoom`, each the same vector tile with a layer of this name.
    ///
    /// - Parameters:
    ///   - layer: 1 to 100 ASCII letters.
    ///   - zoom: 0 to 10.
    ///   - padding: Further bytes between the directory and the metadata, which lie beyond the first 16 KiB then.
    public static func bytes(layer: String, zoom: Int = 2, padding: Int = 0) -> [UInt8] {
        let body = tile(layer: layer)
        let count = (0...zoom).reduce(0) { $0 + 1 << (2 * $1) }
        // One entry: id 0, a run over all tiles, the body at offset 0.
        let root = varint(1) + varint(0) + varint(count) + varint(body.count) + varint(1)
        let metadata = Array(#"{"name":"\#(layer)","vector_layers":[{"id":"\#(layer)","fields":{}}]}"#.utf8)
        var header = Array("PMTiles".utf8) + [3]
        let start = 127 + root.count + padding
        for (offset, length) in [
            (127, root.count), (start, metadata.count), (start + metadata.count, 0),
            (start + metadata.count, body.count), (count, 1),
        ] { header += little(UInt64(offset), 8) + little(UInt64(length), 8) }
        // Contents, clustered, no packing twice, vector tiles, zooms.
        header += little(1, 8) + [1, 1, 1, 1, 0, UInt8(zoom)]
        for edge: Int32 in [-1_800_000_000, -850_511_287, 1_800_000_000, 850_511_287] {
            header += little(UInt64(UInt32(bitPattern: edge)), 4)
        }
        header += [0] + [UInt8](repeating: 0, count: 8)
        return header + root + [UInt8](repeating: 0xEE, count: padding) + metadata + body
    }

    /// A vector tile of one point in a layer of this name.
    public static func tile(layer: String) -> [UInt8] {
        let name = Array(layer.utf8)
        let feature: [UInt8] = [0x18, 1, 0x22, 3, 9, 50, 34]
        let content =
            [0x0A, UInt8(name.count)] + name + [0x12, UInt8(feature.count)] + feature + [0x28, 0x80, 0x20, 0x78, 2]
        return [0x1A, UInt8(content.count)] + content
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var (rest, bytes) = (value, [UInt8]())
        while rest > 127 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
