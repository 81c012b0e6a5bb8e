internal import Errors
internal import Foundation
internal import PackageFiles
public import Tiles

/// Reads the tiles of the installed packages.
///
/// Synchronous; any number of threads may call it, and none waits for an update.
public final class TileReader: Sendable {
    private let box: SnapshotBox<TileSnapshot>
    private let budget: HandleBudget
    private let folder: StoreFolder
    private let report: @Sendable (InstalledFile, StoreError) -> Void

    /// Reads units of a folder.
    ///
    /// - Parameter report: Called once for each unit that cannot be read, on the thread of the read.
    init(
        _ folder: StoreFolder, _ units: [InstalledFile], openFiles: Int = 16,
        report: @escaping @Sendable (InstalledFile, StoreError) -> Void = { _, _ in }
    ) {
        self.folder = folder
        self.report = report
        let budget = HandleBudget(limit: openFiles)
        self.budget = budget
        box = SnapshotBox(TileSnapshot(Self.files(units, in: folder, budget: budget, reusing: [])))
    }

    /// Puts other units in place; calls that have begun end with the old ones.
    ///
    /// Units that stay keep their open files. When the call returns, the files of units that went are closed, or are
    /// closed by the calls that still read them.
    func replace(_ units: [InstalledFile]) {
        let files = Self.files(units, in: folder, budget: budget, reusing: box.load().files)
        box.replace(TileSnapshot(files))
    }

    private static func files(
        _ units: [InstalledFile], in folder: StoreFolder, budget: HandleBudget, reusing old: [UnitFile]
    ) -> [UnitFile] {
        let known = Dictionary(old.map { ($0.unit.path, $0) }) { first, _ in first }
        return units.compactMap { unit in
            guard unit.format == .maplibre || unit.mask != nil && unit.format != .opaque else { return nil }
            // A damage is reported again when the report came to nobody, as while the store was suspended.
            if let file = known[unit.path], file.unit == unit, !file.isFailed { return file }
            let path = unit.isOutside ? unit.path : folder.file(unit.path)?.path
            return path.map { UnitFile(unit, path: $0, budget: budget) }
        }
    }

    /// A tile of the installed packages.
    ///
    /// - Parameters:
    ///   - tileset: The tileset that the tile must be of; `nil` for any.
    ///   - edition: The data group, and the preferred language.
    /// - Throws: `damaged` when the only files that have the tile cannot be read.
    public func tile(
        _ id: TileID, of tileset: String? = nil, _ edition: Edition = Edition()
    ) throws(StoreError) -> TileAnswer {
        switch find(id, of: tileset, edition) {
        case .body(let file, let body): return .found(self.tile(file, body))
        case .empty: return .empty
        case .absent: return .absent
        case .failed(let file, let error): throw error.error(file.unit.path)
        }
    }

    /// The tile itself, or its nearest ancestor that has a body; `nil` when none has.
    ///
    /// - Throws: `damaged`, as ``tile(_:of:_:)`` does.
    public func nearest(_ id: TileID, of tileset: String? = nil) throws(StoreError) -> (id: TileID, tile: Tile)? {
        var failure: StoreError?
        var next: TileID? = id
        while let tile = next {
            switch find(tile, of: tileset, Edition()) {
            case .body(let file, let body): return (tile, self.tile(file, body))
            case .failed(let file, let error): failure = failure ?? error.error(file.unit.path)
            case .empty, .absent: break
            }
            next = tile.parent
        }
        if let failure { throw failure }
        return nil
    }

    /// Whether a tile, and what lies below it, is installed, by the masks alone.
    public func status(_ id: TileID) -> TileStatus {
        let files = box.load().claimants(of: id)
        guard let deepest = files.map(\.mask.maxZoom).max() else { return .missing }
        var below = TileMask(empty: deepest)
        for file in files { below = below.union(file.mask.restricted(to: id)) }
        let last = max(id.zoom, below.deepestZoom ?? 0)
        return below.count(atZoom: last) >= 1 << UInt64(2 * (last - id.zoom)) ? .full : .partial
    }

    /// Whether all tiles of an area are installed, by the masks alone.
    public func isCovered(_ area: Area, _ zooms: ZoomRange) -> Bool {
        let cover = area.cover(toZoom: zooms.max)
        guard !cover.isEmpty else { return false }
        let files = box.load().files
        var known: [[Int]: TileMask] = [:]
        for zoom in zooms {
            let fitting = files.indices.filter { files[$0].unit.zooms?.contains(zoom) ?? true }
            let union = known[fitting] ?? fitting.reduce(TileMask(empty: 0)) { $0.union(files[$1].mask) }
            known[fitting] = union
            let wanted = cover.clipped(toZoom: zoom)
            let here = wanted.intersection(union.clipped(toZoom: zoom))
            guard here.count(atZoom: zoom) == wanted.count(atZoom: zoom) else { return false }
        }
        return true
    }

    /// What adopted databases have for an address: a resource or a tile.
    ///
    /// A database that cannot be read is reported and passed over.
    func resource(_ address: String) -> StoredTile<StoredResource> {
        var result = StoredTile<StoredResource>.absent
        for file in box.load().databases {
            do throws(ArchiveError) {
                switch try file.find(address) {
                case .body(let resource, let expires): return .body(resource, expires: expires)
                case .empty: result = .empty
                case .absent: break
                }
            } catch {
                fail(file, error)
            }
        }
        return result
    }

    /// The files of this moment, in the order of preference.
    var files: [UnitFile] { box.load().files }

    /// How many files are open.
    var openFiles: Int { budget.count }

    /// Looks a tile up; a file that cannot be read because an update has just removed it is no failure.
    private func find(_ id: TileID, of tileset: String?, _ edition: Edition) -> TileSnapshot.Found {
        var snapshot = box.load()
        while true {
            var failures: [(file: UnitFile, error: ArchiveError)] = []
            let found = snapshot.find(id, of: tileset, edition) { failures.append(($0, $1)) }
            if failures.isEmpty { return found }
            let newer = box.load()
            if newer === snapshot {
                for (file, error) in failures { fail(file, error) }
                return found
            }
            snapshot = newer
        }
    }

    /// Reports a file that cannot be read, once.
    private func fail(_ file: UnitFile, _ error: ArchiveError) {
        if file.fail() { report(file.unit, error.error(file.unit.path)) }
    }

    private func tile(_ file: UnitFile, _ body: StoredBody) -> Tile {
        let isStale = body.expires.map { $0 < Date() } ?? !file.unit.isFresh
        var tile = Tile(
            body: body.bytes, coding: body.coding, mediaType: body.mediaType, origin: file.origin, isStale: isStale)
        // A renderer unpacks most tiles: that their bytes are wrong is found after they were given.
        tile.reportDamage = { [report] in
            guard file.fail() else { return }
            report(file.unit, ArchiveError(.badTile, "A tile cannot be unpacked.").error(file.unit.path))
        }
        return tile
    }
}
