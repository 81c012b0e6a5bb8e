internal import Foundation
internal import Tiles

/// The packs of a tile server that are on the device, of which a region can use tiles.
///
/// They are packs of other regions, and those that the region itself filled for other zooms.
final class SharedPacks {
    private let folder: StoreFolder
    private let files: [(file: InstalledFile, key: PackKey)]
    /// What is known of the tiles of the files that were opened.
    private var known: [FileID: Set<TileID>] = [:]

    /// The packs of a server, as far as they have not expired; none for a refresh, which asks about everything, and for an
    /// address that has other tiles for another pixel ratio.
    init(of source: OnlineSource, _ job: RegionJob, in folder: StoreFolder) {
        self.folder = folder
        guard job.task.kind != .refresh, !source.template.contains("{ratio}") else {
            files = []
            return
        }
        let template = source.rowTemplate
        files = job.view.rows.files.values.filter { file in
            file.state == .current && file.template == template && file.tileset == source.id
                && (file.isFresh || job.task.rule.acceptExpired)
        }
        .sorted { $0.id < $1.id }
        .compactMap { file in file.id.key.pack.flatMap { $0.isFilled ? (file, $0) : nil } }
    }

    /// Which of some tiles are in which packs; each tile once.
    ///
    /// - Parameter key: Of the region's own pack, which is left out.
    func tiles(_ wanted: [TileID], besides key: InstalledFileKey) -> [(file: InstalledFile, tiles: [TileID])] {
        var (rest, found) = (Set(wanted), [(file: InstalledFile, tiles: [TileID])]())
        guard let place = key.pack else { return [] }
        for (file, its) in files where !rest.isEmpty && file.id.key != key {
            guard its.zooms.intersection(place.zooms) != nil,
                its.index.contains(place.index) || place.index.contains(its.index)
            else { continue }
            let tiles = rest.intersection(tiles(of: file))
            guard !tiles.isEmpty else { continue }
            rest.subtract(tiles)
            found.append((file, tiles.sorted()))
        }
        return found
    }

    /// The tiles that are in a file or of which it is known that the server has none.
    ///
    /// The mask of a file also has tiles above them.
    private func tiles(of file: InstalledFile) -> Set<TileID> {
        if let tiles = known[file.id] { return tiles }
        let tiles = Set((folder.place(of: file).map(FilledPack.known) ?? [:]).keys)
        known[file.id] = tiles
        return tiles
    }
}

extension OnlineSource {
    /// The template as rows have it.
    ///
    /// Resolvers find a tile by its address alone: the template says itself from where rows are counted.
    var rowTemplate: String { isTMS ? template.replacing("{y}", with: "{-y}") : template }
}
