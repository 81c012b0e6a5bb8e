import Digests
import Files
import Foundation
import Synchronization
import Testing
import Tiles
import Wire

@testable import Coordinator

/// What jobs leave for rebuilds, through real sockets, a real state file and a real store, with a restart after each job.
@Suite(.timeLimit(.minutes(15)))
struct BaselineServiceTests {
    /// Answers every offer until `isReached`; returns the offers.
    private func drive(_ worker: FakeWorker, until isReached: () async throws -> Bool) async throws -> [PBOffer] {
        var offers: [PBOffer] = []
        let deadline = ContinuousClock.now + .seconds(60)
        try await worker.talker.say(worker.hello())
        while ContinuousClock.now < deadline {
            if try await isReached() { return offers }
            try await worker.talker.say(.ready(.make { $0.credit = 4 }))
            for message in try await worker.receive(upTo: .milliseconds(100)) {
                switch message {
                case .offer(let offer):
                    offers.append(offer)
                    try await worker.talker.say(.commit(try worker.result(of: offer)))
                case .unknownSession: try await worker.talker.say(worker.hello())
                default: break
                }
            }
        }
        throw Talker.Silence()
    }

    /// Builds the same package again in a coordinator of its own; returns the offers and the end.
    private func build(_ fixture: Fixture, _ round: Int) async throws -> (offers: [PBOffer], end: PBJobStatus) {
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            let job = try await talker.submit(Fixture.submission(request: "round \(round)", side: 2)).job
            let offers = try await drive(worker) {
                try await talker.watch(job) { _ in true }.state == "done"
            }
            return (offers, try await talker.watch(job) { $0.state == "done" })
        }
    }

    private func blobs(_ fixture: Fixture) throws -> Set<Data> {
        let folder = fixture.options.blobs
        return Set(
            try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
                $0.utf8.count == 67 && !$0.hasPrefix("tmp/")
            }.compactMap { Digest(hex: String($0.suffix(64))).map { Data($0.bytes) } })
    }

    private func fetches(_ offers: [PBOffer]) -> [PBFetchWork] {
        offers.compactMap { if case .fetch(let work) = $0.work { work } else { nil } }
    }

    /// The shard that a fake worker makes of a batch.
    private func shard(_ work: PBFetchWork) throws -> Data {
        let cell = try #require(work.cell.tileID)
        let zooms = try #require(ZoomRange(min: Int(work.zoomMin), max: Int(work.zoomMax)))
        return Data(Digest(of: Array("shard of \(cell) \(zooms)".utf8)).bytes)
    }

    @Test func aRebuildIsOfferedWhatIsKeptAndMergesNothing() async throws {
        let fixture = try Fixture {
            $0.leaseSeconds = 120
            $0.keptTileBytes = 1 << 30
        }
        let first = try await build(fixture, 1)
        let shards = try Set(fetches(first.offers).map(shard))
        #expect(first.offers.count > shards.count, "the merge")
        #expect(fetches(first.offers).allSatisfy { $0.base.isEmpty })
        #expect(first.end.packages.map(\.state) == ["published"])
        for round in 2...3 {
            let next = try await build(fixture, round)
            #expect(next.offers.count == fetches(next.offers).count, "no merge")
            #expect(fetches(next.offers).count == fetches(first.offers).count)
            #expect(Set(fetches(next.offers).flatMap(\.base)) == shards)
            #expect(next.end.packages.map(\.state) == ["unchanged"])
            #expect(next.end.packages.map(\.version) == [1])
            #expect(next.end.packages.map(\.sha256) == first.end.packages.map(\.sha256))
        }
        // One start more, for what the last end left to be removed.
        try await fixture.withCoordinator { _ in
            let deadline = ContinuousClock.now + .seconds(60)
            while try blobs(fixture) != shards, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(try blobs(fixture) == shards, "the shards and nothing else")
        let report = try await StateFile.check(fixture.options.data)
        #expect(report.problems == [])
    }

    @Test func aDiskThatIsNearlyFullTakesWhatIsKept() async throws {
        let room = Flag()
        let fixture = try Fixture {
            $0.leaseSeconds = 120
            $0.keptTileBytes = 1 << 30
            $0.diskSpace = { _ in DiskSpace(free: room.isSet ? 10 : 1 << 40, total: 1 << 41) }
        }
        _ = try await build(fixture, 1)
        #expect(try !blobs(fixture).isEmpty)
        room.set()
        try await fixture.withCoordinator { _ in
            let deadline = ContinuousClock.now + .seconds(60)
            while try !blobs(fixture).isEmpty, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(try blobs(fixture).isEmpty)
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }

    @Test func withoutRoomNothingIsKept() async throws {
        let fixture = try Fixture {
            $0.leaseSeconds = 120
            $0.keptTileBytes = 10
        }
        _ = try await build(fixture, 1)
        let second = try await build(fixture, 2)
        #expect(fetches(second.offers).allSatisfy { $0.base.isEmpty })
        #expect(second.end.packages.map(\.state) == ["unchanged"])
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }
}
