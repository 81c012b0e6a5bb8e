import Catalog
import CatalogFormat
import PackageFiles
import Packages
internal import TextFormats
import Tiles

/// Possible problems of a job, found by comparing it with the current catalog.
struct CatalogImpact {
    let spec: JobSpec
    /// The catalog's packages that the job will replace.
    let replaced: [CatalogEntry]
    /// Ids of the replaced packages that have tile packs.
    let cut: [String]
    /// Free bytes of the catalog's disk; `nil` when they cannot be asked.
    var free: UInt64?

    private var edition: CatalogEdition { spec.publish.edition }

    /// One sentence with its remedy per warning.
    var warnings: [String] {
        [lostPacks, lostMain, lostZooms, shrinkage, lostAttribution, shortSpace, sameDate].compactMap(\.self)
    }

    private var lostPacks: String? {
        guard spec.publish.packs == nil, let first = cut.first else { return nil }
        return
            "Package '\(first)' of edition '\(edition)'\(others(cut.count)) will lose its tile packs with the next version: this job cuts none. Add --tile-packs, or run packhorse packs CATALOG afterwards."
    }

    /// Packages whose clients have MBTiles, and whose next version has none.
    private var lostMain: String? {
        let alone = Set(zip(spec.packages, spec.mains).filter { $1 == .pmtiles }.map(\.0.id))
        let losing = replaced.filter { alone.contains($0.id) && $0.format == nil }
        guard let first = losing.first else { return nil }
        return
            "Package '\(first.id)' of edition '\(edition)'\(others(losing.count)) has MBTiles, and the version of this job has PMTiles alone: clients that have the MBTiles file get no update. Add mbtiles to --format, or give the package another id."
    }

    private var lostZooms: String? {
        let narrower = replaced.filter { entry in
            guard let low = entry.minZoom, let high = entry.maxZoom else { return false }
            return low < spec.zooms.min || high > spec.zooms.max
        }
        guard let first = narrower.first, let low = first.minZoom, let high = first.maxZoom else { return nil }
        return
            "Package '\(first.id)' of edition '\(edition)'\(others(narrower.count)) has zooms \(low)-\(high); the version of this job has only zooms \(spec.zooms). Ask for all zooms, or give the package another id."
    }

    /// Packages that ask for less than half of the tiles of the catalog's versions.
    ///
    /// They are not published unless that is allowed.
    ///
    /// Only a warning, because tiles that the origin does not have are not counted when the packages are published.
    private var shrinkage: String? {
        guard !spec.publish.replacesArea, !spec.publish.allowsShrink else { return nil }
        let masks = Dictionary(spec.packages.map { ($0.id, $0.mask) }) { $1 }
        let smaller = replaced.compactMap { entry -> (id: String, new: UInt64, old: UInt64)? in
            guard let low = entry.minZoom, let high = entry.maxZoom, let zooms = ZoomRange(min: low, max: high),
                // A mask that cannot be read has no area to compare.
                let mask = masks[entry.id], let listed = try? TileMask(cartoText: entry.tileMask)
            else { return nil }
            let (new, old) = (mask.count(in: spec.zooms), listed.count(in: zooms))
            return new < old && new < old - new ? (entry.id, new, old) : nil
        }
        guard let first = smaller.first else { return nil }
        return
            "Package '\(first.id)'\(others(smaller.count)) asks for \(first.new) tiles, the version in edition '\(edition)' asked for \(first.old): a package with less than half of the tiles or bytes is not published. If it is to be smaller, add --replace-area (smaller area or fewer zooms) or --allow-shrink."
    }

    /// Packages whose tileset has no attribution any more; they are not published unless that is allowed.
    private var lostAttribution: String? {
        guard spec.tileset.attribution.isEmpty, !spec.publish.allowsShrink else { return nil }
        let losing = replaced.filter { $0.attribution != nil && $0.tileset == spec.tileset.id }
        guard let first = losing.first, let text = first.attribution else { return nil }
        return
            "The tileset has no attribution, and package '\(first.id)' of edition '\(edition)'\(others(losing.count)) has '\(text.prefix(100))': a package that loses its attribution is not published. Add attribution to the tileset file, or --allow-shrink."
    }

    /// New versions that are as large as those they replace, which stay, would not fit on the disk.
    private var shortSpace: String? {
        let needed = replaced.flatMap(\.allFiles).reduce(0.0) { $0 + Double(max(0, $1.size)) }
        guard let free, needed > Double(free) else { return nil }
        return
            "The disk of the catalog has \(Units.bytes(free)) free, and the packages that this job replaces have \(Units.bytes(UInt64(min(needed, 1e18)))). Their files stay for clients that download them. Free space, or keep fewer versions (--keep-versions, packhorse catalog prune)."
    }

    /// MapLibre's clients merge databases by date: a tile replaces only an older one.
    private var sameDate: String? {
        let format = PackageFormat.maplibre.rawValue
        let wanting = Set(zip(spec.packages, spec.formats).filter { $1.contains(format) }.map(\.0.id))
        let date = spec.publish.dataDate.flatMap(DataDate.seconds)
        let stale = replaced.filter { entry in
            guard wanting.contains(entry.id), entry.files.contains(where: { $0.format == format }) else {
                return false
            }
            guard let date else { return true }
            return entry.dataDate.flatMap(DataDate.seconds).map { $0 >= date } ?? false
        }
        guard let first = stale.first else { return nil }
        return
            "MapLibre clients that merged package '\(first.id)'\(others(stale.count)) keep their old tiles: the data date of this job (\(spec.publish.dataDate ?? "none")) is not later than the date of the catalog's version (\(first.dataDate ?? "none")). If the tiles are newer, set the date with --data-date."
    }

    private func others(_ count: Int) -> String { count < 2 ? "" : " and \(count - 1) more" }
}
