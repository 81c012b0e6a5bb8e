import CatalogFormat
import Foundation
import Synchronization
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// The few calls that an app needs, against a signed catalog on a real server.
@Suite(.timeLimit(.minutes(15)))
struct FewCallsTests {
    private let site: StoreSite
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 4)
        path = try site.add("FR", depth: 4)
        try site.addStyle("streets")
        try site.publish()
    }

    /// A map view that keeps what it was given.
    private actor Screen: MapScreen {
        var percents: [Int] = []
        var style: Data?
        func show(_ percent: Int) { percents.append(percent) }
        func draw(style: Data) { self.style = style }
    }

    private func open() async throws -> OfflineMaps {
        let fetcher = try site.options().fetcher
        return try await OfflineMaps.open(
            site.scratch.url, catalog: try #require(URL(string: site.server.url)), key: "\(site.key.publicKey)\n"
        ) { $0.fetcher = fetcher }
    }

    private static func all(_ download: MapDownload) async throws -> [DownloadProgress] {
        var all: [DownloadProgress] = []
        for try await progress in download { all.append(progress) }
        return all
    }

    private func waitForPart(of bytes: Int) async throws {
        try await Eventually.holds("a part of \(bytes) bytes") {
            StoreScan.parts(site.scratch.folder).values.contains(UInt64(bytes))
        }
    }

    private func waitForPause(of maps: OfflineMaps) async throws {
        try await Eventually.holds("the pause") { try await maps.store.tasks().last?.state == .paused(.user) }
    }

    @Test func theFirstPageOfTheGuideShowsAMap() async throws {
        let screen = Screen()
        try await showFrance(
            on: screen, folder: site.scratch.url, catalog: try #require(URL(string: site.server.url)),
            key: "\(site.key.publicKey)")
        let percents = await screen.percents
        #expect(percents.last == 100 && percents == percents.sorted())
        let style = JSONReading(try #require(await screen.style))
        let address = try #require(style["sources"]["demo"]["url"].text)
        let file = try #require(String(address.dropFirst("mbtiles://".count)).removingPercentEncoding)
        #expect(try Data(contentsOf: URL(filePath: file)).count == site.size(path))
        let sprite = try #require(style["sprite"].text.flatMap { URL(string: $0 + ".json") })
        #expect(try Data(contentsOf: sprite) == Data("{}".utf8))
        let glyphs = try #require(style["glyphs"].text)
            .replacing("{fontstack}", with: "Open%20Sans").replacing("{range}", with: "0-255")
        #expect(try Data(contentsOf: try #require(URL(string: glyphs))) == Data("glyphs".utf8))
    }

    /// What people copy is what was compiled and run.
    @Test func theGuideHasTheProgramOfThisTest() throws {
        let folder = Checkout.folder
        let guide = try String(contentsOf: folder.appending(path: "docs/offline-maps.md"), encoding: .utf8)
        let program = try String(
            contentsOf: folder.appending(path: "Tests/Client/OfflineMapsTests/FewCalls/FirstMap.swift"), encoding: .utf8
        )
        #expect(guide.contains("```swift\n\(program)```\n"))
    }

    @Test func aLoopThatIsCancelledKeepsItsBytes() async throws {
        let maps = try await open()
        let half = site.size(path) / 2
        site.stall(path, at: half)
        let loop = Task { try await Self.all(maps.download("FR")) }
        try await waitForPart(of: half)
        loop.cancel()
        #expect(try await loop.value.contains { $0.isComplete } == false)
        try await waitForPause(of: maps)
        site.stall(path, at: nil)
        let seen = try await Self.all(maps.download("FR"))
        #expect(seen.last?.isComplete == true && seen.last?.fraction == 1)
        #expect(seen.map(\.fraction) == seen.map(\.fraction).sorted())
        #expect(site.sent(path) == site.size(path))
        #expect(try maps.store.shows("FR 1", map))
        #expect(try await maps.store.tasks().isEmpty)
    }

    @Test func aLoopThatIsLeftStopsTheDownload() async throws {
        let maps = try await open()
        site.stall(path, at: site.size(path) / 2)
        for try await progress in maps.download("FR") {
            #expect(!progress.isComplete)
            break
        }
        try await waitForPause(of: maps)
    }

    @Test func theLastLoopStopsTheDownload() async throws {
        let maps = try await open()
        let (store, desk) = (maps.store, maps.store.downloads)
        try await store.refreshCatalog()
        site.stall(path, at: site.size(path) / 2)
        func isPaused() async throws -> Bool { try await store.tasks().map(\.state) == [.paused(.user)] }
        let one = try await desk.join([.package("FR")], in: store)
        let two = try await desk.join([.package("FR")], in: store)
        #expect(one == two && one.count == 1)
        await desk.leave(Set(one.values), in: store)
        #expect(try await !isPaused())
        await desk.leave(Set(two.values), in: store)
        #expect(try await isPaused())
        #expect(try await desk.join([.package("FR")], in: store) == one)
        #expect(try await !isPaused())
    }

    @Test func aDownloadContinuesInTheNextProcess() async throws {
        let half = site.size(path) / 2
        site.stall(path, at: half)
        let first = OfflineMaps(try await site.store())
        let loop = Task { try await Self.all(first.download("FR")) }
        try await waitForPart(of: half)
        // As a process that ends.
        await first.store.worker.close()
        loop.cancel()
        _ = await loop.result
        site.stall(path, at: nil)
        let second = OfflineMaps(try await site.store())
        #expect(try await Self.all(second.download("FR", style: "streets")).last?.isComplete == true)
        #expect(site.sent(path) == site.size(path))
        #expect(try second.store.shows("FR 1", map))
    }

    @Test func whatIsInstalledNeedsNoServer() async throws {
        let maps = try await open()
        #expect(try await Self.all(maps.download("FR", style: "streets")).last?.isComplete == true)
        site.server.stop()
        let asked = site.server.requests.count
        let again = try await Self.all(maps.download("FR", style: "streets"))
        #expect(again.map(\.isComplete) == [true] && again.map(\.transferred) == [0])
        await #expect(throws: StoreError.self) { try await Self.all(maps.update()) }
        #expect(site.server.requests.count == asked)
        _ = try maps.style("streets", for: "FR")
    }

    @Test func anUpdateTakesThePatch() async throws {
        let maps = try await open()
        _ = try await Self.all(maps.download("FR", style: "streets"))
        #expect(try await Self.all(maps.update()).map(\.isComplete) == [true])
        let whole = try site.add("FR", version: 2, depth: 4)
        let style = try site.addStyle("streets", version: 2)
        try site.publish()
        #expect(try await Self.all(maps.update()).last?.isComplete == true)
        #expect(try maps.store.shows("FR 2", map))
        #expect(site.sent(whole) == 0 && site.sent("patches/FR/1-2.mbtiles") > 0 && site.sent(style) > 0)
    }

    @Test func whatCannotBeDoneSaysWhy() async throws {
        let maps = try await open()
        func error(_ body: () async throws -> Void) async throws -> StoreError? {
            do { try await body() } catch let error as StoreError { return error }
            return nil
        }
        let package = try await error { _ = try await Self.all(maps.download("XX", style: "streets")) }
        #expect(package?.code == .notInCatalog && package?.description.contains("It has FR.") == true)
        let style = try await error { _ = try await Self.all(maps.download("FR", style: "dark")) }
        #expect(style?.code == .notInCatalog && style?.description.contains("It has streets.") == true)
        let absent = try await error { _ = try maps.style("streets", for: "FR") }
        #expect(absent?.code == .notFound)
        site.answer(403, at: path)
        let refused = try await error { _ = try await Self.all(maps.download("FR")) }
        #expect(refused?.code == .network && refused?.failure == .notAllowed)
        #expect(refused?.message.contains("refuses it with the HTTP status 403: '\(site.server.url)") == true)
        #expect(refused?.message.contains("/\(path)'; check the token ") == true, "\(refused?.message ?? "")")
        site.answer(404, at: path)
        let missing = try await error { _ = try await Self.all(maps.download("FR")) }
        #expect(missing?.code == .badFile && missing?.failure == .notFound)
        let sentence = "/\(path)'; the publisher has to push the catalog again."
        #expect(missing?.message.contains("does not have it: ") == true && missing?.message.hasSuffix(sentence) == true)
        site.answer(nil, at: path)
        let right = site.bytes(path)
        site.serve(right.map { ~$0 }, at: path)
        let wrong = try await error { _ = try await Self.all(maps.download("FR")) }
        #expect(wrong?.code == .badFile && wrong?.failure == .badBytes)
        #expect(
            wrong?.message.contains("not those of the catalog") == true && wrong?.message.hasSuffix(sentence) == true)
        site.serve(right, at: path)
        site.answer(nil, at: path)
        // The task that failed is tried again.
        #expect(try await Self.all(maps.download("FR")).last?.isComplete == true)
        let key = try await error {
            _ = try await OfflineMaps.open(site.scratch.url, catalog: URL(filePath: "/"), key: "ed25519-public:x")
        }
        #expect(key?.code == .invalidArguments)
    }

    /// Calls that read the list and downloads that need it end as they do when a server says nothing.
    @Test(arguments: [(503, nil), (429, "3600"), (503, "3600")] as [(Int, String?)])
    func aServerThatRefusesTheListEndsTheCalls(_ status: Int, _ retryAfter: String?) async throws {
        let maps = try await open()
        site.answer(status, at: "catalog.json", retryAfter: retryAfter)
        let start = ContinuousClock.now
        let catalog = await #expect(throws: StoreError.self) { try await maps.store.refreshCatalog() }
        #expect(catalog?.code == .network && catalog?.message.contains("HTTP status \(status)") == true)
        if retryAfter != nil { #expect(catalog?.message.contains("1 h 0 min") == true) }
        let seen = Mutex<[TaskState]>([])
        let download = await #expect(throws: StoreError.self) {
            for try await progress in maps.download("FR") { seen.withLock { $0.append(progress.state) } }
        }
        #expect(download?.code == .network && download?.message.contains("HTTP status \(status)") == true)
        #expect(start.duration(to: .now) < .seconds(90))
        let waits = seen.withLock { $0 }
        #expect(retryAfter != nil || !waits.isEmpty)
        #expect(waits.allSatisfy { if case .waiting(.server) = $0 { true } else { false } })
        // With the list of before a map is downloaded all the same.
        site.answer(nil, at: "catalog.json")
        try await maps.store.refreshCatalog()
        site.answer(status, at: "catalog.json", retryAfter: "3600")
        let run = MapDownload(
            DownloadRun(store: maps.store, maxAge: .zero, needsList: false) { store throws(StoreError) in
                try await store.items(package: "FR", style: nil)
            })
        #expect(try await Self.all(run).last?.isComplete == true)
    }

    @Test func aDownloadShowsThatTheServerAsksToWait() async throws {
        let maps = try await open()
        site.answer(503, at: path, retryAfter: "3600")
        for try await progress in maps.download("FR") where progress.state == .waiting(.server(.seconds(3_600))) {
            #expect(progress.description.hasSuffix("waits 1 h 0 min because the server asked for it"))
            return
        }
        Issue.record("The download did not wait.")
    }

    /// The tests run in the folder of the sources.
    @Test(arguments: ["", "."])
    func theWorkingFolderIsNotFilled(_ text: String) async throws {
        let files = FileManager.default
        let before = try files.contentsOfDirectory(atPath: files.currentDirectoryPath).sorted()
        try #require(!before.isEmpty)
        let (key, address) = ("\(try site.key.publicKey)", try #require(URL(string: site.server.url)))
        let error = await #expect(throws: StoreError.self) {
            try await OfflineMaps.open(URL(filePath: text), catalog: address, key: key)
        }
        #expect(error?.code == .invalidArguments)
        #expect(try files.contentsOfDirectory(atPath: files.currentDirectoryPath).sorted() == before)
    }

    /// A publisher adds a package after the list was read: it is found although the list is young.
    @Test func aPackageThatIsNewIsFound() async throws {
        let maps = try await open()
        try await maps.store.refreshCatalog()
        try site.add("LV", cell: (7, 72, 39))
        try site.publish()
        #expect(try await Self.all(maps.download("LV")).last?.isComplete == true)
    }

    @Test func aPackageIsRemoved() async throws {
        let maps = try await open()
        _ = try await Self.all(maps.download("FR"))
        try await maps.remove("FR")
        #expect(try await maps.store.installed().isEmpty)
        #expect(try await maps.store.usage().packages == 0)
        let error = await #expect(throws: StoreError.self) { try await maps.remove("FR") }
        #expect(error?.code == .notFound)
    }
}
