import Foundation
import Testing
import Wire
import ZeroMQ

@testable import Coordinator

@Suite(.timeLimit(.minutes(15)))
struct PermissionTests {
    /// A coordinator with keys, and a key for each name.
    private struct Keyring {
        let folder: URL
        let server: KeyPair
        private let pairs: [String: KeyPair]

        init(_ roles: [String: PeerRoles]) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            server = try KeyPair.generate()
            var pairs: [String: KeyPair] = [:]
            for (name, roles) in roles {
                let pair = try KeyPair.generate()
                try KeyFile.write(pair.publicKey, roles: roles, to: folder.appendingPathComponent("\(name).pub"))
                pairs[name] = pair
            }
            self.pairs = pairs
        }

        /// In one step, so that no process sees a folder without the key.
        func change(_ name: String, to roles: PeerRoles) throws {
            let new = folder.appendingPathComponent("\(name).new")
            try KeyFile.write(try #require(pairs[name]).publicKey, roles: roles, to: new)
            #expect(rename(new.path, folder.appendingPathComponent("\(name).pub").path) == 0)
        }

        func client(_ name: String) throws -> LinkSecurity {
            .curveClient(try #require(pairs[name]), serverKey: server.publicKey)
        }

        func fixture() throws -> Fixture {
            let list = try AllowList(folder: folder)
            return try Fixture {
                $0.security = .curveServer(server, list)
                // These workers say nothing while they wait, however slow the machine.
                $0.heartbeatSeconds = 60
                $0.leaseSeconds = 600
            }
        }
    }

    @Test func everyRequestToACoordinatorNeedsARole() {
        for type in MessageType.allCases where type != .ping && type.role != .coordinator {
            #expect(Permissions.needed(type) != .all, "\(type)")
            #expect(!Permissions.needed(type).isEmpty, "\(type)")
        }
    }

    @Test func aViewerReadsAndIsToldWhichRoleAnOrderNeeds() async throws {
        let keys = try Keyring(["eye": .viewer, "boss": .operator, "mule": [.worker, .merger]])
        try await keys.fixture().withCoordinator { service in
            let eye = try Talker(service.controlEndpoint, security: try keys.client("eye"))
            guard case .health = try await eye.ask(.ping(PBPing())) else { throw Talker.Silence() }
            guard case .jobs = try await eye.ask(.listJobs(PBListJobs())) else { throw Talker.Silence() }
            for order: Message in [
                .submit(try Fixture.submission()), .cancelJob(PBCancelJob()), .drainWorker(PBDrainWorker()),
                .originOrder(.make { $0.limit.origin = "tiles.example.com" }),
            ] {
                let problem = try await eye.problem(order)
                #expect(problem.code == "forbidden")
                #expect(problem.text.contains("'eye'") && problem.text.contains("role operator"), "\(problem.text)")
                #expect(problem.hint.contains("eye.pub"))
            }
            let mule = try Talker(service.controlEndpoint, security: try keys.client("mule"))
            #expect(try await mule.problem(.listJobs(PBListJobs())).text.contains("operator or viewer"))
            guard case .health = try await mule.ask(.ping(PBPing())) else { throw Talker.Silence() }
            let boss = try Talker(service.controlEndpoint, security: try keys.client("boss"))
            #expect(try await boss.submit(try Fixture.submission()).tiles == 21)
        }
    }

    @Test func anOperatorsKeyMayNotWork() async throws {
        let keys = try Keyring(["boss": .operator])
        let fixture = try keys.fixture()
        try await fixture.withCoordinator { service in
            let worker = try FakeWorker(
                service.workEndpoint, blobs: fixture.blobs(), security: try keys.client("boss"))
            guard case .reject(let reject) = try await worker.talker.ask(worker.hello()) else { throw Talker.Silence() }
            #expect(reject.code == "forbidden")
            #expect(reject.text.contains("worker or merger"))
            #expect(!reject.retriable)
        }
    }

    @Test func aMergersKeyIsOfferedNothingToFetch() async throws {
        let keys = try Keyring(["boss": .operator, "press": .merger, "mule": .worker])
        let fixture = try keys.fixture()
        try await fixture.withCoordinator { service in
            let press = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), security: try keys.client("press"))
            guard case .welcome = try await press.talker.ask(press.hello()) else { throw Talker.Silence() }
            try await press.talker.say(.ready(.make { $0.credit = 4 }))
            let boss = try Talker(service.controlEndpoint, security: try keys.client("boss"))
            _ = try await boss.submit(try Fixture.submission())
            let mule = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), security: try keys.client("mule"))
            let work = Task { try await mule.work() }
            let first = try await press.nextOffer()
            work.cancel()
            guard case .merge = first.work else {
                Issue.record("the merger was offered a batch")
                return
            }
        }
    }

    @Test func aWorkerThatLosesItsRoleIsSentAwayAndItsLeaseGoesToAnother() async throws {
        let keys = try Keyring(["boss": .operator, "mule": .worker, "ass": .worker])
        let fixture = try keys.fixture()
        try await fixture.withCoordinator { service in
            let mule = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), security: try keys.client("mule"))
            guard case .welcome = try await mule.talker.ask(mule.hello()) else { throw Talker.Silence() }
            try await mule.talker.say(.ready(.make { $0.credit = 1 }))
            let boss = try Talker(service.controlEndpoint, security: try keys.client("boss"))
            let job = try await boss.submit(try Fixture.submission()).job
            let offer = try await mule.nextOffer()
            try keys.change("mule", to: .viewer)
            var answer = try await mule.talker.ask(.progress(.make { $0.leases = [.make { $0.token = offer.token }] }))
            while case .pong = answer {
                answer = try await mule.talker.ask(.progress(.make { $0.leases = [.make { $0.token = offer.token }] }))
            }
            guard case .reject(let reject) = answer else { throw Talker.Silence() }
            #expect(reject.code == "forbidden")
            let ass = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), security: try keys.client("ass"))
            guard case .welcome = try await ass.talker.ask(ass.hello()) else { throw Talker.Silence() }
            try await ass.talker.say(.ready(.make { $0.credit = 1 }))
            let again = try await ass.nextOffer()
            #expect(again.job == job)
            #expect(again.attempt == 1, "being sent away costs no attempt")
        }
    }
}
