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
        var (_, effects) = driver.add(.install, [item], Plan(downloads: downloads))
        var done = 0
        while done < effects.count {
            switch effects[done] {
            case .fetch(let op, _, _, _, _):
                effects += driver.send(.received(op, size: 10))
                effects += driver.send(.fetched(op))
            case .verify(let op, _): effects += driver.send(.verified(op))
            case .prepare(let op, let download): effects += driver.send(.prepared(op, download.file, bytes: 10))
            default: break
            }
            done += 1
        }
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

    /// A package of a hostile catalog may have any id.
    @Test func noPackageHasThePacksOfARegionOrOfAll() {
        let ids = ["trip", "-trip", "-:trip", "region trip", "", "-", "-:"]
        let owners: [PackOwner] = [.all] + ids.map { .package($0) } + ids.map { .region(RegionID($0)) }
        #expect(Set(owners.map(\.field)).count == owners.count)
    }
}
