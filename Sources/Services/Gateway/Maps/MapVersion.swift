internal import CatalogFormat
internal import Errors
internal import Synchronization
internal import Tiles

/// One version of a package as a source of tiles.
final class MapVersion: Sendable {
    let package: CatalogIndex.Package
    let version: CatalogIndex.Version
    /// The main file: MBTiles, or PMTiles where there is no other.
    let main: ServedFile
    /// The MBTiles file; `nil` when only PMTiles was published.
    let mbtiles: ServedFile?
    /// The same tiles as PMTiles; `nil` when they were not published so.
    let pmtiles: ServedFile?
    /// Decoded at the first use, because a catalog has many masks and few of them are asked for.
    private let decoded = Mutex<TileMask?>(nil)

    /// - Returns: `nil` for a version without its main file; a decoded catalog has no such.
    init?(_ package: CatalogIndex.Package, _ version: CatalogIndex.Version) {
        func file(_ format: String) -> ServedFile? {
            version.file(format).flatMap { ServedFile(path: $0.url, size: $0.size, sha256: $0.sha256) }
        }
        let (mbtiles, pmtiles) = (file("mbtiles"), file("pmtiles"))
        guard let main = mbtiles ?? pmtiles else { return nil }
        self.package = package
        self.version = version
        self.main = main
        self.mbtiles = mbtiles
        self.pmtiles = pmtiles
    }

    /// The tiles of the package; a mask that cannot be read has none.
    var mask: TileMask {
        decoded.withLock { decoded in
            if let decoded { return decoded }
            // The text is from the catalog; what is no mask claims no tile.
            let mask = (try? TileMask(cartoText: version.tileMask)) ?? TileMask(empty: 0)
            decoded = mask
            return mask
        }
    }

    /// The zooms of its tiles.
    var zooms: ZoomRange {
        ZoomRange(min: version.minZoom ?? 0, max: min(version.maxZoom ?? mask.maxZoom, TileID.maxZoom)) ?? .all
    }

    /// Whether the package has the tile, or knows that there is none.
    func claims(_ tile: TileID) -> Bool { zooms.contains(tile.zoom) && mask.contains(tile) }

    /// `ID@V`.
    var name: String { "\(package.id)@\(version.version)" }

    /// Of a part from 1; 0 for a whole package.
    var partNumber: Int { package.part?.number ?? 0 }

    /// `ID@V` of the package that it is a part of, or its own.
    var wholeName: String { "\(package.part?.of ?? package.id)@\(version.version)" }
}
