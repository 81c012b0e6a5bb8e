/// A list of tiles that changed, one `z/x/y` a line with rows from the north, as osm2pgsql and imposm write it.
package struct TileList: Sendable {
    /// What is wrong with a line.
    package struct Fault: Error {
        /// Counted from 1.
        package let line: Int
        /// The line, at most 60 bytes of it.
        package let text: String
    }

    private var tiles: [TileID] = []
    private var deepest = 0
    private var line = 0

    /// An empty list.
    package init() {}

    /// How many tiles are listed, repetitions included.
    package var count: Int { tiles.count }

    /// Adds the lines of a text.
    ///
    /// Empty lines and those that begin with `#` are passed over, and spaces around the tile.
    ///
    /// - Throws: ``Fault`` for another line, and for a tile that does not exist or is deeper than zoom 22.
    package mutating func add(_ text: [UInt8]) throws(Fault) {
        line = 0
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            line += 1
            try add(text[start..<end])
            start = end + 1
        }
    }

    private mutating func add(_ line: ArraySlice<UInt8>) throws(Fault) {
        var left = line.drop(while: Self.isSpace)
        while let last = left.last, Self.isSpace(last) { left.removeLast() }
        guard let first = left.first, first != UInt8(ascii: "#") else { return }
        var numbers: [Int] = []
        var number: Int?
        for byte in left {
            if (0x30...0x39).contains(byte), number ?? 0 <= 1 << 40 {
                number = (number ?? 0) * 10 + Int(byte - 0x30)
            } else if byte == UInt8(ascii: "/"), let whole = number, numbers.count < 2 {
                numbers.append(whole)
                number = nil
            } else {
                throw fault(left)
            }
        }
        guard let last = number, numbers.count == 2, numbers[0] <= TileID.maxZoom,
            let tile = TileID(zoom: numbers[0], x: numbers[1], y: last)
        else { throw fault(left) }
        deepest = max(deepest, tile.zoom)
        tiles.append(tile)
    }

    private func fault(_ text: ArraySlice<UInt8>) -> Fault {
        Fault(line: line, text: String(decoding: text.prefix(60), as: UTF8.self))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    /// The listed tiles and their parents down to a zoom.
    ///
    /// Where that zoom is deeper than every listed tile, everything below the deepest listed tiles belongs to it too: the list does not say
    /// more about it.
    package func mask(maxZoom: Int) -> TileMask {
        TileMask(tiles: tiles, maxZoom: deepest).expanded(toZoom: maxZoom).clipped(toZoom: maxZoom)
    }
}
