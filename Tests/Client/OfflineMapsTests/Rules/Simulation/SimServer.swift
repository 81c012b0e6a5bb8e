@testable import OfflineMaps

/// The catalogs of a world: what each list says, as a function of its number and the seed.
struct SimServer {
    static let packages = 4
    static let regions = 3
    static let packs = 14

    let seed: UInt64
    /// The number of the newest list, from 1.
    var newest: UInt64 = 1
    /// Patches that no device can ever apply.
    var brokenPatches: Bool

    /// Whether some lists of packs are cut later than others; then the same pack is older in them.
    var hasLateLists: Bool { seed.isMultiple(of: 2) }

    static func package(_ index: Int) -> Item { .package("P\(index)") }
    static func region(_ index: Int) -> Item { .region(RegionID("R\(index)")) }
    /// Packs that a map shows and no region needs.
    static let views: [Item] = (0..<6).map { .packs("v\($0)") }
    /// A region of a tile server: one pack, filled tile by tile.
    static let filled = Item.region(RegionID("T"))
    static let tiles = 12
    static let tileSize: UInt64 = 20_000
    static var items: [Item] { (0..<packages).map(package) + (0..<regions).map(region) + [filled] }

    private func dice(_ text: String) -> SimRandom {
        var hash: UInt64 = seed &+ 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return SimRandom(seed: hash)
    }

    /// The last list up to this one that changed a file.
    private func lastChange(_ name: String, _ list: UInt64) -> UInt64 {
        var change: UInt64 = 1
        for number in 1...max(1, list) {
            var dice = dice("\(name) \(number)")
            if dice.perMille(500) { change = number }
        }
        return change
    }

    private func size(_ name: String, _ version: UInt64) -> UInt64 {
        var dice = dice("size \(name) \(version)")
        return UInt64(dice.within(name.hasPrefix("P") ? 2_000_000...30_000_000 : 200_000...3_000_000))
    }

    func download(_ name: String, isPack: Bool, holder: Item?, _ list: UInt64) -> DownloadItem {
        let version = lastChange(name, list)
        let file = FileID(
            key: InstalledFileKey(name: name, isPack: isPack), version: Int32(version), digest: "\(name)-\(version)")
        var download = DownloadItem(holder: holder, file: file, size: size(name, version))
        var dice = dice("patch \(name) \(version)")
        if version > 1, !isPack, dice.perMille(700) {
            let base = lastChange(name, version - 1)
            let digest = "\(name)-\(base)>\(version)"
            download.source = .file(DownloadPatch(digest: digest, size: download.size / 5 + 1, base: "\(name)-\(base)"))
        }
        download.expires = Int64(dice.below(1_000))
        return download
    }

    func downloads(of item: Item, _ list: UInt64) -> [DownloadItem] {
        switch item {
        case .package(let name, _, _): return [download(name, isPack: false, holder: item, list)]
        case Self.filled:
            var pack = download("t", isPack: true, holder: item, list)
            pack.source = .filled
            pack.size = UInt64(Self.tiles) * Self.tileSize
            return [pack]
        case .region(let region):
            // The packs of a region: neighbours share some of them.
            var dice = dice("region \(region.text)")
            let first = dice.below(Self.packs)
            let count = dice.within(2...6)
            let cut = hasLateLists && dice.perMille(500) && list > 1 ? list - 1 : list
            return (0..<count).map {
                var pack = download("k\((first + $0) % Self.packs)", isPack: true, holder: item, cut)
                pack.age = PackAge(date: "\(pack.file.version)", source: .packs(region.text))
                return pack
            }
        case .packs(let name, _):
            return (0..<3).map { download("\(name)-\($0)", isPack: true, holder: nil, list) }
        default: return []
        }
    }

    /// What the shell's planner answers.
    func plan(_ task: TaskRecord, _ disk: SimDisk) -> PlanAnswer {
        let list = disk.rows.catalog
        if list == 0 { return .failed(.notInCatalog) }
        var plan = Plan(downloads: task.items.filter { $0 != Self.filled }.flatMap { downloads(of: $0, list) })
        // An adopted file can be newer than this list.
        for (number, download) in plan.downloads.enumerated() where !download.file.key.isPack {
            guard let current = disk.rows.current(download.file.key), current.version > download.file.version else {
                continue
            }
            plan.downloads[number].file = current.id
            plan.downloads[number].source = .file(nil)
        }
        if task.items.contains(Self.filled), let pack = downloads(of: Self.filled, list).first {
            plan.onlineTiles = UInt64(Self.tiles)
            plan.downloads += fill(pack, disk)
        }
        return .plan(plan)
    }

    /// The tiles that a pack lacks; a pack with too few tiles grows in a copy, under a name of its own.
    private func fill(_ lacking: DownloadItem, _ disk: SimDisk) -> [DownloadItem] {
        var pack = lacking
        let current = disk.rows.current(pack.file.key)?.id
        var there: Set<Int> = []
        if let current, current.version == pack.file.version {
            there = disk.tiles[current.digest] ?? []
            pack.file.digest = current.digest + (there.count == Self.tiles ? "" : "+")
        }
        there.formUnion(disk.tiles[pack.file.digest] ?? [])
        let missing = (0..<Self.tiles).filter { !there.contains($0) }
        return [pack]
            + missing.map { index in
                let name = "\(pack.file.digest)/\(index)"
                let file = FileID(key: pack.file.key, version: pack.file.version, digest: name)
                return DownloadItem(holder: pack.holder, file: file, size: Self.tileSize, source: .tile)
            }
    }

    /// Whether a file of the digest is still there: the files of the list before stay for those who are late.
    func has(_ digest: String, of download: DownloadItem) -> Bool {
        if download.isTile { return true }
        // Packs stay longer, for the lists that are cut later.
        let old = newest > 2 ? newest - 1 : 1
        let cuts = hasLateLists && download.file.key.isPack ? Array(1...newest) : []
        let live = Set([old, newest] + cuts).map {
            self.download(download.file.key.name, isPack: download.file.key.isPack, holder: nil, $0)
        }
        return live.contains { $0.file.digest == digest || $0.patch?.digest == digest }
    }
}
