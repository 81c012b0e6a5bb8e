import Errors
import Foundation
import Testing

@testable import ZeroMQ

extension LinkTests {
    struct Plain {
        @Test func framesTravelBothWays() async throws {
            try await withLinks { router, dealer in
                try await dealer.send([[1, 2, 3]])
                let inbound = try await router.receive(count: 1)
                #expect(inbound[0].bytes == [1, 2, 3])
                #expect(inbound[0].user == nil)
                #expect(await router.send([(inbound[0].peer, [4]), (inbound[0].peer, [])]).isEmpty)
                #expect(try await dealer.receive(count: 2) == [[4], []])
                #expect(dealer.state == .connected)
            }
        }

        @Test func tenThousandFramesArriveInOrderBothWays() async throws {
            try await withLinks { router, dealer in
                let frames = (0..<10_000).map { number in withUnsafeBytes(of: UInt32(number)) { Array($0) } }
                async let echoed: Void = {
                    var left = frames.count
                    while left > 0 {
                        let batch = try await router.receive(upTo: .seconds(5))
                        #expect(await router.send(batch.map { ($0.peer, $0.bytes) }).isEmpty)
                        left -= batch.count
                    }
                }()
                async let sent: Void = {
                    for start in stride(from: 0, to: frames.count, by: 500) {
                        try await dealer.send(Array(frames[start..<(start + 500)]))
                    }
                }()
                let received = try await dealer.receive(count: frames.count)
                try await sent
                try await echoed
                #expect(received == frames)
            }
        }

        @Test func anUnknownPeerIsReportedAsUnreachable() async throws {
            try await withLinks { router, dealer in
                try await dealer.send([[1]])
                let peer = try await router.receive(count: 1)[0].peer
                let stranger = PeerID(endpointIndex: 0, route: [0, 1, 2, 3, 4])
                let nowhere = PeerID(endpointIndex: 7, route: [0])
                #expect(await router.send([(stranger, [1]), (peer, [2]), (nowhere, [3])]) == [stranger, nowhere])
                #expect(try await dealer.receive(count: 1) == [[2]])
            }
        }

        @Test func aPeerThatLeftIsReportedAsUnreachable() async throws {
            try await withLinks { router, dealer in
                try await dealer.send([[1]])
                let peer = try await router.receive(count: 1)[0].peer
                await dealer.close()
                while await router.send([(peer, [2])]).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                await #expect(throws: ZeroMQError.self) { try await dealer.send([[1]]) }
                await #expect(throws: ZeroMQError.self) { try await dealer.receive(upTo: .seconds(1)) }
            }
        }

        @Test func aPeerThatDoesNotReadIsGivenUpAndHoldsNobodyBack() async throws {
            var options = LinkOptions.quick
            options.sendPatience = .milliseconds(200)
            options.sendHighWater = 4
            options.receiveHighWater = 4
            options.inboxFrames = 1
            try await withLinks(options: options) { router, dealer in
                let other = try DealerLink(
                    connect: router.boundEndpoints[0], security: .plain, options: .quick)
                try await dealer.send([[1]])
                try await other.send([[2]])
                let peers = try await router.receive(count: 2).sorted { $0.bytes[0] < $1.bytes[0] }.map(\.peer)
                let heavy = [UInt8](repeating: 0, count: 200_000)
                let lost = await router.send((0..<200).map { _ in (peers[0], heavy) } + [(peers[1], [7])])
                #expect(lost == [peers[0]])
                #expect(try await other.receive(count: 1) == [[7]])
                await other.close()
            }
        }

        @Test func anOversizedFrameIsDroppedAndOnlyItsConnectionSuffers() async throws {
            var small = LinkOptions.quick
            small.maxFrameBytes = [1000]
            let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain, options: small)
            let dealer = try DealerLink(connect: router.boundEndpoints[0], security: .plain, options: .quick)
            try await dealer.send([[UInt8](repeating: 1, count: 1000)])
            #expect(try await router.receive(count: 1)[0].bytes.count == 1000)
            try await dealer.send([[UInt8](repeating: 2, count: 1001)])
            var after: [Inbound] = []
            while after.isEmpty {  // What was queued behind the oversized frame is lost with its connection.
                try await dealer.send([[3]])
                after = try await router.receive(upTo: .milliseconds(20))
            }
            #expect(after.allSatisfy { $0.bytes == [3] })
            await dealer.close()
            await router.close()
        }

