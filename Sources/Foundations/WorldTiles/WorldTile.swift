internal import TileBodies
public import Tiles

/// A tile of the demo world in its transferred form.
public struct WorldTile: Sendable, Hashable {
    /// The unpacked vector tile.
    public let vector: [UInt8]
    /// The same, packed by ``TileBodies/Gzip``.
    public let gzip: [UInt8]
    /// A hash of the unpacked tile, 16 hexadecimal digits (FNV-1a, 64 bits).
    public let hash: String

    /// Makes a tile, or returns `nil` where the world has no content; the server answers 204 there.
    ///
    /// - Parameters:
    ///   - language: The language of `name`; see ``TileCutter/cut(_:language:padding:)``.
    ///   - padding: About how much larger the packed tile is to be. Unit: bytes.
    public static func make(
        _ tile: TileID, from cutter: TileCutter, language: String = TileCutter.defaultLanguage, padding: Int = 0
    ) -> WorldTile? {
        guard let vector = cutter.cut(tile, language: language, padding: padding) else { return nil }
        return WorldTile(vector: vector, gzip: Gzip.compress(vector), hash: hash(of: vector))
    }

    package static func hash(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
