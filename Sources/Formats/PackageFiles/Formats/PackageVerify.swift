public import Digests
public import Foundation
public import Tiles

/// Verifies a package of any form that this module reads, by the file's content, never by its name.
public enum PackageVerify {
    /// Verifies structure, checksums, seal, metadata, mask and every different body.
    ///
    /// Never changes the file. A file that Packhorse wrote proves each of its bytes; for others, pass `expecting`.
    ///
    /// - Parameters:
    ///   - url: The file, or a folder of tiles. One of another kind gets a report that says so.
    ///   - mask: Where tiles may be; `nil` for anywhere.
    ///   - zooms: The zooms tiles may have; `nil` for those of the mask.
    ///   - expecting: The digest the file must have.
    ///   - passedOver: Called with every tile of which the file has no body that is a tile.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all; everything else is a problem in the report.
    public static func run(
        _ url: URL, mask: TileMask? = nil, zooms: ZoomRange? = nil, expecting: Digest? = nil,
        passedOver: ((TileID) -> Void)? = nil
    ) throws -> VerifyReport {
        switch try ArchiveKind.of(url) {
        case .pmtiles:
            try PMTilesVerify.run(url, mask: mask, zooms: zooms, expecting: expecting, passedOver: passedOver)
        case .geoPackage:
            try GeoPackageVerify.run(url, mask: mask, zooms: zooms, expecting: expecting)
        case .tree:
            try TreeVerify.run(url, mask: mask, zooms: zooms, expecting: expecting)
        case .mbtiles, .maplibre, .other:
            try MBTilesVerify.run(url, mask: mask, zooms: zooms, expecting: expecting, passedOver: passedOver)
        }
    }
}
