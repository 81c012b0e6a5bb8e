import Foundation
import TestSupport
import Testing

@testable import ZeroMQ

extension LinkTests {
    struct Hostile {
        private func port(_ router: RouterLink) throws -> Int {
            try #require(router.boundEndpoints[0].split(separator: ":").last.flatMap { Int($0) })
        }

        /// A megabyte of parts, many empty ones, or a frame that is not one of a message of its own.
        @Test(arguments: [64 << 10, 0])
        func anUnfinishedFloodIsCutAndHonestPeersGoOn(partBytes: Int) async throws {
            try await withLinks { router, dealer in
                let port = try port(router)
                let part = RawZMTP.frame([UInt8](repeating: 7, count: partBytes), more: true)
                let chunk = [UInt8](repeatElement(part, count: max(1, (64 << 10) / part.count)).joined())
                let sent = try await onThread { try RawZMTP(port: port).flood(chunk, atMost: 512 << 20) }
                #expect(sent < 512 << 20, "The kernel accepted everything: the connection was not closed.")
                #expect(await router.counters().cut == 1)
                try await dealer.send([[1]])
                #expect(try await router.receive(count: 1)[0].bytes == [1])
                #expect(dealer.state == .connected)
            }
        }

        @Test func anHonestStreamIsNeverCutHoweverSlowlyItIsRead() async throws {
            var options = LinkOptions.quick
            options.maxFrameBytes = [1 << 20]
            try await withLinks(options: options) { router, dealer in
                let frame = [UInt8](repeating: 9, count: 1 << 20)
                async let sent: Void = dealer.send([[UInt8]](repeating: frame, count: 100))
                var received = 0
                while received < 100 {
                    // Longer than a look at the connections, so that several fall into it with full queues.
                    try await Task.sleep(for: .milliseconds(20))
                    received += try await router.receive(upTo: .seconds(5)).count
                    let cuts = await router.counters().cut
                    try #require(cuts == 0)
                }
                try await sent
                #expect(await router.counters().cut == 0)
            }
        }

        @Test func aFrameOfTheLargestSizeThatComesSlowlyIsWaitedFor() async throws {
            try await withLinks { router, _ in
                let port = try port(router)
                let body = [UInt8](repeating: 5, count: 256 << 10)
                let sent = try await onThread {
                    let peer = try RawZMTP(port: port)
                    let bytes = RawZMTP.frame(body)
                    for start in stride(from: 0, to: bytes.count, by: 16 << 10) {
                        guard peer.send(Array(bytes[start..<min(start + 16 << 10, bytes.count)])) else { return false }
                        usleep(50_000)
                    }
                    return true
                }
                #expect(sent)
                #expect(try await router.receive(count: 1)[0].bytes == body)
            }
        }

        /// libzmq 4.3.4 ended the process here when a ZMTP heartbeat was due, every 5 s: see docs/decisions/0046.
        @Test func aResetConnectionWithAFullQueueDoesNotEndTheProcess() async throws {
            var options = LinkOptions.quick
            options.receiveHighWater = 2
            options.inboxFrames = 1
            try await withLinks(options: options) { router, dealer in
                let port = try port(router)
                let sent = try await onThread {
                    let peer = try RawZMTP(port: port)
                    peer.resetOnClose()
                    let sent = (0..<200).allSatisfy { _ in peer.send(RawZMTP.frame([UInt8](repeating: 7, count: 100))) }
                    usleep(100_000)
                    return sent
                }
                #expect(sent)
                try await Task.sleep(for: .milliseconds(5_500))
                try await dealer.send([[1]])
                while try await !router.receive(count: 1).contains(where: { $0.bytes == [1] }) {}
            }
        }

        @Test func theThirdMultipartMessageEndsTheConnection() async throws {
            try await withLinks { router, _ in
                let port = try port(router)
                let answer = try await onThread {
                    let peer = try RawZMTP(port: port)
                    let message = RawZMTP.frame([1], more: true) + RawZMTP.frame([2])
                    for _ in 0..<3 { _ = peer.send(message) }
                    return peer.receive()
                }
                #expect(answer == nil)
                let counters = await router.counters()
                #expect((counters.multipart, counters.cut) == (3, 1))
            }
        }

        @Test func aPeerThatIsCutIsDisconnectedAndMayComeBack() async throws {
            try await withLinks { router, dealer in
                try await dealer.send([[1]])
                let peer = try await router.receive(count: 1)[0].peer
                router.cut([peer])
                while await router.send([(peer, [2])]).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                try await dealer.send([[3]])
                var back: Inbound?
                while back == nil {
                    back = try await router.receive(upTo: .milliseconds(200)).last
                    if back == nil { try await dealer.send([[3]]) }
                }
                #expect(back?.peer != peer)
            }
        }

        @Test func aSilentLinkWhoseKeyIsTakenOffIsCutAndOneWhoseRolesChangeIsNot() async throws {
            let server = try KeyPair.generate()
            let client = try KeyPair.generate()
            try await withFolder { folder in
                let file = folder.appendingPathComponent("mule.pub")
                try KeyFile.write(client.publicKey, roles: .worker, to: file)
                try await withLinks(
                    .curveServer(server, AllowList(folder: folder)), .curveClient(client, serverKey: server.publicKey)
                ) { router, dealer in
                    try await dealer.send([[1]])
                    #expect(try await router.receive(count: 1)[0].roles == .worker)
                    try FileManager.default.removeItem(at: file)
                    try KeyFile.write(client.publicKey, roles: [.viewer, .merger], to: file)
                    var roles: PeerRoles = .worker
                    while roles == .worker {
                        try await dealer.send([[2]])
                        roles = try await router.receive(count: 1)[0].roles
                    }
                    #expect(roles == [.viewer, .merger])
                    #expect(dealer.state == .connected)
                    let cuts = await router.counters().cut
                    try FileManager.default.removeItem(at: file)
                    _ = try await dealer.wait(until: \.isRefused)
                    #expect(await router.counters().cut == cuts + 1)
                }
            }
        }
    }
}
