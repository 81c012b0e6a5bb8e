package import TileBodies

/// How many pictures of each format a file has; pictures of several formats can be in one file.
package struct PictureCounts {
    private var counts: [TileFormat: UInt64] = [:]

    /// Nothing counted.
    package init() {}

    /// Counts a body that was checked.
    ///
    /// - Parameters:
    ///   - stated: What it is where its first bytes do not say it, as where it is packed.
    ///   - tiles: How many tiles have it.
    package mutating func add(_ body: [UInt8], stated: TileFormat, tiles: UInt64 = 1) {
        body.withUnsafeBytes { add($0, stated: stated, tiles: tiles) }
    }

    /// Counts a borrowed body.
    package mutating func add(_ body: UnsafeRawBufferPointer, stated: TileFormat, tiles: UInt64 = 1) {
        counts[TileFormat(pictureBeginning: body) ?? stated, default: 0] += tiles
    }

    /// The stated format if there is a picture of it, else that of the most pictures; `nil` without pictures.
    package func mostFrequent(orStated stated: TileFormat) -> TileFormat? {
        counts[stated] == nil ? counts.mostFrequent : stated
    }

    /// How many pictures are of other formats than this one.
    package func count(besides format: TileFormat) -> UInt64 {
        counts.reduce(0) { $0 + ($1.key == format ? 0 : $1.value) }
    }
}

extension [TileFormat: UInt64] {
    /// The format that was counted most often; of equal ones the first of the list of formats, and `nil` without any.
    var mostFrequent: TileFormat? {
        guard let most = values.max() else { return nil }
        return TileFormat.allCases.first { self[$0] == most }
    }
}