        @Test func aDealerRefusesToSendWhatItsPeerWouldRefuse() async throws {
            try await withLinks { _, dealer in
                let large = [UInt8](repeating: 0, count: (256 << 10) + 1)
                let error = await #expect(throws: ZeroMQError.self) { try await dealer.send([[1], large]) }
                #expect(error?.code == .tooLarge)
            }
        }

        @Test func endpointsOfOneRouterHaveTheirOwnLimits() async throws {
            var options = LinkOptions.quick
            options.maxFrameBytes = [100, 4 << 20]
            let router = try RouterLink(
                bind: ["tcp://127.0.0.1:*", "tcp://127.0.0.1:*"], security: .plain, options: options)
            var large = LinkOptions.quick
            large.maxFrameBytes = [4 << 20]
            let dealer = try DealerLink(connect: router.boundEndpoints[1], security: .plain, options: large)
            try await dealer.send([[UInt8](repeating: 1, count: 3 << 20)])
            let inbound = try await router.receive(count: 1)[0]
            #expect(inbound.endpointIndex == 1)
            #expect(inbound.bytes.count == 3 << 20)
            await dealer.close()
            await router.close()
        }

        @Test func anUnreachableRouterIsToldInTime() async throws {
            var options = LinkOptions.quick
            options.sendPatience = .milliseconds(100)
            let dealer = try DealerLink(connect: "tcp://127.0.0.1:9", security: .plain, options: options)
            let error = await #expect(throws: ZeroMQError.self) { try await dealer.send([[1]]) }
            #expect(error?.code == .unreachable)
            #expect(try await dealer.receive(upTo: .milliseconds(10)).isEmpty)
            await dealer.close()
            #expect(dealer.state == .closed)
        }

        @Test func aRouterThatCameBackIsFoundAgain() async throws {
            let first = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain, options: .quick)
            let endpoint = first.boundEndpoints[0]
            let dealer = try DealerLink(connect: endpoint, security: .plain, options: .quick)
            try await dealer.send([[1]])
            _ = try await first.receive(count: 1)
            await first.close()
            _ = try await dealer.wait { $0 == .disconnected }
            let second = try RouterLink(bind: [endpoint], security: .plain, options: .quick)
            // What is sent while the connection is lost may be lost with it.
            var got: [Inbound] = []
            while got.isEmpty {
                try await dealer.send([[2]])
                got = try await second.receive(upTo: .seconds(1))
            }
            #expect(got[0].bytes == [2])
            await dealer.close()
            await second.close()
        }

        @Test func aReconnectIsANewPeer() async throws {
            try await withLinks { router, dealer in
                try await dealer.send([[1]])
                let old = try await router.receive(count: 1)[0].peer
                await dealer.reconnect()
                try await dealer.send([[2]])
                #expect(try await router.receive(count: 1)[0].peer != old)
            }
        }

        @Test func aCancelledReceiverReturnsAtOnce() async throws {
            try await withLinks { router, _ in
                let task = Task { try await router.receive(upTo: .seconds(3600)) }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }

        @Test func multipartMessagesAreDroppedAndCounted() async throws {
            let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain, options: .quick)
            let context = try SocketContext()
            let raw = try Socket(context, 5)  // ZMQ_DEALER
            try raw.set(17, 1000)  // ZMQ_LINGER
            try raw.connect(router.boundEndpoints[0])
            #expect(raw.send([1], more: true) == .sent)
            #expect(raw.send([2]) == .sent)
            #expect(raw.send([3]) == .sent)
            #expect(try await router.receive(count: 1)[0].bytes == [3])
            #expect(await router.counters().multipart == 1)
            raw.close()
            context.terminate()
            await router.close()
        }
    }
}
