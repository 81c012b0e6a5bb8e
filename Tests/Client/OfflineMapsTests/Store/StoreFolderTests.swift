import Foundation
import Testing
import Tiles

@testable import OfflineMaps

/// Names of files, the lock and the reserve.
struct StoreFolderTests {
    @Test(arguments: ["EE", "..", ".", "", "a/b", "bbox(1,2,3,4)", "ä", "%41", "A", "a\u{0}b", ".hidden"])
    func namesStayInTheFolder(_ id: String) throws {
        let scratch = try StoreScratch()
        let place = scratch.folder.unit(
            .package, Edition(), id: id, version: 3, sha256: String(repeating: "a", count: 64))
        let path = try #require(scratch.folder.relative(place.appending(path: "x.mbtiles")))
        let parts = path.split(separator: "/").map(String.init)
        #expect(parts.count == 6 && parts[0] == "units" && parts[4] == "3-aaaaaaaa")
        #expect(!parts.contains("..") && !parts.contains("."))
        #expect(scratch.folder.file(path)?.path == place.appending(path: "x.mbtiles").path)
    }

    @Test func differentIDsHaveDifferentNames() {
        let long = String(repeating: "x", count: 300)
        let ids = ["", "%", "a/b", "a%2Fb", "a", "A", long, long + "y", "%-", "ä"]
        let names = Set(ids.map(StoreFolder.component))
        #expect(names.count == ids.count)
        #expect(names.allSatisfy { 1...150 ~= $0.utf8.count && !$0.contains("/") })
    }

    @Test(arguments: ["../x", "a/../../x", "/etc/passwd", "", "a//b", "a/./b", "a\u{0}"])
    func pathsOfRowsDoNotLeaveTheFolder(_ path: String) throws {
        #expect(StoreFolder(URL(filePath: "/maps")).file(path) == nil)
        #expect(StoreFolder(URL(filePath: "/maps")).part(sha256: path) == nil)
    }

    @Test func oneHolderHasTheLock() throws {
        let scratch = try StoreScratch()
        let first = try #require(try StoreLock.acquire(scratch.folder.lock))
        #expect(try StoreLock.acquire(scratch.folder.lock) == nil)
        first.release()
        first.release()
        let second = try StoreLock.acquire(scratch.folder.lock)
        #expect(second != nil)
        #expect(throws: StoreError.self) { try StoreLock.acquire(scratch.url.appending(path: "no/lock")) }
    }

    @Test func anotherProcessSeesTheLock() throws {
        let scratch = try StoreScratch()
        let lock = try #require(try StoreLock.acquire(scratch.folder.lock))
        func isTaken() throws -> Bool {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/flock")
            process.arguments = ["--nonblock", scratch.folder.lock.path, "true"]
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus != 0
        }
        #expect(try isTaken())
        lock.release()
        #expect(try !isTaken())
    }

    @Test func theReserveIsReleasedAndMadeAgain() throws {
        let scratch = try StoreScratch()
        #expect(StoreReserve.make(scratch.folder))
        #expect(try Data(contentsOf: scratch.folder.reserve).count == 1 << 20)
        try StoreReserve.release(scratch.folder)
        #expect(!FileManager.default.fileExists(atPath: scratch.folder.reserve.path))
        try StoreReserve.release(scratch.folder)
        #expect(StoreReserve.make(scratch.folder))
    }

    @Test func itemsComeBackFromTheirKeys() {
        let items: [Item] = [
            .package("EE"), .package("a|b%", Edition(group: "g|", language: "-"), .pmtiles), .package("-"),
            .package(""), .packs("EE", Edition(language: "de")), .region("my | trip"), .style("streets"),
        ]
        for item in items { #expect(Item(key: item.key) == item) }
        #expect(Set(items.map(\.key)).count == items.count)
        for key in ["", "package", "package|EE", "package|EE|-|-|-", "region|%zz", "region|-", "style|a|b", "other|a"] {
            #expect(Item(key: key) == nil, "\(key)")
        }
    }
}
