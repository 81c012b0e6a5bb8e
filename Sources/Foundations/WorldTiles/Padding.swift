internal import Tiles

/// Text that compresses badly, so that load tests can use larger tiles.
enum Padding {
    /// The most that is added.
    ///
    /// Unit: bytes.
    static let limit = 1 << 20

    /// A layer with one point whose field `noise` packs to about `bytes`; the same for the same tile.
    static func layer(for tile: TileID, bytes: Int) -> LayerWriter {
        var layer = LayerWriter("padding")
        let middle = Pixel(x: PixelGrid.extent / 2, y: PixelGrid.extent / 2)
        // Each of 64 letters carries 6 of 8 bits, so gzip can remove a quarter.
        layer.point(id: 1, [("noise", .text(noise(seed: tile.hilbertID, count: min(bytes, limit) * 4 / 3)))], middle)
        return layer
    }

    private static func noise(seed: UInt64, count: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var state = seed
        var text: [UInt8] = []
        text.reserveCapacity(count)
        while text.count < count {
            // SplitMix64.
            state &+= 0x9e37_79b9_7f4a_7c15
            var word = state
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
            word ^= word >> 31
            for _ in 0..<min(10, count - text.count) {
                text.append(letters[Int(word & 63)])
                word >>= 6
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
