import Foundation
import Testing
import Wire

@testable import Coordinator

/// Labels of workers and jobs, over the wire.
@Suite(.timeLimit(.minutes(15)))
struct LabelServiceTests {
    @Test func aJobWaitsForAWorkerWithItsLabelAndSaysSo() async throws {
        let fixture = try Fixture()
        let job = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var body = try Fixture.submission()
            body.labels = ["gpu-free", "big"]
            let job = try await talker.submit(body).job
            let other = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "plain")
            try await other.talker.say(other.hello())
            _ = try await other.next { if case .welcome = $0 { true } else { nil } }
            try await other.talker.say(.ready(.make { $0.credit = 4 }))
            let status = try await talker.watch(job) { $0.waiting.hasPrefix("no worker has the labels big, gpu-free;") }
            #expect(status.labels == ["big", "gpu-free"])
            return job
        }
        // The labels are in the state file.
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            guard case .hello(var hello) = worker.hello() else { throw Talker.Silence() }
            hello.labels = ["gpu-free", "fast", "big"]
            try await worker.talker.say(.hello(hello))
            _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
            try await worker.talker.say(.ready(.make { $0.credit = 4 }))
            #expect(try await worker.nextOffer().job == job)
            guard case .workers(let list) = try await talker.ask(.listWorkers(PBListWorkers())) else {
                throw Talker.Silence()
            }
            #expect(list.workers.map(\.labels) == [["big", "fast", "gpu-free"]])
        }
    }

    @Test func whatIsNoLabelIsRefused() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var body = try Fixture.submission()
            body.labels = ["GPU free"]
            let problem = try await talker.problem(.submit(body))
            #expect(problem.code == "bad-request" && problem.text.contains("'GPU free' is not a label"))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            guard case .hello(var hello) = worker.hello() else { throw Talker.Silence() }
            hello.labels = [""]
            try await worker.talker.say(.hello(hello))
            let reject = try await worker.next { if case .reject(let body) = $0 { body } else { nil } }
            #expect(reject.code == "bad-label" && !reject.retriable)
        }
    }
}
