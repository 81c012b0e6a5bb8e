import Errors
import Foundation
import PMTiles
import TestSupport
import Testing
import TileBodies
import Tilesets
import Wire

@testable import Worker

/// A remote archive that stays open from one job to the next.
@Suite(.timeLimit(.minutes(15)))
struct RemoteArchiveCacheTests {
    /// One tile, the root directory only.
    private static func archive(_ letter: UInt8) -> [UInt8] {
        let body = Gzip.compress([0x1A, 0x07, 0x0A, 0x01, letter, 0x78, 0x02, 0x28, 0x40])
        let root = PMTilesDirectory(entries: [.init(tile: 0, run: 1, length: UInt64(body.count), offset: 0)]).encoded
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: UInt64(root.count))
        header.tiles = .init(offset: header.root.end, length: UInt64(body.count))
        (header.metadata, header.leaves) = (.init(offset: 127, length: 0), .init(offset: 127, length: 0))
        (header.internalCompression, header.tileCompression) = (1, 2)
        header.format = .mvt
        return header.encoded + root + body
    }

    private static func tileset(_ server: RangeServer) throws -> [UInt8] {
        let text = "{id: a, url: '\(server.url)', format: pbf, zoom: 0-1}"
        return try TilesetFile(text: text, name: "a.yaml", folder: URL(filePath: "/")).resolved().canonicalJSON
    }

    @Test func anotherVersionIsFoundAlthoughNothingIsRead() async throws {
        let server = try RangeServer(Self.archive(0x61))
        defer { server.stop() }
        let tileset = try Self.tileset(server)
        let cache = OriginCache(environment: [:])
        let first = try await cache.open(tileset, budget: "")
        #expect(try await !first.hasChanged())
        server.replace(with: Self.archive(0x62))
        // A job of the next day finds it open.
        let second = try await cache.open(tileset, budget: "")
        #expect(second.version == first.version)
        #expect(try await second.hasChanged())
        let third = try await cache.open(tileset, budget: "")
        #expect(third.version != first.version)
        #expect(try await !third.hasChanged())
    }

    @Test func aServerThatContradictsItselfIsNotAskedForEver() async throws {
        let server = try RangeServer(Self.archive(0x61))
        defer { server.stop() }
        let tileset = try Self.tileset(server)
        let cache = OriginCache(environment: [:])
        var failure: WorkFailure?
        for _ in 0..<20 where failure == nil {
            do {
                let opened = try await cache.open(tileset, budget: "")
                server.replace(with: Self.archive(0x61))
                #expect(try await opened.hasChanged())
            } catch let error as WorkFailure {
                failure = error
            }
        }
        #expect(failure?.cause.rawValue == "origin-unsupported" && failure?.retriable == false)
    }

    @Test func anArchiveThatIsBeingWrittenIsAnotherVersionForAJobAndDamageForOthers() async throws {
        let whole = Self.archive(0x61)
        let server = try RangeServer(whole)
        defer { server.stop() }
        let tileset = try Self.tileset(server)
        let pinned = try #require(try await OriginCache(environment: [:]).open(tileset, budget: "").version)
        server.replace(with: Array(whole.dropLast(5)))
        for (version, cause) in [(pinned, "source-changed"), ("", "origin-bad-archive")] {
            let failure = await #expect(throws: WorkFailure.self) {
                _ = try await OriginCache(environment: [:]).open(tileset, budget: "", version: version)
            }
            #expect(failure?.cause.rawValue == cause && failure?.retriable == false)
        }
    }

    /// Two machines behind one address that name different ETags for the same bytes.
    @Test func twoETagsInTurnsAreSaid() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        var manner = RangeServer.Manner()
        manner.alternates = true
        let server = try RangeServer(Self.archive(0x61), manner)
        defer { server.stop() }
        var offer = try stable.offer(1, "http://127.0.0.1:9")
        offer.fetch.tileset = Data(try Self.tileset(server))
        let size = Self.archive(0x61).count
        offer.fetch.sourceVersion = "\(size) bytes with ETag \"v1\""
        var found: WorkFailure?
        for _ in 0..<10 where found?.cause != .originUnsupported {
            let outcome = await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
            guard case .failed(let failure) = outcome else { continue }
            #expect(failure.cause != .sourceChanged, "\(failure.detail)")
            found = failure
        }
        let failure = try #require(found)
        #expect(failure.cause == .originUnsupported && !failure.retriable)
        #expect(failure.detail.contains("\"v1\"") && failure.detail.contains("\"v2\""), "\(failure.detail)")
        #expect(failure.detail.contains("in turns") && failure.detail.utf8.count <= 200)
        // A file that really was replaced is another version.
        let other = try RangeServer(Self.archive(0x61))
        defer { other.stop() }
        other.replace(with: Self.archive(0x62))
        offer.fetch.tileset = Data(try Self.tileset(other))
        let outcome = await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
        guard case .failed(let changed) = outcome else { throw CancellationError() }
        #expect(changed.cause == .sourceChanged && changed.detail.contains("\"v2\""))
    }

    @Test(arguments: [401, 403, 404, 410, 416])
    func aServerThatRefusesIsACauseOfItsOwn(_ status: Int) async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let server = try RangeServer(Self.archive(0x61))
        defer { server.stop() }
        var offer = try stable.offer(1, "http://127.0.0.1:9")
        offer.fetch.tileset = Data(try Self.tileset(server))
        server.refuse(with: status)
        let outcome = await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
        guard case .failed(let failure) = outcome else { throw CancellationError() }
        #expect(failure.cause == .originRefused && !failure.retriable && server.requests.count == 3)
        #expect(failure.detail.contains("answered \(status)"), "\(failure.detail)")
    }
}
