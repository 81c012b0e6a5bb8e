import Foundation
import GRDB
import Testing
import Tiles

@testable import OfflineMaps

/// What was viewed, in a real file.
struct AmbientCacheTests {
    private let scratch: StoreScratch
    private let cache: AmbientCache

    init() throws {
        scratch = try StoreScratch()
        cache = AmbientCache(scratch.folder, limit: 4 << 20)
    }

    private func entry(_ name: String, bytes: Int = 10, expires: Date? = nil, tile: TileID? = nil) -> AmbientEntry {
        AmbientEntry(
            address: "https://t.example.com/\(name)", place: tile.map { .init(tileset: "demo", tile: $0) },
            body: Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ name.utf8.count) }),
            mediaType: "image/png", etag: "\"\(name)\"", modified: Date(timeIntervalSince1970: 1_000), expires: expires,
            mustRevalidate: true, checked: Date(timeIntervalSince1970: 2_000))
    }

    private func address(_ name: String) -> String { "https://t.example.com/\(name)" }

    @Test func whatIsKeptIsFoundAlsoByAnotherProcess() throws {
        let tile = try #require(TileID(zoom: 3, x: 1, y: 2))
        let kept = entry("a", expires: Date(timeIntervalSince1970: 3_000), tile: tile)
        #expect(cache.entry(kept.address) == nil)
        #expect(cache.insert(kept))
        #expect(cache.entry(kept.address) == kept)
        // A second connection stands for a second process.
        let other = AmbientCache(scratch.folder, limit: 4 << 20)
        #expect(other.entry(.init(tileset: "demo", tile: tile)) == kept)
        #expect(other.entry(.init(tileset: "other", tile: tile)) == nil)
        var newer = kept
        newer.body = nil
        #expect(other.insert(newer))
        #expect(cache.entry(kept.address) == newer)
        #expect(cache.bytes > 0)
    }

    @Test func theLeastRecentlyUsedGoFirst() throws {
        for number in 0..<100 { cache.insert(entry("\(number)", bytes: 30_000)) }
        #expect(cache.entry(address("0")) != nil)
        // 100 and 60 of these are more than 4 MiB: what was read stays, and what was kept after the oldest goes.
        for number in 100..<160 {
            cache.insert(entry("\(number)", bytes: 30_000))
            #expect(cache.entry(address("0")) != nil)
        }
        #expect(cache.entry(address("1")) == nil && cache.entry(address("159")) != nil)
        let there = (0..<160).filter { cache.entry(address("\($0)")) != nil }
        #expect(there.count > 100)
        #expect(Array(there.dropFirst()) == Array(161 - there.count..<160))
        cache.close()
        #expect(cache.bytes <= 4 << 20)
    }

    @Test func aSmallerLimitMakesTheFileSmaller() throws {
        for number in 0..<100 { cache.insert(entry("\(number)", bytes: 30_000)) }
        cache.setLimit(1 << 20)
        #expect(cache.bytes <= 1 << 20)
        #expect(cache.entry(address("99")) != nil && cache.entry(address("0")) == nil)
        #expect(!cache.insert(entry("huge", bytes: 600_000)))
        cache.setLimit(0)
        #expect(cache.bytes == 0 && cache.entry(address("99")) == nil)
        #expect(!cache.insert(entry("x")) && cache.bytes == 0)
        cache.setLimit(1 << 20)
        #expect(cache.insert(entry("x")) && cache.entry(address("x")) != nil)
    }

    @Test func clearingFreesTheDiskForAllProcesses() throws {
        let other = AmbientCache(scratch.folder, limit: 4 << 20)
        for number in 0..<20 { other.insert(entry("\(number)", bytes: 30_000)) }
        #expect(cache.entry(address("3")) != nil)
        cache.clear()
        #expect(cache.bytes == 0)
        // The other process sees that its file is gone.
        #expect(other.entry(address("3")) == nil)
        #expect(other.insert(entry("new")) && cache.entry(address("new")) != nil)
        other.close()
        #expect(cache.insert(entry("newer")) && cache.entry(address("new")) != nil)
    }

    @Test func refreshingMakesEverythingOrOneTilesetStale() throws {
        let later = Date(timeIntervalSinceNow: 3_600)
        let tile = try #require(TileID(zoom: 3, x: 1, y: 2))
        var (map, style) = (entry("map", expires: later, tile: tile), entry("style", expires: later))
        (map.checked, style.checked) = (Date(), Date())
        cache.insert(map)
        cache.insert(style)
        cache.expire(tileset: "demo")
        #expect(cache.entry(map.address)?.isFresh(Date()) == false)
        #expect(cache.entry(style.address)?.isFresh(Date()) == true)
        cache.expire()
        #expect(cache.entry(style.address)?.isFresh(Date()) == false)
        #expect(cache.entry(style.address)?.body == style.body)
    }

    @Test func freshnessFollowsTheServerAndTheClock() {
        var entry = entry("a")
        let now = entry.checked
        #expect(!entry.isFresh(now))
        entry.mustRevalidate = false
        #expect(entry.isFresh(now) && !entry.isFresh(now.addingTimeInterval(86_400)))
        entry.expires = now.addingTimeInterval(5)
        #expect(entry.isFresh(now.addingTimeInterval(4)) && !entry.isFresh(now.addingTimeInterval(5)))
        // The clock went back by a year: nothing stays fresh for a year.
        #expect(!entry.isFresh(now.addingTimeInterval(-365 * 86_400)))
    }

    @Test(arguments: [
        "no database", "other tables", "newer version", "damaged body", "zeros in the middle", "a folder",
    ])
    func adamagedFileIsMadeAgain(_ damage: String) throws {
        for number in 0..<50 { cache.insert(entry("\(number)", bytes: 5_000)) }
        cache.close()
        let file = scratch.folder.ambient
        switch damage {
        case "no database": try Data(repeating: 7, count: 9_000).write(to: file)
        case "other tables", "newer version", "damaged body":
            let sql = [
                "other tables": "DROP TABLE resource; CREATE TABLE resource (x)",
                "newer version": "PRAGMA user_version = 9",
                "damaged body": "UPDATE resource SET body = zeroblob(5000)",
            ]
            let queue = try DatabaseQueue(path: file.path)
            try queue.write { try $0.execute(sql: sql[damage] ?? "") }
            try queue.close()
        case "a folder":
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        default:
            let handle = try FileHandle(forWritingTo: file)
            try handle.seek(toOffset: 4_096)
            try handle.write(contentsOf: Data(repeating: 0, count: 60_000))
            try handle.close()
        }
        for number in 0..<50 {
            if let found = cache.entry(address("\(number)")) { #expect(found == entry("\(number)", bytes: 5_000)) }
        }
        guard damage != "a folder" else {
            #expect(!cache.insert(entry("new")) && cache.entry(address("new")) == nil)
            return
        }
        #expect(cache.insert(entry("new")))
        #expect(cache.entry(address("new")) == entry("new"))
    }

    @Test func manyThreadsUseOneCache() async throws {
        let cache = cache
        let entries = (0..<20).map { entry("\($0)", bytes: 2_000) }
        let addresses = (0..<20).map { address("\($0)") }
        await withTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var found = 0
                    for number in 0..<100 {
                        cache.insert(entries[number % 20])
                        if cache.entry(addresses[(number + worker) % 20]) != nil { found += 1 }
                        if worker == 0, number % 25 == 24 { cache.clear() }
                    }
                    return found
                }
            }
            for await found in group { #expect(found > 0) }
        }
        #expect(cache.insert(entry("end")) && cache.entry(address("end")) != nil)
    }
}
