import Digests
import Files
import Foundation
import Synchronization
import TestSupport
import Testing
import Tiles

@testable import DeviceCommands
@testable import OfflineMaps

/// One file and several real servers, each with its own manner: what comes out is the file, and only liars are blamed.
@Suite(.timeLimit(.minutes(15)))
struct MirroredFetchTests {
    /// How a server behaves.
    private enum Manner: UInt64, CaseIterable {
        case honest, wholeOnly, lacks, fails, closes, breaks, breaksOfTheWhole
        case lies, liesAtTheEnd, isLonger, isShorter, says416, liesAsAWhole

        /// Whether it gives other bytes than those of the file.
        var isLiar: Bool { rawValue >= Self.lies.rawValue }
        /// Whether the file can be had from it alone.
        var hasAll: Bool { self == .honest || self == .wholeOnly }

        func answer(_ request: ScriptedServer.Request, _ file: [UInt8]) -> ScriptedServer.Answer {
            let range = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            let (from, all) = (min(range ?? 0, file.count), file.count)
            func part(_ bytes: [UInt8]) -> ScriptedServer.Answer {
                guard from > 0 else { return .reply(200, body: bytes) }
                let value = "bytes \(from)-\(bytes.count - 1)/\(bytes.count)"
                return .reply(206, headers: [("Content-Range", value)], body: Array(bytes.dropFirst(from)))
            }
            func cut(_ status: Int, from: Int) -> ScriptedServer.Answer {
                var head = "HTTP/1.1 \(status) Part\r\nContent-Length: \(all - from)\r\n"
                if status == 206 { head += "Content-Range: bytes \(from)-\(all - 1)/\(all)\r\n" }
                return .raw(Array((head + "\r\n").utf8) + file[from..<from + (all - from) / 2])
            }
            switch self {
            case .honest: return part(file)
            case .wholeOnly: return .reply(200, body: file)
            case .lacks: return .reply(404)
            case .fails: return .reply(500)
            case .closes: return .raw([])
            case .breaks: return cut(from > 0 ? 206 : 200, from: from)
            case .breaksOfTheWhole: return cut(200, from: 0)
            case .lies: return part(file.map { $0 ^ 1 })
            case .liesAtTheEnd: return part(file.dropLast() + [~file[all - 1]])
            case .isLonger: return part(file + [1, 2, 3])
            case .isShorter: return part(file.dropLast(3))
            case .says416:
                return range == nil ? .reply(416) : .reply(416, headers: [("Content-Range", "bytes */\(from)")])
            case .liesAsAWhole: return .reply(200, body: file.map { $0 ^ 1 })
            }
        }
    }

    /// Several servers of one file, the first of which is the catalog's own.
    private final class Fleet: Sendable {
        let scratch: DeviceScratch
        let servers: [ScriptedServer]
        let manners: [Manner]
        let fetch: MirroredFetch
        let wanted: MirroredFetch.Wanted
        let request: ResourceRequest
        let warnings = Warnings()

        final class Warnings: Sendable {
            let all = Mutex<[RefusedAddress]>([])
        }

        init(_ manners: [Manner], _ file: [UInt8], _ fetcher: any Fetcher) throws {
            scratch = try DeviceScratch()
            self.manners = manners
            servers = try manners.map { manner in try ScriptedServer { manner.answer($0, file) } }
            let (base, warnings) = (try #require(URL(string: servers[0].url + "/")), warnings)
            let known = CatalogServers(base) { refused in warnings.all.withLock { $0.append(refused) } }
            known.setMirrors(servers.dropFirst().map { $0.url + "/" })
            fetch = MirroredFetch(servers: known, fetcher: fetcher, transform: nil)
            request = ResourceRequest(base.appending(path: "file"), .package)
            wanted = MirroredFetch.Wanted(
                part: scratch.file("a.part"), size: UInt64(file.count), sha256: Digest(of: file).hex)
        }

        deinit { for server in servers { server.stop() } }

        /// Asks once, as the rules of the store do after each failure; whether the part file is the file.
        func attempt(_ file: [UInt8]) async throws -> Bool {
            let canChoose = fetch.servers.places(of: request.url).count > 1
            do throws(FetchError) {
                _ = try await fetch.file(request, wanted) { _ in }
            } catch { return false }
            let isRight = try [UInt8](Data(contentsOf: wanted.part)) == file
            #expect(isRight || !canChoose || fetch.servers.places(of: request.url).count == 1, "\(manners)")
            // The rules remove what has the wrong digest.
            if !isRight { try FileManager.default.removeItem(at: wanted.part) }
            return isRight
        }
    }

