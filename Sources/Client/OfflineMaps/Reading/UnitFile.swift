internal import Errors
internal import Foundation
internal import PMTiles
internal import Synchronization
internal import TileBodies
internal import Tiles

/// An installed tile file as readers see it.
///
/// It is opened at the first read and closed with the last snapshot that has it.
final class UnitFile: Sendable {
    /// A body as a renderer gets it.
    struct Body {
        var bytes: Data
        var coding: Coding
        var mediaType: String
    }

    /// What the file's metadata says about all bodies.
    private final class Kind: Sendable {
        let isVector: Bool
        let mediaType: String?
        init(isVector: Bool, mediaType: String?) {
            self.isVector = isVector
            self.mediaType = mediaType
        }
    }

    let unit: UnitRow
    let origin: Origin
    let mask: TileMask
    /// The part of the world that it covers: the smaller package is preferred.
    let share: Double
    let edition: Edition
    private let path: String
    private let slots: HandleSlots?
    private let archive = AtomicLazyReference<PMTilesFile>()
    private let kind = AtomicLazyReference<Kind>()
    private let hasFailed = Atomic<Bool>(false)

    /// - Parameter path: Of the file.
    init(_ unit: UnitRow, path: String, budget: HandleBudget) {
        self.unit = unit
        self.path = path
        mask = unit.mask ?? TileMask(empty: 0)
        share = mask.share
        edition = unit.item.edition
        slots = unit.format == .pmtiles ? nil : HandleSlots(path: path, budget: budget)
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

    /// The tile's body; `nil` when the file has none.
    func body(of tile: TileID) throws(TileFileError) -> Body? {
        guard let slots else { return try archived(tile) }
        return try slots.lend { (handle) throws(TileFileError) -> Body? in
            guard let bytes = try handle.body(zoom: tile.zoom, column: tile.x, tmsRow: tile.tmsY), !bytes.isEmpty else {
                return nil
            }
            return Self.body(bytes, try kind(of: handle))
        }
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

    private func archived(_ tile: TileID) throws(TileFileError) -> Body? {
        do throws(PMTilesError) {
            let archive = try opened()
            guard var bytes = try archive.body(of: tile), !bytes.isEmpty else { return nil }
            // A renderer undoes gzip and zlib; other codings are undone here.
            if archive.coding == .brotli || archive.coding == .zstd {
                do throws(TileBodiesError) {
                    bytes = try archive.coding.unpack(bytes, limit: Int(MBTilesHandle.maxBody))
                } catch { throw PMTilesError(.badArchive, error.message) }
            }
            let format = archive.header.format
            return Self.body(Data(bytes), Kind(isVector: format == .mvt, mediaType: format?.mediaType))
        } catch { throw TileFileError(text: error.message, isMissing: access(path, F_OK) != 0) }
    }

    private func opened() throws(PMTilesError) -> PMTilesFile {
        if let archive = archive.load() { return archive }
        return archive.storeIfNil(try PMTilesFile(path: path))
    }

    /// Finds the coding by the first bytes: files of other makers have vector tiles plain, as gzip and as zlib.
    private static func body(_ bytes: Data, _ kind: Kind) -> Body {
        let (first, second) = (bytes.first ?? 0, bytes.count > 1 ? bytes[bytes.startIndex + 1] : 0)
        let coding: Coding =
            switch (first, second) {
            case (0x1F, 0x8B): .gzip
            // RFC 1950: method 8 with a window of 32 KiB, and a check that makes the two bytes a multiple of 31.
            case (0x78, _) where (Int(first) << 8 | Int(second)).isMultiple(of: 31): .zlib
            default: .plain
            }
        let isPacked = coding == .gzip || coding == .zlib && kind.isVector
        return Body(
            bytes: bytes, coding: isPacked ? coding : .plain, mediaType: kind.mediaType ?? sniffed(bytes, coding))
    }

    private static func sniffed(_ bytes: Data, _ coding: Coding) -> String {
        if coding == .gzip { return TileFormat.mvt.mediaType }
        let found = bytes.withUnsafeBytes { raw in TileFormat.allCases.first { $0.begins(raw) } }
        return found?.mediaType ?? "application/octet-stream"
    }
}

extension Item {
    /// The edition; the main one for styles and regions.
    var edition: Edition {
        switch self {
        case .package(_, let edition, _), .packs(_, let edition): edition
        case .region, .style: Edition()
        }
    }

    /// The id without its edition.
    var identifier: String {
        switch self {
        case .package(let id, _, _), .packs(let id, _), .style(let id): id
        case .region(let id): id.text
        }
    }
}
