import ArgumentParser
import ClusterClient
import CommandSupport
import Errors
import Foundation
import Synchronization
import TestSupport
import Testing
import Wire
import ZeroMQ

@testable import Commands

/// Commands with the addresses of several coordinators.
@Suite(.timeLimit(.minutes(15))) struct AddressListTests {
    /// A coordinator that names itself as a worker, until its link is closed.
    private struct Peer {
        let router: RouterLink
        let task: Task<Void, Never>
        private let asked: Counter

        init(_ name: String, epoch: UInt32, at endpoint: String) throws {
            let router = try RouterLink(bind: [endpoint], security: .plain)
            let asked = Counter()
            (self.router, self.asked) = (router, asked)
            task = Task {
                while let inbound = try? await router.receive(upTo: .seconds(1)) {
                    for one in inbound {
                        guard let frame = try? Frame(decoding: one.bytes) else { continue }
                        if case .ping = frame.message { asked.add() }
                        let answer: Message =
                            if case .ping = frame.message { .health(.make { $0.epoch = epoch }) } else {
                                .workers(.make { $0.workers = [.make { $0.name = name }] })
                            }
                        let bytes = try? Frame(
                            session: frame.session, seq: 1, re: frame.seq, epoch: epoch, answer
                        ).encoded()
                        if let bytes { _ = await router.send([(one.peer, bytes)]) }
                    }
                }
            }
        }

        func close() async {
            await router.close()
            await task.value
        }

        /// Returns when it was asked for its epoch once more.
        func isAskedAgain() async throws {
            let before = asked.count
            try await Eventually.holds("another question", every: .milliseconds(20)) { asked.count > before }
        }
    }

    /// How often something happened.
    private final class Counter: Sendable {
        private let value = Mutex(0)

        var count: Int { value.withLock { $0 } }

        func add() { value.withLock { $0 += 1 } }
    }

    @Test func theCoordinatorOfTheHighestEpochIsAsked() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "epochs-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let (a, b) = ("ipc://\(folder.path)/a", "ipc://\(folder.path)/b")
        let (old, new) = (try Peer("old", epoch: 3, at: a), try Peer("new", epoch: 1_004, at: b))
        let client = try ControlClient(
            endpoints: [a, b], security: .plain, allowPlain: false, timeout: .seconds(600),
            survey: .init(first: .seconds(60), others: .seconds(10), connected: .seconds(60)))
        #expect(try await client.workers().map(\.name) == ["new"])
        await new.close()
        // A request waits while only the old coordinator answers, and is answered by the next one.
        async let asked = client.workers()
        try await old.isAskedAgain()
        await old.close()
        let next = try Peer("next", epoch: 2_005, at: a)
        #expect(try await asked.map(\.name) == ["next"])
        await client.close()
        await next.close()
    }

    @Test func addressesAreOptionsListsAndVariables() throws {
        #expect(
            EndpointList.addresses(["tcp://a:1, tcp://b:2", "tcp://c:3", "tcp://a:1"])
                == ["tcp://a:1", "tcp://b:2", "tcp://c:3"])
        let worker = try WorkerCommand.parse(["--connect", "tcp://a:1", "--connect", "tcp://b:2,tcp://c:3"])
        #expect(worker.connect.count == 2)
        for wrong in ["tcp://a:1,", "tcp://a:1,b:2", "tcp://a:1,tcp://b:2 --blob-endpoint tcp://a:3"] {
            let words = wrong.split(separator: " ").map(String.init)
            #expect(throws: (any Error).self) { try WorkerCommand.parse(["--connect"] + words) }
        }
        let file = ConfigurationFile(
            text: "connect: [\"tcp://a:1\", \"tcp://b:2\"]\n", name: "worker.yaml", role: .worker, environment: [:])
        #expect(file.problems.isEmpty && file.entries.map(\.values) == [["tcp://a:1", "tcp://b:2"]])
    }

    @Test func aLowerEpochThanOneThatWasHeardIsNotChosen() {
        func choice(_ epochs: [String: UInt32], _ present: String?, heard: UInt32, lost: Bool = false) -> String? {
            HighestCoordinator.choice(among: epochs, present: present, heard: heard, isLost: lost)
        }
        #expect(choice(["a": 3, "b": 4], nil, heard: 0) == "b")
        #expect(choice(["a": 4, "b": 4], nil, heard: 0) == "a", "one coordinator at two addresses")
        #expect(choice(["a": 4, "b": 4], "b", heard: 4) == nil)
        #expect(choice(["a": 3], "b", heard: 4, lost: true) == nil)
        #expect(choice(["a": 4], "b", heard: 4, lost: true) == "a")
        #expect(choice(["a": 4], "b", heard: 4) == nil, "a slow answer is no loss")
        #expect(choice(["a": 5], "b", heard: 4) == "a")
        #expect(choice([:], "b", heard: 4, lost: true) == nil)
    }
}