    @Test(arguments: WebFetcher.allCases) func everyMixtureOfServersGivesTheFileOrNothing(_ web: WebFetcher)
        async throws
    {
        let fetcher = try web.make()
        var random = SplitMix(state: web == .curl ? 1 : 2)
        for round in 0..<150 {
            let file = random.bytes(20_000)
            var manners = (0..<2 + Int(random.next() % 3)).map { _ in
                Manner(rawValue: random.next() % UInt64(Manner.allCases.count)) ?? .honest
            }
            let hasHonest = round % 5 != 0
            if hasHonest, !manners.contains(where: \.hasAll) {
                manners[Int(random.next() % UInt64(manners.count))] = random.next() % 2 == 0 ? .honest : .wholeOnly
            }
            let fleet = try Fleet(manners, file, fetcher)
            // What an earlier process has left: right bytes, wrong ones, or none.
            switch random.next() % 4 {
            case 0: try Data(file.prefix(7_000)).write(to: fleet.wanted.part)
            case 1: try Data(random.bytes(7_000)).write(to: fleet.wanted.part)
            case 2: try Data(random.bytes(30_000)).write(to: fleet.wanted.part)
            default: break
            }
            var isDone = false
            for _ in 0..<20 where !isDone { isDone = try await fleet.attempt(file) }
            #expect(isDone || !manners.contains(where: \.hasAll), "round \(round): \(manners)")
            let refused = fleet.warnings.all.withLock { $0 }
            #expect(Set(refused).count == refused.count, "each is named once: \(refused)")
            for address in refused {
                let number = try #require(fleet.servers.firstIndex { $0.url + "/" == address.address.absoluteString })
                #expect(manners[number].isLiar, "round \(round): \(manners), blamed \(number)")
            }
        }
    }

    @Test func aServerThatHangsCostsItsTimeOnce() async throws {
        let file = [UInt8](repeating: 7, count: 100_000)
        let scratch = try DeviceScratch()
        let silent = try ScriptedServer { _ in .silence }
        let mirror = try ScriptedServer { Manner.honest.answer($0, file) }
        defer {
            silent.stop()
            mirror.stop()
        }
        let servers = CatalogServers(URL(string: silent.url + "/"))
        servers.setMirrors([mirror.url + "/"])
        let fetch = MirroredFetch(servers: servers, fetcher: try CurlFetcher(stall: .seconds(1)), transform: nil)
        for name in ["a", "b", "c"] {
            let wanted = MirroredFetch.Wanted(
                part: scratch.file(name), size: UInt64(file.count), sha256: Digest(of: file).hex)
            let url = try #require(URL(string: "\(silent.url)/\(name)"))
            _ = try await fetch.file(ResourceRequest(url, .package), wanted) { _ in }
            #expect(try [UInt8](Data(contentsOf: wanted.part)) == file)
        }
        #expect(silent.requests.count == 1 && mirror.requests.count == 3)
    }

    /// A document that publications replace: the next address may still have the listed one, and nobody lied.
    @Test func aNewerDocumentIsNoLie() async throws {
        let file = [UInt8](repeating: 3, count: 1_000)
        let fleet = try Fleet([.lies, .honest], file, try CurlFetcher(stall: .seconds(20)))
        for _ in 0..<2 {
            let answer = try await fleet.fetch.body(fleet.request, limit: 1_000) { $0 == Data(file) }
            #expect([UInt8](answer.body) == file)
        }
        #expect(fleet.warnings.all.withLock { $0.isEmpty } && fleet.servers[0].requests.count == 2)
        let liars = try Fleet([.lies, .isLonger], file, try CurlFetcher(stall: .seconds(20)))
        do throws(FetchError) {
            _ = try await liars.fetch.body(liars.request, limit: 1_000) { $0 == Data(file) }
            Issue.record("other bytes were accepted")
        } catch { #expect(error.cause == .badBytes) }
    }

    @Test func whichAddressesAreUsed() throws {
        let base = try #require(URL(string: "https://a.example/offline/"))
        func hosts(_ base: URL, _ mirrors: [String]) -> [String?] {
            let servers = CatalogServers(base)
            servers.setMirrors(mirrors)
            return servers.places(of: base.appending(path: "packages/1/EE.mbtiles")).map { $0.url.host() }
        }
        #expect(
            hosts(base, ["https://b.example/x/", "http://c.example/", "https://a.example/offline/", "file:///etc/"])
                == ["a.example", "b.example"])
        #expect(hosts(URL(filePath: "/srv/catalog/"), ["https://b.example/"]) == [nil])
        let servers = CatalogServers(base)
        servers.setMirrors(["https://b.example/x/"])
        let path = "patches/EE/1-2.mbtiles"
        #expect(
            servers.places(of: base.appending(path: path)).last?.url.absoluteString == "https://b.example/x/\(path)")
        // A tile server is not the catalog.
        let tile = try #require(URL(string: "https://tiles.example/1/2/3"))
        #expect(servers.places(of: tile).map(\.url) == [tile])
        // The last one is never given up.
        servers.refuse(base, .wrongBytes)
        #expect(servers.places(of: base.appending(path: path)).map(\.rank) == [1])
        servers.refuse(try #require(URL(string: "https://b.example/x/")), .wrongBytes)
        #expect(servers.places(of: base.appending(path: path)).map(\.rank) == [1])
    }
}
