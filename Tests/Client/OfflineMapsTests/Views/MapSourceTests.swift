import Foundation
import Synchronization
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Tiles from the store, the ambient cache and a real server.
@Suite(.timeLimit(.minutes(15)))
struct MapSourceTests {
    private let scratch: StoreScratch
    private let permission = NetworkPermission()
    private let ambient: AmbientCache
    private let web: WebResources
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 1, 2, 3]

    init() throws {
        scratch = try StoreScratch()
        ambient = AmbientCache(scratch.folder, limit: 4 << 20)
        web = WebResources(ambient, permission, fetcher: URLSessionFetcher())
    }

    private func source(
        _ server: ScriptedServer?, _ units: [InstalledFile] = [], template: String = "/{z}/{x}/{y}.png",
        use: StoreUse = .readOnly,
        _ change: (inout OnlineSource) -> Void = { _ in }
    ) -> MapSource {
        var online = server.map { OnlineSource(id: "demo", template: $0.url + template) }
        if var value = online {
            change(&value)
            online = value
        }
        return MapSource(
            TileReader(scratch.folder, units), web, tileset: "demo", online: online, use: use)
    }

    private func tile(_ zoom: Int, _ column: Int, _ row: Int) throws -> TileID {
        try #require(TileID(zoom: zoom, x: column, y: row))
    }

    private func found(_ answer: TileAnswer) -> Tile? { if case .found(let tile) = answer { tile } else { nil } }

    private func name(_ answer: TileAnswer) -> String {
        switch answer {
        case .found: "found"
        case .empty: "empty"
        case .absent: "absent"
        }
    }

    private static func fresh(_ headers: [(String, String)] = [], _ body: [UInt8] = png) -> ScriptedServer.Answer {
        .reply(200, headers: [("Content-Type", "image/png"), ("Cache-Control", "max-age=3600")] + headers, body: body)
    }

    @Test func theStoreComesFirstThenTheCacheThenTheServer() async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let source = source(server, [try scratch.unit("EE")])
        let stored = try #require(found(try await source.tile(try tile(7, 72, 37))))
        #expect(stored.coding == .gzip && stored.origin.item == .package("EE") && server.requests.isEmpty)
        let viewed = try #require(found(try await source.tile(try tile(7, 1, 2))))
        #expect([UInt8](viewed.body) == Self.png && viewed.mediaType == "image/png" && viewed.coding == .plain)
        #expect(viewed.origin.isAmbient && !viewed.isStale && server.requests.map(\.path) == ["/7/1/2.png"])
        // Seen once, it needs no server: also not for a source that knows no address.
        _ = try await source.tile(try tile(7, 1, 2))
        #expect(found(try await self.source(nil).tile(try tile(7, 1, 2)))?.body == viewed.body)
        #expect(server.requests.count == 1)
        #expect(name(try await self.source(nil).tile(try tile(7, 1, 3))) == "absent")
    }

    @Test func equalRequestsAreJoined() async throws {
        let release = Mutex(false)
        let server = try ScriptedServer { _ in
            while !release.withLock({ $0 }) { usleep(1_000) }
            return Self.fresh()
        }
        defer { server.stop() }
        let source = source(server)
        let wanted = try tile(5, 6, 7)
        let answers = try await withThrowingTaskGroup(of: TileAnswer.self) { group in
            for _ in 0..<20 { group.addTask { try await source.tile(wanted) } }
            while server.requests.isEmpty { await Task.yield() }
            release.withLock { $0 = true }
            return try await group.reduce(into: [TileAnswer]()) { $0.append($1) }
        }
        #expect(answers.map(name) == Array(repeating: "found", count: 20) && server.requests.count == 1)
    }

    @Test func aRequestEndsWithItsLastCaller() async throws {
        let server = try ScriptedServer { $0.earlier == 0 ? .silence : Self.fresh() }
        defer { server.stop() }
        let source = source(server)
        let wanted = try tile(5, 6, 7)
        let first = Task { try await source.tile(wanted) }
        while server.requests.isEmpty { await Task.yield() }
        first.cancel()
        await #expect(throws: StoreError.self) { _ = try await first.value }
        #expect(name(try await source.tile(wanted)) == "found" && server.requests.count == 2)
    }

    @Test(arguments: [204, 404, 410])
    func whatTheServerDoesNotHaveIsRemembered(_ status: Int) async throws {
        let server = try ScriptedServer { _ in .reply(status) }
        defer { server.stop() }
        let source = source(server)
        #expect(name(try await source.tile(try tile(5, 6, 7))) == "empty")
        #expect(name(try await source.tile(try tile(5, 6, 7))) == "empty" && server.requests.count == 1)
    }

    @Test(arguments: [500, 403, 429, 200, 302])
    func aFailureIsNeverRememberedAsEmpty(_ status: Int) async throws {
        let server = try ScriptedServer { request in
            if request.earlier > 0 { return Self.fresh() }
            // 200: a page that asks for a login.
            return .reply(status, headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
        }
        defer { server.stop() }
        let source = source(server)
        let wanted = try tile(5, 6, 7)
        await #expect(throws: StoreError.self) { _ = try await source.tile(wanted) }
        #expect(name(try await source.tile(wanted)) == "found")
    }

    @Test func staleTilesAreCheckedOnlineAndShownOffline() async throws {
        let mode = Mutex("unchanged")
        let server = try ScriptedServer { request in
            let headers = [
                ("Content-Type", "image/png"), ("ETag", "\"1\""), ("Cache-Control", "max-age=0, must-revalidate"),
            ]
            guard request.headers["if-none-match"] == "\"1\"" else {
                return .reply(200, headers: headers, body: Self.png)
            }
            switch mode.withLock({ $0 }) {
            case "unchanged": return .reply(304, headers: headers)
            case "down": return .reply(500)
            default: return .reply(200, headers: headers, body: Self.png + [9])
            }
        }
        defer { server.stop() }
        let source = source(server)
        let wanted = try tile(5, 6, 7)
        _ = try await source.tile(wanted)
        var answer = try #require(found(try await source.tile(wanted)))
        #expect([UInt8](answer.body) == Self.png && !answer.isStale && server.requests.count == 2)
        permission.set(isForcedOffline: true)
        answer = try #require(found(try await source.tile(wanted)))
        #expect([UInt8](answer.body) == Self.png && answer.isStale && server.requests.count == 2)
        permission.set(isForcedOffline: false)
        mode.withLock { $0 = "down" }
        answer = try #require(found(try await source.tile(wanted)))
        #expect([UInt8](answer.body) == Self.png && answer.isStale)
        mode.withLock { $0 = "changed" }
        answer = try #require(found(try await source.tile(wanted)))
        #expect([UInt8](answer.body) == Self.png + [9] && !answer.isStale)
    }

    @Test(arguments: ["rule", "forced", "no network", "expensive", "zooms"])
    func noRequestIsSentWithoutPermission(_ reason: String) async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let source = source(server) { if reason == "zooms" { $0.zooms = ZoomRange(min: 0, max: 4) } }
        switch reason {
        case "rule": permission.set(rule: .none)
        case "forced": permission.set(isForcedOffline: true)
        case "no network": permission.set(network: NetworkState.none)
        case "expensive":
            permission.set(rule: .notExpensive)
            permission.set(network: .expensive)
        default: break
        }
        for column in 0..<4 { #expect(name(try await source.tile(try tile(5, column, 7))) == "absent") }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        ("/{z}/{x}/{y}.png", false, "/3/1/2.png"), ("/{z}/{x}/{y}.png", true, "/3/1/5.png"),
        ("/{z}/{x}/{-y}.png?k=1", false, "/3/1/5.png?k=1"), ("/{z}/{x}/{y}{ratio}.png", false, "/3/1/2.png"),
    ])
    func addressesFollowTheTemplate(_ template: String, _ isTMS: Bool, _ path: String) async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let source = source(server, template: template) {
            $0.isTMS = isTMS
            $0.headers = ["X-Key": "k"]
        }
        _ = try await source.tile(try tile(3, 1, 2))
        #expect(server.requests.map(\.path) == [path] && server.requests.first?.headers["x-key"] == "k")
        let other = self.source(server, template: "/{q}.png")
        let error = await #expect(throws: StoreError.self) { _ = try await other.tile(.root) }
        #expect(error?.code == .invalidArguments)
    }

    @Test func aSlowServerIsGivenUpAndAnOldTileShown() async throws {
        let server = try ScriptedServer { request in
            request.earlier == 0
                ? .reply(200, headers: [("Content-Type", "image/png"), ("Cache-Control", "no-cache")], body: Self.png)
                : .silence
        }
        defer { server.stop() }
        let source = source(server) { $0.timeout = .milliseconds(300) }
        let wanted = try tile(5, 6, 7)
        _ = try await source.tile(wanted)
        let answer = try #require(found(try await source.tile(wanted)))
        #expect([UInt8](answer.body) == Self.png && answer.isStale && server.requests.count == 2)
    }

    @Test func aServerThatAsksToWaitIsLeftAlone() async throws {
        let server = try ScriptedServer { _ in .reply(429, headers: [("Retry-After", "3000")]) }
        defer { server.stop() }
        let source = source(server)
        for column in 0..<5 {
            let wanted = try tile(5, column, 7)
            let error = await #expect(throws: StoreError.self) { _ = try await source.tile(wanted) }
            #expect(error?.failure == .serverError && error?.isRetriable == true)
        }
        #expect(server.requests.count == 1)
    }

    @Test func theServersLimitsHold() async throws {
        let counts = Mutex((now: 0, most: 0))
        let server = try ScriptedServer { _ in
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            usleep(20_000)
            counts.withLock { $0.now -= 1 }
            return Self.fresh()
        }
        defer { server.stop() }
        // Two sources of one server share its limits.
        let sources = (0..<2).map { _ in
            source(server) {
                $0.parallel = 3
                $0.requestsPerSecond = 100_000
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for column in 0..<30 {
                let wanted = try tile(5, column, 7)
                group.addTask { _ = try await sources[column % 2].tile(wanted) }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 30 && counts.withLock { $0.most } <= 3 && counts.withLock { $0.most } > 1)
    }

    @Test func withoutTheStoreOnlyTheCacheAndTheServerAnswer() async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let source = source(server, [try scratch.unit("EE")], use: .disabled)
        #expect(found(try await source.tile(try tile(7, 72, 37)))?.mediaType == "image/png")
        #expect(server.requests.count == 1)
    }

    @Test func wholePacksAreLoadedAndNoSingleTile() async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let asked = Mutex<[TileID]>([])
        let reader = TileReader(scratch.folder, [])
        let installed = try scratch.unit("EE")
        let online = OnlineSource(id: "demo", template: server.url + "/{z}/{x}/{y}.png")
        let source = MapSource(reader, web, tileset: "demo", online: online, use: .readAndUpdate) { tile in
            asked.withLock { $0.append(tile) }
            if tile.zoom == 7 { reader.replace([installed]) }
        }
        #expect(name(try await source.tile(try tile(6, 0, 0))) == "absent")
        #expect(found(try await source.tile(try tile(7, 72, 37)))?.origin.item == .package("EE"))
        #expect(found(try await source.tile(try tile(8, 144, 75)))?.origin.item == .package("EE"))
        #expect(asked.withLock { $0 } == [try tile(6, 0, 0), try tile(7, 72, 37)] && server.requests.isEmpty)
        permission.set(rule: .none)
        #expect(name(try await source.tile(try tile(6, 0, 0))) == "absent" && asked.withLock { $0.count } == 2)
    }

    @Test func aDamagedPackageIsReplacedByTheServer() async throws {
        let server = try ScriptedServer { request in request.path == "/7/72/37.png" ? Self.fresh() : .reply(500) }
        defer { server.stop() }
        let installed = try scratch.unit("EE")
        try Data(repeating: 7, count: 5_000).write(to: try #require(scratch.folder.file(installed.path)))
        let source = source(server, [installed])
        #expect(found(try await source.tile(try tile(7, 72, 37)))?.mediaType == "image/png")
        let wanted = try tile(8, 144, 75)
        let error = await #expect(throws: StoreError.self) { _ = try await source.tile(wanted) }
        #expect(error?.code == .damaged)
    }

    @Test func addressesAreChangedForTheServerAndNotForTheCache() async throws {
        let server = try ScriptedServer { _ in Self.fresh() }
        defer { server.stop() }
        let web = WebResources(ambient, permission, fetcher: URLSessionFetcher()) { request in
            var request = request
            request.headers["X-Kind"] = request.kind.rawValue
            if let url = URL(string: request.url.absoluteString + "?key=secret") { request.url = url }
            return request
        }
        let online = OnlineSource(id: "demo", template: server.url + "/{z}/{x}/{y}.png")
        let source = MapSource(TileReader(scratch.folder, []), web, tileset: "demo", online: online, use: .readOnly)
        _ = try await source.tile(.root)
        #expect(server.requests.map(\.path) == ["/0/0/0.png?key=secret"])
        #expect(server.requests.first?.headers["x-kind"] == "tile")
        #expect(
            ambient.entry(server.url + "/0/0/0.png") != nil
                && ambient.entry(server.url + "/0/0/0.png?key=secret") == nil)
    }
}
