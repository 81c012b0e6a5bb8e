import ClusterClient
import Foundation
import TestSupport
import Testing
import Wire
import ZeroMQ

@testable import Worker

/// Workers with the addresses of several coordinators.
@Suite(.timeLimit(.minutes(15))) struct AddressListTests {
    /// A folder with a short path for sockets.
    private struct Sockets {
        let folder = FileManager.default.temporaryDirectory.appending(path: "epochs-\(UInt32.random(in: 0 ... .max))")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        subscript(name: String) -> String { "ipc://\(folder.path)/\(name)" }

        func remove() {
            do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") }
        }
    }

    /// Runs a worker with the addresses while `body` runs, and stops it afterwards.
    private func withWorker(
        at addresses: [String], survey: EpochSurvey.Patience = .worker,
        _ body: (Stable, WorkerService) async throws -> Void
    ) async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let service = stable.service("") { options in
            options.connect = addresses
            options.searchInterval = (.milliseconds(300), .milliseconds(100))
            options.survey = survey
        }
        let worker = Task { try await service.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(stable, service)) } catch { result = .failure(error) }
        worker.cancel()
        _ = await worker.result
        try result.get()
    }

    /// Answers reports until its link is closed; the first hello ends it.
    private func serve(_ coordinator: FakeCoordinator) -> Task<Bool, Never> {
        Task {
            do {
                _ = try await coordinator.expect { if case .hello(let body) = $0 { body } else { nil } }
                return true
            } catch {
                return false
            }
        }
    }

    @Test func aWorkerJoinsTheCoordinatorOfTheHighestEpoch() async throws {
        let sockets = try Sockets()
        defer { sockets.remove() }
        let (old, new) = (
            try FakeCoordinator(epoch: 3, at: sockets["a"]), try FakeCoordinator(epoch: 1_004, at: sockets["b"])
        )
        let serving = serve(old)
        // Both answer, so the survey ends when they have.
        let patience = EpochSurvey.Patience(first: .seconds(600), others: .seconds(600), connected: .seconds(600))
        try await withWorker(at: [sockets["a"], sockets["b"]], survey: patience) { _, _ in
            _ = try await new.welcome()
            await old.link.close()
            #expect(await serving.value == false, "the old coordinator gets no hello")
        }
        await new.link.close()
    }

    @Test func aWorkerGoesToTheSuccessorOfALostCoordinator() async throws {
        let sockets = try Sockets()
        defer { sockets.remove() }
        let old = try FakeCoordinator(epoch: 3, at: sockets["a"])
        try await withWorker(at: [sockets["a"], sockets["b"]]) { stable, _ in
            let origin = try ScriptedServer { _ in .silence }
            let (peer, session, _) = try await old.welcome()
            let token = old.token(1)
            try await old.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
            _ = try await old.expect { message -> Bool? in
                if case .progress(let body) = message, body.leases.map(\.token) == [token] { true } else { nil }
            }
            await old.link.close()
            let new = try FakeCoordinator(epoch: 1_004, at: sockets["b"])
            let (_, next, hello) = try await new.welcome()
            #expect(next == session && hello.held.map(\.token) == [token], "it names what it holds")
            origin.stop()
            await new.link.close()
        }
    }

    @Test func aWorkerLeavesACoordinatorThatWasReplaced() async throws {
        let sockets = try Sockets()
        defer { sockets.remove() }
        let old = try FakeCoordinator(epoch: 3, at: sockets["a"])
        try await withWorker(at: [sockets["a"], sockets["b"]]) { _, service in
            _ = try await old.welcome()
            // It goes on answering.
            let serving = serve(old)
            let new = try FakeCoordinator(epoch: 1_004, at: sockets["b"])
            _ = try await new.welcome()
            #expect(service.metricsPage().contains("packhorse_worker_coordinator_epoch 1004\n"))
            await old.link.close()
            _ = await serving.value
            await new.link.close()
        }
    }

    @Test func messagesOfALowerEpochAreIgnoredAndCounted() async throws {
        let sockets = try Sockets()
        defer { sockets.remove() }
        let coordinator = try FakeCoordinator(epoch: 1_004, at: sockets["a"])
        try await withWorker(at: [sockets["a"]]) { stable, service in
            let origin = try ScriptedServer { _ in .silence }
            let (peer, session, _) = try await coordinator.welcome()
            let (low, high) = (coordinator.token(1), coordinator.token(2))
            try await coordinator.say(
                .offer(try stable.offer(low, origin.url)), to: peer, about: session, epoch: 3)
            try await coordinator.say(.offer(try stable.offer(high, origin.url)), to: peer, about: session)
            let (leases, _, _) = try await coordinator.expect { message -> [UInt64]? in
                if case .progress(let body) = message, !body.leases.isEmpty { body.leases.map(\.token) } else { nil }
            }
            #expect(leases == [high])
            #expect(service.metricsPage().contains("packhorse_worker_messages_ignored_total 1\n"))
            origin.stop()
        }
        await coordinator.link.close()
    }
}
