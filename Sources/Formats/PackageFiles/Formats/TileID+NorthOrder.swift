package import Tiles

extension TileID {
    /// A number that orders tiles by zoom, column and row from the north.
    package var northOrder: UInt64 { UInt64(zoom) << 44 | UInt64(x) << 22 | UInt64(y) }

    /// The tile with a number of ``northOrder``; `nil` for every other number.
    package init?(northOrder: UInt64) {
        self.init(
            zoom: Int(northOrder >> 44), x: Int(northOrder >> 22 & 0x3F_FFFF), y: Int(northOrder & 0x3F_FFFF))
    }
}
