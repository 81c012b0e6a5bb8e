internal import Errors
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import Synchronization
internal import TileBodies
internal import Tiles

/// An installed file with tiles as readers see it.
///
/// It is opened at the first read and closed with the last snapshot that has it.
final class UnitFile: Sendable {
    /// What the file's metadata says about all bodies.
    private final class Kind: Sendable {
        let isVector: Bool
        let mediaType: String?
        init(isVector: Bool, mediaType: String?) {
            self.isVector = isVector
            self.mediaType = mediaType
        }
    }

    let unit: InstalledFile
    let origin: Origin
    let mask: TileMask
    /// The part of the world that it covers: the smaller package is preferred.
    let share: Double
    let edition: Edition
    /// How the file is read.
    private enum Access {
        case mbtiles(HandleSlots<MBTilesHandle>)
        case maplibre(HandleSlots<MapLibreHandle>)
        case pmtiles
    }
    private let path: String
    private let access: Access
    private let archive = AtomicLazyReference<PMTilesFile>()
    private let kind = AtomicLazyReference<Kind>()
    private let hasFailed = Atomic<Bool>(false)

    /// - Parameter path: Of the file.
    init(_ unit: InstalledFile, path: String, budget: HandleBudget) {
        self.unit = unit
        self.path = path
        mask = unit.mask ?? TileMask(empty: 0)
        share = mask.share
        edition = unit.item.edition
        // Another program may write a file that was adopted where it is.
        let isUnchanging = !unit.isOutside
        access =
            switch unit.format {
            case .pmtiles: .pmtiles
            case .maplibre:
                .maplibre(
                    HandleSlots(budget: budget) { () throws(TileFileError) in
                        try MapLibreHandle(path: path, isUnchanging: isUnchanging)
                    })
            default:
                .mbtiles(
                    HandleSlots(budget: budget) { () throws(TileFileError) in
                        try MBTilesHandle(path: path, isUnchanging: isUnchanging, isProbed: isUnchanging)
                    })
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
    func find(_ tile: TileID) throws(TileFileError) -> StoredTile<StoredBody> {
        switch access {
        case .pmtiles: return try archived(tile)
        case .maplibre(let slots):
            return try slots.lend { (handle) throws(TileFileError) in try handle.find(tile, template: unit.template) }
        case .mbtiles(let slots):
            return try slots.lend { (handle) throws(TileFileError) -> StoredTile<StoredBody> in
                switch try handle.find(tile) {
                case .body(let bytes, let expires):
                    let kind = try kind(of: handle)
                    return .body(
                        StoredBody(bytes, isVector: kind.isVector, mediaType: kind.mediaType, expires: expires),
                        expires: expires)
                case .empty: return .empty
                case .absent: return .absent
                }
            }
        }
    }

    /// What the file has for an address; only databases of MapLibre know addresses.
    func find(_ address: String) throws(TileFileError) -> StoredTile<StoredResource> {
        guard case .maplibre(let slots) = access else { return .absent }
        return try slots.lend { (handle) throws(TileFileError) in try handle.find(address) }
    }

    /// Marks the file as damaged.
    ///
    /// - Returns: Whether it was marked for the first time.
    func fail() -> Bool { !hasFailed.exchange(true, ordering: .relaxed) }

    private func kind(of handle: MBTilesHandle) throws(TileFileError) -> Kind {
        if let kind = kind.load() { return kind }
        let format = try handle.metadata("format")?.lowercased() ?? ""
        let known = TileFormat(rawValue: format == "jpeg" ? "jpg" : format == "mvt" ? "pbf" : format)
        return kind.storeIfNil(Kind(isVector: known == .mvt, mediaType: known?.mediaType))
    }

    private func archived(_ tile: TileID) throws(TileFileError) -> StoredTile<StoredBody> {
        do throws(PMTilesError) {
            let archive = try opened()
            guard var bytes = try archive.body(of: tile), !bytes.isEmpty else { return .empty }
            // A renderer undoes gzip and zlib; other codings are undone here.
            if archive.coding == .brotli || archive.coding == .zstd {
                do throws(TileBodiesError) {
                    bytes = try archive.coding.unpack(bytes, limit: Int(ReadOnlyDatabase.maxBody))
                } catch { throw PMTilesError(.badArchive, error.message) }
            }
            let format = archive.header.format
            return .body(
                StoredBody(Data(bytes), isVector: format == .mvt, mediaType: format?.mediaType), expires: nil)
        } catch { throw TileFileError(text: error.message, isMissing: Foundation.access(path, F_OK) != 0) }
    }

    private func opened() throws(PMTilesError) -> PMTilesFile {
        if let archive = archive.load() { return archive }
        return archive.storeIfNil(try PMTilesFile(path: path))
    }
}
