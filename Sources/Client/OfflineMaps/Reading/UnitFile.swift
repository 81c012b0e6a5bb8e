internal import Errors
internal import Foundation
internal import PackageFiles
internal import Synchronization
internal import TileBodies
internal import Tiles

/// An installed file with tiles as readers see it.
///
/// It is opened at the first read and closed with the last snapshot that has it.
final class UnitFile: Sendable {
    let unit: InstalledFile
    let origin: Origin
    let mask: TileMask
    /// The part of the world that it covers: the smaller package is preferred.
    let share: Double
    let edition: Edition
    /// How the file is read.
    private enum Access {
        case tiles(SharedArchive)
        case maplibre(HandleSlots<MapLibreHandle>)
    }
    private let access: Access
    private let hasFailed = Atomic<Bool>(false)

    /// - Parameter path: Of the file.
    init(_ unit: InstalledFile, path: String, budget: HandleBudget) {
        self.unit = unit
        mask = unit.mask ?? TileMask(empty: 0)
        share = mask.share
        edition = unit.item.edition
        // Another program may write a file that was adopted where it is.
        let isUnchanging = !unit.isOutside
        let access = ArchiveAccess(isUnchanging: isUnchanging, isProbed: isUnchanging)
        self.access =
            switch unit.format {
            case .maplibre:
                .maplibre(
                    HandleSlots(budget: budget) { () throws(ArchiveError) in try MapLibreHandle(path: path, access) })
            default:
                .tiles(SharedArchive(path: path, isPMTiles: unit.format == .pmtiles, access, budget: budget))
            }
        origin = Origin(
            item: unit.item, tileset: unit.tileset, version: unit.version, dataDate: unit.dataDate,
            attribution: unit.attribution)
    }

    /// Whether the mask and the zooms claim the tile.
    func claims(_ tile: TileID) -> Bool { (unit.zooms?.contains(tile.zoom) ?? true) && mask.contains(tile) }

    /// Whether its tiles belong to a tileset; `nil` means any.
    func isOf(_ tileset: String?) -> Bool {
        guard let tileset else { return true }
        return (unit.tileset ?? unit.item.identifier) == tileset
    }

    /// What the file has for a tile.
    func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<StoredBody> {
        switch access {
        case .maplibre(let slots):
            return try slots.lend { (handle) throws(ArchiveError) in try handle.find(tile, template: unit.template) }
        case .tiles(let archive):
            let found: StoredTile<TileBody>
            do throws(ArchiveError) { found = try archive.find(tile) } catch {
                guard unit.hasUnusable, error.code == .badTile else { throw error }
                return .absent
            }
            switch found {
            case .body(let stored, let expires):
                guard !unit.hasUnusable || Self.isTile(stored) else { return .absent }
                // A renderer undoes gzip and zlib; other codings are undone here.
                let body = try stored.served()
                return .body(
                    StoredBody(
                        Data(body.bytes), isVector: body.format?.traits.isVector == true,
                        mediaType: body.format?.mediaType, expires: expires), expires: expires)
            case .empty: return .empty
            case .absent: return .absent
            }
        }
    }

    /// Whether a body of a file with bodies that are no tiles is one.
    private static func isTile(_ body: TileBody) -> Bool {
        guard let format = body.format else { return true }
        // A body that is refused is no tile.
        return (try? BodyChecker(takesAnyPicture: true).check(body.bytes, coding: body.coding, declared: format)) != nil
    }

    /// What the metadata say about the tiles: their format, and the rows of the archive.
    func metadata() throws(ArchiveError) -> (format: TileFormat?, rows: [String: String]) {
        switch access {
        case .maplibre(let slots):
            return try slots.lend { (handle) throws(ArchiveError) in
                (handle.sources.first.flatMap { TileFormat(word: $0.mediaType) }, [:])
            }
        case .tiles(let archive):
            return try archive.lend { (archive) throws(ArchiveError) in
                (archive.format, try archive.facts().rows)
            }
        }
    }

    /// What the file has for an address; only databases of MapLibre know addresses.
    func find(_ address: String) throws(ArchiveError) -> StoredTile<StoredResource> {
        guard case .maplibre(let slots) = access else { return .absent }
        return try slots.lend { (handle) throws(ArchiveError) in try handle.find(address) }
    }

    /// Whether it was marked as damaged.
    var isFailed: Bool { hasFailed.load(ordering: .relaxed) }

    /// Marks the file as damaged.
    ///
    /// - Returns: Whether it was marked for the first time.
    func fail() -> Bool { !hasFailed.exchange(true, ordering: .relaxed) }
}
