import Foundation
import Testing
import Wire
import ZeroMQ

@testable import Coordinator

/// This coordinator with workers of the previous version, and of another major version.
@Suite(.timeLimit(.minutes(15)))
struct VersionTests {
    @Test func aWorkerOfLaterMinorsIsSpokenToInOurs() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), minor: 9)
            guard case .welcome(let welcome) = try await worker.talker.ask(worker.hello()) else {
                throw Talker.Silence()
            }
            #expect(welcome.wireMinor == UInt32(WireVersion.minors.upperBound))
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            async let _: Void = worker.work()
            _ = try await talker.watch(job) { $0.state == "done" }
        }
    }

    @Test func aPeerOfAnotherMajorIsToldSoInAFrameItCanRecognise() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            for endpoint in [service.workEndpoint, service.controlEndpoint] {
                let talker = try Talker(endpoint)
                var bytes = try Frame(session: 7, seq: 1, .ping(PBPing())).encoded()
                bytes[4] = 2
                try await talker.link.send([bytes])
                var answers: [[UInt8]] = []
                while answers.isEmpty { answers = try await talker.link.receive(upTo: .seconds(5)) }
                #expect(answers[0][4] == WireVersion.major)
                switch try Frame(decoding: answers[0]).message {
                case .reject(let body):
                    #expect(body.code == "version-mismatch" && body.text.contains("2.\(WireVersion.minors.upperBound)"))
                case .problem(let body):
                    #expect(body.code == "version-mismatch" && body.text.contains("2.\(WireVersion.minors.upperBound)"))
                default: Issue.record("neither reject nor problem")
                }
            }
        }
    }

    @Test func aDrainedWorkerIsShownSoAndGetsNoOffersUntilItIsTakenBack() async throws {
        // It says nothing while it waits, however slow the machine.
        let fixture = try Fixture {
            $0.heartbeatSeconds = 60
            $0.leaseSeconds = 600
        }
        try await fixture.withCoordinator { service in
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "berlin")
            guard case .welcome = try await worker.talker.ask(worker.hello()) else { throw Talker.Silence() }
            try await worker.talker.say(.ready(.make { $0.credit = 2 }))
            let talker = try Talker(service.controlEndpoint)
            #expect(try await talker.problem(.drainWorker(.make { $0.name = "paris" })).code == "unknown-worker")
            guard case .ordered(let ordered) = try await talker.ask(.drainWorker(.make { $0.name = "berlin" })) else {
                throw Talker.Silence()
            }
            #expect((ordered.changed, ordered.text) == (1, "leaves"))
            let isDraining = try await worker.next { if case .pong(let body) = $0 { body.draining } else { nil } }
            #expect(isDraining)
            guard case .workers(let list) = try await talker.ask(.listWorkers(PBListWorkers())) else {
                throw Talker.Silence()
            }
            #expect(list.workers.map(\.state) == ["draining"])
            // It would have the offer by the time its next report is answered.
            let job = try await talker.submit(try Fixture.submission()).job
            guard case .pong(let pong) = try await worker.talker.ask(.progress(PBProgress())) else {
                throw Talker.Silence()
            }
            #expect(pong.draining)
            let undo = PBDrainWorker.make { ($0.name, $0.undo) = ("berlin", true) }
            guard case .ordered = try await talker.ask(.drainWorker(undo)) else { throw Talker.Silence() }
            #expect(try await worker.nextOffer().job == job)
        }
    }
}
