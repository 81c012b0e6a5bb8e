internal import Errors
internal import Files
internal import Foundation

/// How much of the disk a store takes.
enum StoreSpace {
    /// Free bytes of the disk; 0 when they cannot be found out.
    static func free(_ folder: StoreFolder) -> UInt64 { (try? Durable.freeBytes(folder.root)) ?? 0 }

    /// What the store takes, by the kinds of files.
    static func usage(_ view: StoreView, _ folder: StoreFolder) -> Usage {
        var usage = Usage()
        for (file, unit) in view.units where !unit.path.hasPrefix("/") {
            if unit.state == .previous {
                usage.previous += unit.bytes
            } else if file.unit.isPack {
                usage.packs += unit.bytes
            } else if unit.path.hasPrefix("units/" + StoreFolder.Kind.adopted.rawValue) {
                usage.adopted += unit.bytes
            } else if case .style = unit.item {
                usage.styles += unit.bytes
            } else {
                usage.packages += unit.bytes
            }
            // Readers have the files of a style pack next to its archive.
            guard unit.format == .styleArchive, let archive = folder.file(unit.path) else { continue }
            let unpacked = StoreScan.bytes(below: PieceWork.unpacked(archive))
            switch (unit.state, unit.path.hasPrefix("units/" + StoreFolder.Kind.adopted.rawValue)) {
            case (.previous, _): usage.previous += unpacked
            case (.current, true): usage.adopted += unpacked
            case (.current, false): usage.styles += unpacked
            }
        }
        usage.parts = StoreScan.parts(folder).values.reduce(0, +)
        usage.ambient = ["", "-wal", "-shm"].reduce(0) { sum, suffix in
            sum + (StoreScan.size(URL(filePath: folder.ambient.path + suffix)) ?? 0)
        }
        usage.total =
            usage.packages + usage.packs + usage.styles + usage.adopted + usage.parts + usage.previous + usage.ambient
        let quota = view.rows.settings.quota
        (usage.quota, usage.free) = (quota.bytes, view.free)
        (usage.packCount, usage.packLimit) = (Set(view.rows.holds.map(\.unit).filter(\.isPack)).count, quota.tilePacks)
        (usage.onlineTiles, usage.onlineTileLimit) = (view.rows.tiles.values.reduce(0, +), quota.onlineTiles)
        return usage
    }
}
