import CatalogFormat
internal import TextFormats
import Tiles
import Tilesets

extension JobDraft {
    /// Possible problems for the submitter, each a sentence with its remedy.
    package var warnings: [String] {
        guard let packs else { return remarks }
        return remarks + [cutZooms(packs), tooManyPacks(packs)].compactMap(\.self)
    }

    /// Packs of other zooms are other files: a pack cut in the middle of a band cannot be shared.
    private func cutZooms(_ scheme: PackScheme) -> String? {
        let whole = scheme.bands.filter { $0.zooms.intersection(zooms) != nil }
            .compactMap { $0.zooms.intersection(tileset.zooms) }
        guard let low = whole.first?.min, let high = whole.last?.max, (low, high) != (zooms.min, zooms.max) else {
            return nil
        }
        return
            "Zooms \(zooms) end inside a band of tile packs, so packages of other zooms cannot share these packs. Use --zoom \(low)-\(high) for complete bands."
    }

    private func tooManyPacks(_ scheme: PackScheme) -> String? {
        let most = UInt64(CatalogIndex.Limits().tilePacksPerDevice)
        let counts = packages.map { package in
            scheme.bands.filter { $0.zooms.intersection(zooms) != nil }
                .reduce(0) { $0 + package.mask.count(atZoom: $1.indexZoom) }
        }
        let large = zip(packages, counts).filter { $1 > most }
        guard let (package, count) = large.first else { return nil }
        let others =
            large.count > 1 ? "; the same is true for \(Units.count(large.count - 1, of: "other package"))" : ""
        return
            "Package '\(package.area.id)' alone has \(Units.count(count)) tile packs, more than the \(Units.count(most)) that 'packhorse device install --tile-packs' puts on a device\(others). Install it as one file, or build smaller areas, fewer zooms, or coarser bands (tile_packs in the tileset file; now \(scheme))."
    }
}
