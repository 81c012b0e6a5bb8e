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
        for installed in Array(view.rows.files.values) + view.rows.damaged where !installed.isOutside {
            // Of a style as it is now: readers unpack it again when its files are gone.
            let archive = installed.format == .styleArchive ? folder.file(installed.path) : nil
            let bytes = archive.map(StyleFiles.bytes) ?? installed.bytes
            if installed.state == .previous {
                usage.previous += bytes
            } else if installed.id.key.isPack {
                usage.packs += bytes
            } else if installed.isAdopted {
                usage.adopted += bytes
            } else if case .style = installed.item {
                usage.styles += bytes
            } else {
                usage.packages += bytes
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
        (usage.packCount, usage.packLimit) = (Set(view.rows.holds.map(\.key).filter(\.isPack)).count, quota.tilePacks)
        (usage.onlineTiles, usage.onlineTileLimit) = (view.rows.tiles.values.reduce(0, +), quota.onlineTiles)
        return usage
    }
}
