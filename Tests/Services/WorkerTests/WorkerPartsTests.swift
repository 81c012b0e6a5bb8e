import Blobs
import Digests
import Errors
import Files
import Foundation
import PackageFiles
import TestSupport
import Testing
import Tiles
import Wire

@testable import Worker

/// A merge whose files may not be larger than a limit.
struct WorkerPartsTests {
    /// A picture of a pixel with a text of 10,000 letters that depends on its path.
    private static func picture(_ path: String) -> [UInt8] {
        var random = SplitMix(state: UInt64(path.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
        let text = Array("tEXtnoise\0".utf8) + (0..<10_000).map { _ in UInt8(random.next() % 64 + 40) }
        var crc: UInt32 = .max
        for byte in text {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let chunk = big(UInt32(text.count - 4)) + text + big(~crc)
        // Behind the signature and the first chunk.
        return Array(Stable.png.prefix(33)) + chunk + Array(Stable.png.dropFirst(33))
    }

    private func offer(
        _ stable: Stable, maxFile: UInt64, formats: [String], withoutMBTiles: Bool = false
    ) async throws -> PBOffer {
        let origin = try ScriptedServer { request in
            .reply(200, headers: [("Content-Type", "image/png")], body: Self.picture(request.path))
        }
        defer { origin.stop() }
        let fetch = try stable.offer(1, origin.url)
        let runner = LeaseRunner(store: stable.store, environment: [:])
        guard case .done(let commit) = await runner.run(fetch, WorkMeter()) else { throw CancellationError() }
        return try stable.merge([commit.fetch.shard], of: fetch.fetch) {
            $0.maxFile = maxFile
            $0.formats = formats
            $0.withoutMbtiles = withoutMBTiles
        }
    }

    private func merged(_ offer: PBOffer, in stable: Stable) async throws -> PBMergeResult {
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let outcome = await runner.run(offer, WorkMeter())
        guard case .done(let commit) = outcome else {
            Issue.record("the merge failed: \(outcome)")
            throw CancellationError()
        }
        return commit.merge
    }

    @Test func everyFileOfEachPartIsSmallEnoughAndTheSameAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let offer = try await offer(stable, maxFile: 100_000, formats: ["mbtiles-flat", "pmtiles"])
        let result = try await merged(offer, in: stable)
        let commit = PBCommit.make { ($0.token, $0.merge) = (1, result) }
        // The coordinator's decoder accepts it.
        _ = try Frame(decoding: try Frame(session: 1, seq: 1, .commit(commit)).encoded())
        let parts = Dictionary(grouping: result.files, by: \.part)
        #expect(parts.count > 2 && parts.keys.sorted() == (1...UInt32(parts.count)).map { $0 })
        #expect(result.tiles == 21 && result.package == result.files.first { $0.format == "mbtiles" }?.sha256)
        var all: [TileID] = []
        for (number, files) in parts.sorted(by: { $0.key < $1.key }) {
            #expect(files.map(\.format) == ["mbtiles", "mbtiles-flat", "pmtiles"])
            let next = result.files.first { $0.part == number + 1 }.flatMap { TileID(hilbertID: $0.firstTile) }
            let first = try #require(TileID(hilbertID: files[0].firstTile))
            let mask = TileMask(full: 2).part(from: first, before: next, common: Int(files[0].commonZooms))
            for file in files {
                #expect(file.size <= 100_000)
                let digest = try #require(Digest(bytes: file.sha256))
                let url = try #require(try stable.store.url(of: digest))
                let report = try PackageVerify.run(url, mask: mask)
                #expect(report.isVerified && report.tiles == file.tiles, "\(report.problems)")
                #expect(file.tiles == mask.count(in: try ZoomRange(parsing: "0-2")))
            }
            all += mask.tiles(in: .all)
        }
        #expect(Set(all).count == 21)
        #expect(try await merged(offer, in: stable) == result)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
    }

    /// Parts in PMTiles alone: each has one file, and together they have every tile.
    @Test func partsOfPMTilesAloneHaveNoOtherFile() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let offer = try await offer(stable, maxFile: 100_000, formats: ["pmtiles"], withoutMBTiles: true)
        let result = try await merged(offer, in: stable)
        let commit = PBCommit.make { ($0.token, $0.merge) = (1, result) }
        _ = try Frame(decoding: try Frame(session: 1, seq: 1, .commit(commit)).encoded())
        #expect(result.files.count > 1 && result.files.allSatisfy { $0.format == "pmtiles" && $0.size <= 100_000 })
        #expect(result.files.map(\.part) == (1...UInt32(result.files.count)).map { $0 })
        #expect(result.package == result.files.first?.sha256 && result.tiles == 21)
        #expect(result.size == result.files.reduce(0) { $0 + $1.size })
        var all: Set<TileID> = []
        for (index, file) in result.files.enumerated() {
            let next = result.files.dropFirst(index + 1).first.flatMap { TileID(hilbertID: $0.firstTile) }
            let first = try #require(TileID(hilbertID: file.firstTile))
            let mask = TileMask(full: 2).part(from: first, before: next, common: Int(file.commonZooms))
            let digest = try #require(Digest(bytes: file.sha256))
            let url = try #require(try stable.store.url(of: digest))
            let report = try PackageVerify.run(url, mask: mask)
            #expect(report.isVerified && report.tiles == file.tiles, "\(report.problems)")
            all.formUnion(mask.tiles(in: .all))
        }
        #expect(all.count == 21)
        // Whole, when it fits.
        let whole = try await merged(
            try await self.offer(stable, maxFile: 1_000_000, formats: ["pmtiles"], withoutMBTiles: true), in: stable)
        #expect(whole.files.map(\.sha256) == [whole.package] && whole.files[0].part == 0 && whole.tiles == 21)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
    }

    @Test func aPackageThatFitsHasNoParts() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let offer = try await offer(stable, maxFile: 1_000_000, formats: ["pmtiles"])
        let result = try await merged(offer, in: stable)
        #expect(result.files.map(\.format) == ["pmtiles"] && result.files[0].part == 0 && result.tiles == 21)
    }

    @Test func aLimitThatNoTileFitsFailsTheJob() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let offer = try await offer(stable, maxFile: 22_000, formats: [])
        let outcome = await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
        guard case .failed(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.cause == .packageTooLarge && !failure.retriable && failure.detail.contains("--max-file"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
    }
}
