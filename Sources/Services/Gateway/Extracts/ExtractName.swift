internal import Digests
internal import Files
internal import Packages
internal import Tiles

/// How extracts are named in the catalog.
enum ExtractName {
    /// The group of their edition, so that they do not fill the public list.
    static let group = "extracts"
    /// The path of their edition.
    static let edition = "groups/extracts/"

    /// The id of the package of a mask: `m` and 24 digits of the SHA-256 of the tileset, the zooms and the mask.
    ///
    /// Equal masks have equal ids, however their text was written. Other formats than MBTiles alone make another package.
    static func id(of mask: TileMask, tileset: String, formats: [PackageFormat] = [.mbtiles]) -> String {
        let more = formats == [.mbtiles] ? "" : " " + formats.map(\.rawValue).joined(separator: ",")
        return "m" + Digest(of: Array("\(tileset) 0-\(mask.maxZoom) \(mask.cartoWire)\(more)".utf8)).hex.prefix(24)
    }
}
