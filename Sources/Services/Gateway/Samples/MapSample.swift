package import Packages
package import Tiles
package import Tilesets

/// What a few tiles of a tile server say about the size of a map.
package struct MapSample: Sendable, Hashable {
    /// The files of the map in one format.
    package struct File: Sendable, Hashable, Encodable {
        let format: String
        let bytes: UInt64
        /// Half the width of the 95 % interval; `nil` when too few tiles answered.
        let margin: UInt64?

        package init(format: String, bytes: UInt64, margin: UInt64?) {
            (self.format, self.bytes, self.margin) = (format, bytes, margin)
        }
    }

    /// Which map.
    package struct Question: Sendable {
        package let tileset: Tileset
        package let mask: TileMask
        package let zooms: ZoomRange
        package let formats: [PackageFormat]
        /// Tiles that are fetched for each zoom on average.
        package let count: Int
    }

    /// Fetches the tiles of a sample within the limits of the tileset.
    ///
    /// - Throws: Why they cannot be had, with words for people (`CodedError`).
    package typealias Source = @Sendable (Question) async throws -> MapSample

    /// How many tiles were asked for.
    let sampled: Int
    /// Bytes of tile bodies to fetch.
    let bytes: UInt64
    let margin: UInt64?
    let files: [File]
    /// With one worker; `nil` when it is not known.
    let seconds: Double?

    package init(sampled: Int, bytes: UInt64, margin: UInt64?, files: [File], seconds: Double?) {
        (self.sampled, self.bytes, self.margin, self.files, self.seconds) = (sampled, bytes, margin, files, seconds)
    }
}
