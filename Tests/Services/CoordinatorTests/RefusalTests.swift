import Blobs
import Foundation
import Scheduling
import Shards
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Coordinator

@Suite(.timeLimit(.minutes(15)))
struct RefusalTests {
    @Test func aCommandAtAnEndpointForWorkersOrBlobsIsToldSo() async throws {
        let fixture = try Fixture { $0.blobBind = "tcp://127.0.0.1:*" }
        try await fixture.withCoordinator { service in
            let port = try #require(service.controlEndpoint.split(separator: ":").last)
            let blobs = try #require(service.blobEndpoint)
            for (endpoint, name, port) in [(service.workEndpoint, "workers", port), (blobs, "blobs", "PORT")] {
                for message in [Message.ping(PBPing()), .listJobs(PBListJobs()), .cancelJob(PBCancelJob())] {
                    let problem = try await Talker(endpoint).problem(message)
                    #expect(problem.code == "wrong-endpoint" && !problem.retriable)
                    #expect(problem.text.contains("endpoint for \(name)"), "\(problem.text)")
                    #expect(problem.hint.hasSuffix("tcp://HOST:\(port)"), "\(problem.hint)")
                }
            }
        }
    }

    @Test func submissionsThatMakeNoSenseAreRefusedWithACode() async throws {
        let fixture = try Fixture { $0.bboxTileLimit = 20 }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let limit = try await talker.problem(.submit(try Fixture.submission(kind: "bbox")))
            #expect(limit.code == "tile-limit")
            #expect(limit.text == "The box has 21 tiles; the limit is 20.")
            #expect(limit.hint.contains("--tile-limit 21"))
            var raised = try Fixture.submission(kind: "bbox")
            raised.tileLimit = 21
            raised.dryRun = true
            #expect(try await talker.submit(raised).tiles == 21)
            for id in ["", "a/b", "..", ".hidden", "ümlaut", String(repeating: "x", count: 101)] {
                #expect(
                    try await talker.problem(.submit(try Fixture.submission(id: id))).code == "bad-package", "\(id)")
            }
            let option = try await talker.problem(.submit(try Fixture.submission(id: "-x")))
            #expect(option.text.contains("but no dot or hyphen at the start"))
            var twins = try Fixture.submission(id: "aa")
            twins.packages.append(twins.packages[0])
            twins.packages[1].id = "Aa"
            let same = try await talker.problem(.submit(twins))
            #expect(same.code == "bad-package" && same.text.contains("'aa' and 'Aa' differ only in letter case"))
            var broken = try Fixture.submission()
            broken.packages[0].mask = Data([9, 9, 9])
            #expect(try await talker.problem(.submit(broken)).code == "bad-mask")
            var nameless = try Fixture.submission()
            nameless.tileset = Data("[]".utf8)
            #expect(try await talker.problem(.submit(nameless)).code == "bad-request")
            var bands = try Fixture.submission()
            for text in ["0-5", "0-5@6", "0-5@0,3-7@3", "x", String(repeating: "0-5@0,", count: 400)] {
                bands.publish.tilePacks = text
                #expect(try await talker.problem(.submit(bands)).code == "bad-request", "\(text.prefix(20))")
            }
            bands.publish.tilePacks = "0-5@0,6-11@6"
            #expect(try await talker.problem(.submit(bands)).text.contains("contains zoom 12"))
            bands.publish.tilePacks = "0-5@0,6-22@6"
            bands.tileset = Data(#"{"id":"a/b"}"#.utf8)
            #expect(try await talker.problem(.submit(bands)).text.contains("'a/b'"))
            bands.tileset = Data(#"{"id":"demo"}"#.utf8)
            bands.dryRun = true
            #expect(try await talker.submit(bands).tiles > 0)
            guard case .jobs(let jobs) = try await talker.ask(.listJobs(PBListJobs())) else { throw Talker.Silence() }
            #expect(jobs.jobs.isEmpty)
        }
    }

    @Test func aBoxIdOfCartosFormIsAPackageID() {
        #expect(SubmitPlanner.isFileSafe("bbox(24.5,59.3,25.0,59.5)"))
        #expect(!SubmitPlanner.isFileSafe("a b"))
    }

