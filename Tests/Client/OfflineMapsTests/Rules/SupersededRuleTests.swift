import Testing
import Tiles

@testable import OfflineMaps

/// Packs in whose place a newer list has others.
@Suite struct SupersededRuleTests {
    private let item = Item.packs("EE")

    private func pack(_ index: Int, _ zooms: String, of package: String?) throws -> DownloadItem {
        let tile = try #require(TileID(zoom: 6, x: index, y: 18))
        let key = InstalledFileKey.pack(
            tileset: "demo", tile, try ZoomRange(parsing: zooms), edition: Edition(),
            owner: package.map { .package($0) } ?? .all)
        return DownloadItem(holder: item, file: FileID(key: key, version: 0, digest: key.name), size: 10)
    }

    /// Installs what the list of the moment has.
    private func install(_ downloads: [DownloadItem], _ driver: inout RuleDriver) throws {
        try finish(driver.add(.install, [item], Plan(downloads: downloads)).effects, &driver)
        #expect(driver.machine.rows.tasks.isEmpty)
    }

    @Test func otherZoomsAndWholePacksTakeThePlaceAndWhatOnlyLacksStays() throws {
        var driver = RuleDriver()
        let old = [try pack(35, "6-7", of: "EE"), try pack(36, "6-7", of: "EE"), try pack(37, "6-7", of: "EE")]
        try install(old, &driver)
        #expect(driver.machine.rows.held == Set(old.map(\.file.key)))
        let new = [try pack(35, "6-8", of: "EE"), try pack(36, "6-7", of: nil)]
        try install(new, &driver)
        #expect(driver.machine.rows.held == Set((new + [old[2]]).map(\.file.key)))
        #expect(driver.machine.rows.files[old[0].file] == nil && driver.machine.rows.files[old[1].file] == nil)
        #expect(driver.machine.rows.files[old[2].file] != nil)
    }

    @Test func packsOfTwoPackagesAtOnePlaceStay() throws {
        var driver = RuleDriver()
        let both = [try pack(35, "6-7", of: "EE"), try pack(35, "6-7", of: "LV")]
        try install(both, &driver)
        let newer = [try pack(35, "6-8", of: "EE")]
        try install(newer, &driver)
        #expect(driver.machine.rows.held == Set([newer[0], both[1]].map(\.file.key)))
    }

    /// A region moves: what it had makes space for what it gets, and goes when that is there.
    @Test func whatAChangedRegionHasNoUseForGoesWhenSpaceIsNeededAndAtTheEnd() throws {
        let trip = Item.region("trip")
        var (old, new) = ([try pack(35, "6-7", of: nil), try pack(36, "6-7", of: nil)], [DownloadItem]())
        for index in old.indices { old[index].holder = trip }
        for index in 40...41 {
            var download = try pack(index, "6-7", of: nil)
            download.holder = trip
            new.append(download)
        }
        func driver(_ quota: Quota) throws -> RuleDriver {
            var driver = RuleDriver()
            driver.send(.asked(RequestID(number: 77), .setQuota(quota)))
            let first = driver.add(.load, [trip], Plan(downloads: old))
            try finish(first.effects, &driver)
            #expect(driver.machine.rows.tasks.isEmpty && driver.machine.rows.files.count == 2)
            return driver
        }
        let released = Set(old.map { Hold(key: $0.file.key, item: trip) })
        var quota = Quota()
        quota.tilePacks = 2
        var free = try driver(quota)
        let second = free.add(.load, [trip], Plan(downloads: new, released: released))
        #expect(free.machine.rows.files.count == 2, "the old map stays until the new one is there")
        try finish(second.effects, &free)
        #expect(free.machine.rows.tasks.isEmpty && free.machine.rows.held == Set(new.map(\.file.key)))
        #expect(Set(free.machine.rows.files.keys) == Set(new.map(\.file)))
        // Both do not fit.
        (quota.bytes, quota.evictFrom) = (25, 1)
        var full = try driver(quota)
        let third = full.add(.load, [trip], Plan(downloads: new, released: released))
        #expect(!third.effects.discards.isEmpty)
        var effects = third.effects
        for trash in third.effects.discards { effects += full.send(.gone(trash)) }
        try finish(effects, &full)
        #expect(full.machine.rows.tasks.isEmpty && Set(full.machine.rows.files.keys) == Set(new.map(\.file)))
    }

    /// Does what the effects ask for, to the end.
    private func finish(_ begun: [Effect], _ driver: inout RuleDriver) throws {
        var (effects, done) = (begun, 0)
        while done < effects.count {
            switch effects[done] {
            case .fetch(let op, _, _, _, _):
                effects += driver.send(.received(op, size: 10))
                effects += driver.send(.fetched(op))
            case .verify(let op, _): effects += driver.send(.verified(op))
            case .prepare(let op, let download): effects += driver.send(.prepared(op, download.file, bytes: 10))
            case .discard(let trash, path: _): effects += driver.send(.gone(trash))
            default: break
            }
            done += 1
        }
    }

    /// A package of a hostile catalog may have any id.
    @Test func noPackageHasThePacksOfARegionOrOfAll() {
        let ids = ["trip", "-trip", "-:trip", "region trip", "", "-", "-:"]
        let owners: [PackOwner] = [.all] + ids.map { .package($0) } + ids.map { .region(RegionID($0)) }
        #expect(Set(owners.map(\.field)).count == owners.count)
    }
}
