/// Which files a rollback swaps.
extension StoreRows {
    /// The kept files that a rollback of items makes current.
    func filesComingBack(of items: Set<Item>) -> [InstalledFile] {
        keysGoingBack(of: items).compactMap { key in
            files.versions(of: key).first { $0.state == .previous }
        }
    }

    /// The files of items that go to the version before.
    func keysGoingBack(of items: Set<Item>) -> [InstalledFileKey] {
        let keys = Set(holds.filter { items.contains($0.item) }.map(\.key))
        return lastChanged(of: keys.sorted().filter { goesBack($0, among: keys) })
    }

    /// Of the files that can go back, what the last change brought: a map and its companions go back to a set that was there.
    ///
    /// All files that are no companions count as one.
    private func lastChanged(of keys: [InstalledFileKey]) -> [InstalledFileKey] {
        func order(_ key: InstalledFileKey) -> Int64 { readable(key)?.order ?? 0 }
        let maps = keys.filter { !$0.isCompanion }
        let (map, newest) = (maps.map(order).max(), keys.map(order).max())
        return keys.filter { $0.isCompanion ? order($0) == newest : map == newest }
    }

    /// Whether a rollback swaps a file: parts of a package go to one build, which has the parts that the newer one did not change.
    private func goesBack(_ key: InstalledFileKey, among keys: Set<InstalledFileKey>) -> Bool {
        func previous(_ key: InstalledFileKey) -> Int? {
            files.versions(of: key).first { $0.state == .previous }.map { Int($0.version) }
        }
        guard let own = readable(key), let old = previous(key) else { return false }
        let parts = keys.filter { arePartsOfOne(key, $0) } + [key]
        let newest = parts.compactMap { readable($0).map { Int($0.version) } }.max() ?? Int(own.version)
        let target = parts.compactMap(previous).max() ?? old
        return target > newest ? old == target : Int(own.version) == newest
    }

    /// Whether two files are parts of the same package.
    private func arePartsOfOne(_ key: InstalledFileKey, _ other: InstalledFileKey) -> Bool {
        guard key != other, let item = Item(key: key.name), let second = Item(key: other.name),
            case .package(_, let edition, let format) = item
        else { return false }
        return holders(of: key).contains { hold in
            guard case .package(let id, _, _) = hold.item else { return false }
            let whole = Item.package(id, edition, format)
            return whole != item && whole != second && whole.isMade(of: item) && whole.isMade(of: second)
        }
    }
}
