package import Tiles

extension TileID {
    /// A number that orders tiles by zoom, column and row from the south, as packages do.
    package var rowOrder: UInt64 { UInt64(zoom) << 44 | UInt64(x) << 22 | UInt64(tmsY) }

    package init?(rowOrder: UInt64) {
        self.init(
            zoom: Int(rowOrder >> 44), x: Int(rowOrder >> 22 & 0x3F_FFFF), tmsY: Int(rowOrder & 0x3F_FFFF))
    }
}
