/// A build of a PMTiles archive whose tiles have versions, for tests of lists of blocks.
///
/// It has all tiles of its zooms, each a vector tile with a layer `a` and some hundred bytes of text that do not compress well; every 40th has
/// the body of the first one. Bodies lie in the order of their tiles, and directories are leaves of 500 entries.
public struct BlockArchive: Sendable {
    /// The first tile of each body and the body, ascending.
    public let entries: [(tile: UInt64, body: [UInt8])]
    /// The file.
    public let bytes: [UInt8]

    /// An archive of the zooms 0 to `zoom`.
    ///
    /// - Parameter version: Of the tile with an id; another one is another body.
    public init(zoom: Int, version: (UInt64) -> UInt64) {
        let count = (0...UInt64(zoom)).reduce(UInt64(0)) { $0 + 1 << (2 * $1) }
        var entries: [(tile: UInt64, body: [UInt8])] = []
        var places: [(tile: UInt64, offset: Int, length: Int)] = []
        var offset = 0
        for id in 0..<count {
            if id > 0, id.isMultiple(of: 40) {
                places.append((id, 0, entries[0].body.count))
                continue
            }
            let body = Self.tile(id, version(id))
            entries.append((id, body))
            places.append((id, offset, body.count))
            offset += body.count
        }
        self.entries = entries
        bytes = Self.file(places, entries.flatMap(\.body), zoom: zoom)
    }

    /// Its list of blocks.
    public func list(blockSize: Int, members: [String: String] = [:], wrong: Set<Int> = []) -> [UInt8] {
        SyncList.bytes(of: entries, blockSize: blockSize, members: members, wrong: wrong)
    }

    /// A tile of 300 to 1,000 bytes.
    private static func tile(_ id: UInt64, _ version: UInt64) -> [UInt8] {
        var state = (id &* 0x9E37_79B9_7F4A_7C15 ^ version &* 0xD1B5_4A32_D192_ED03) | 1
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        let text = (0..<300 + Int(next() % 700)).map { _ in UInt8(0x21 + next() % 94) }
        func field(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag] + SyncList.varint(UInt64(content.count)) + content
        }
        // A point with one attribute.
        let feature: [UInt8] = [0x12, 2, 0, 0, 0x18, 1, 0x22, 3, 9, 50, 34]
        let layer =
            field(0x0A, [0x61]) + field(0x12, feature) + field(0x1A, [0x6B]) + field(0x22, field(0x0A, text))
            + [0x28, 0x80, 0x20, 0x78, 2]
        return field(0x1A, layer)
    }

    private static func file(
        _ places: [(tile: UInt64, offset: Int, length: Int)], _ data: [UInt8], zoom: Int
    ) -> [UInt8] {
        var leaves: [UInt8] = []
        var pointers: [(tile: UInt64, offset: Int, length: Int)] = []
        for start in stride(from: 0, to: places.count, by: 500) {
            let leaf = directory(Array(places[start..<min(start + 500, places.count)]), run: 1)
            pointers.append((places[start].tile, leaves.count, leaf.count))
            leaves += leaf
        }
        let root = directory(pointers, run: 0)
        let metadata = Array(#"{"vector_layers":[{"id":"a","fields":{"k":"String"}}]}"#.utf8)
        let start = 127 + root.count
        var header = Array("PMTiles".utf8) + [3]
        for (offset, length) in [
            (127, root.count), (start, metadata.count), (start + metadata.count, leaves.count),
            (start + metadata.count + leaves.count, data.count), (places.count, places.count),
        ] { header += SyncList.little(UInt64(offset)) + SyncList.little(UInt64(length)) }
        // Contents, clustered, no packing twice, vector tiles, zooms.
        header += SyncList.little(0) + [1, 1, 1, 1, 0, UInt8(zoom)]
        for edge: Int32 in [-1_800_000_000, -850_511_287, 1_800_000_000, 850_511_287] {
            header += SyncList.little(UInt64(UInt32(bitPattern: edge))).prefix(4)
        }
        header += [0] + [UInt8](repeating: 0, count: 8)
        return header + root + metadata + leaves + data
    }

    /// A directory as columns.
    private static func directory(
        _ entries: [(tile: UInt64, offset: Int, length: Int)], run: UInt64
    ) -> [UInt8] {
        var (bytes, last) = (SyncList.varint(UInt64(entries.count)), UInt64(0))
        for entry in entries {
            bytes += SyncList.varint(entry.tile - last)
            last = entry.tile
        }
        for _ in entries { bytes += SyncList.varint(run) }
        for entry in entries { bytes += SyncList.varint(UInt64(entry.length)) }
        var end = -1
        for entry in entries {
            bytes += SyncList.varint(entry.offset == end ? 0 : UInt64(entry.offset) + 1)
            end = entry.offset + entry.length
        }
        return bytes
    }
}