    @Test func aWorkerOfAnotherBlobStoreIsRejected() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            guard case .hello(var hello) = worker.hello() else { throw Talker.Silence() }
            hello.blobStore = String(repeating: "0", count: 32)
            guard case .reject(let reject) = try await worker.talker.ask(.hello(hello)) else { throw Talker.Silence() }
            #expect(reject.code == "wrong-blob-store")
            hello.blobStore = try fixture.blobs().id
            hello.shardFormats = [2]
            guard case .reject(let other) = try await worker.talker.ask(.hello(hello)) else { throw Talker.Silence() }
            #expect(other.code == "version-mismatch")
            // Who cannot write packages that this build knows may still fetch.
            hello.shardFormats = [1]
            hello.packageFormats = [9]
            guard case .welcome = try await worker.talker.ask(.hello(hello)) else { throw Talker.Silence() }
            hello.canFetch = false
            guard case .reject(let merger) = try await worker.talker.ask(.hello(hello)) else { throw Talker.Silence() }
            #expect(merger.code == "version-mismatch")
        }
    }

    @Test func threeMalformedFramesEndAConnectionAndTroubleNobodyElse() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let rude = try Talker(service.controlEndpoint)
            let polite = try Talker(service.controlEndpoint)
            guard case .health = try await polite.ask(.ping(PBPing())) else { throw Talker.Silence() }
            for _ in 0..<3 { try await rude.link.send([[1, 2, 3]]) }
            while await service.environment.router.counters().cut == 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
            guard case .health = try await polite.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(polite.link.state == .connected)
            #expect(await service.environment.router.counters().cut == 1)
        }
    }

    @Test func aPeerIsHeardAgainAfterAMinute() async throws {
        let fixture = try Fixture()
        let peer = try await fixture.withCoordinator { service in
            // A real peer, because there is no other way to make one.
            let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain)
            let talker = try Talker(router.boundEndpoints[0])
            try await talker.say(.ping(PBPing()))
            let inbound = try await router.receive(upTo: .seconds(600))
            await router.close()
            return try #require(inbound.first).peer
        }
        var peers = Peers()
        func at(_ seconds: Int64) -> Tick { Tick(milliseconds: seconds * 1_000) }
        let strikes = [0, 50, 70, 80].map { peers.strike(peer, now: at($0)) }
        #expect(strikes == [false, false, false, true])
        let ignored = [139, 140].map { peers.isIgnored(peer, now: at($0)) }
        #expect(ignored == [true, false])
    }
}

@Suite(.timeLimit(.minutes(15)))
struct LimitTests {
    @Test func aWorkerOfAnotherMajorVersionIsToldSo() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.workEndpoint)
            var bytes = try Frame(session: talker.session, seq: 1, .bye(PBBye())).encoded()
            bytes[4] = WireVersion.major + 1
            try await talker.link.send([bytes])
            // A link also returns, without a frame, when its state changes.
            var answers: [[UInt8]] = []
            while answers.isEmpty { answers = try await talker.link.receive(upTo: .seconds(5)) }
            let answer = try #require(answers.first)
            guard case .reject(let reject) = try Frame(decoding: answer).message else { throw Talker.Silence() }
            #expect(reject.code == "version-mismatch")
            #expect(reject.text.contains("Upgrade the older"))
        }
    }

    @Test func thereIsRoomForSoManyWorkersAndJobs() async throws {
        let fixture = try Fixture {
            $0.maxSessions = 1
            $0.maxOpenJobs = 1
        }
        try await fixture.withCoordinator { service in
            let first = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await first.talker.ask(first.hello())
            let second = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            guard case .reject(let reject) = try await second.talker.ask(second.hello()) else { throw Talker.Silence() }
            #expect(reject.code == "too-many-workers" && reject.retriable)
            guard case .welcome = try await first.talker.ask(first.hello()) else { throw Talker.Silence() }
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.submit(try Fixture.submission(request: "a"))
            let problem = try await talker.problem(.submit(try Fixture.submission(request: "b")))
            #expect(problem.code == "busy" && problem.retriable)
            #expect(try await talker.submit(try Fixture.submission(request: "a")).existing)
        }
    }

    @Test(
        arguments: [
            (0.001, 935, 0), (0.001, 1_000, 1), (0, 1_000_000, 0), (1, 77, 77), (0.5, 3, 1),
            (1, UInt64.max, UInt64.max),
        ] as [(Double, UInt64, UInt64)])
    func aPackageMayLackItsShareAndNoMore(share: Double, tiles: UInt64, most: UInt64) {
        #expect(CoordinatorState.mayLack(share, of: tiles) == most)
    }

    @Test func foldersOnANetworkAreKnown() {
        let mounts = """
            24 1 259:3 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p3 rw
            97 24 0:53 / /srv/data rw,relatime shared:52 - nfs4 server:/export rw,vers=4.2
            98 24 0:54 /x /mnt rw - tmpfs tmpfs rw
            broken line
            """
        func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
            (major & 0xFFF) << 8 | (minor & 0xFF) | (minor & 0xFFFF_FF00) << 12
        }
        #expect(NetworkFolder.name(ofDevice: device(0, 53), mounts: mounts) == "nfs4")
        #expect(NetworkFolder.name(ofDevice: device(259, 3), mounts: mounts) == nil)
        #expect(NetworkFolder.name(ofDevice: device(0, 54), mounts: mounts) == nil)
        #expect(NetworkFolder.name(ofDevice: device(0, 300), mounts: mounts) == nil)
        #expect(NetworkFolder.name(of: FileManager.default.temporaryDirectory) == nil)
    }
}
