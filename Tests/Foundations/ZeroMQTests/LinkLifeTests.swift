import Errors
import Foundation
import Testing

@testable import ZeroMQ

extension LinkTests {
    struct Life {
        /// In a process of its own, because other suites open and close files meanwhile.
        @Test func closingGivesBackEveryDescriptorAndThread() async {
            await #expect(processExitsWith: .success) {
                let server = try KeyPair.generate()
                let client = try KeyPair.generate()
                func cycle() async throws {
                    try await withLinks(
                        .curveServer(server, AllowList(["mule": client.publicKey])),
                        .curveClient(client, serverKey: server.publicKey)
                    ) { router, dealer in
                        try await dealer.send([[1]])
                        _ = try await router.receive(count: 1)
                        await dealer.reconnect()
                        try await dealer.send([[1]])
                        _ = try await router.receive(count: 1)
                    }
                }
                try await cycle()
                let before = try openDescriptors()
                for _ in 0..<10 { try await cycle() }
                try #require(try openDescriptors() <= before, "Ten cycles must not leave a descriptor behind.")
            }
        }

        @Test func aLinkThatIsDroppedWithoutClosingEndsItself() async throws {
            let endpoint: String
            do {
                let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain, options: .quick)
                endpoint = router.boundEndpoints[0]
            }
            while true {
                do {
                    let again = try RouterLink(bind: [endpoint], security: .plain, options: .quick)
                    await again.close()
                    break
                } catch  where error.code == .addressInUse {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }

        @Test func closingTwiceIsHarmless() async throws {
            try await withLinks { router, dealer in
                await dealer.close()
                await dealer.close()
                await router.close()
                #expect(await router.counters() == RouterCounters())
            }
        }

        @Test func anAddressInUseIsNamed() throws {
            let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain)
            let error = #expect(throws: ZeroMQError.self) {
                try RouterLink(bind: router.boundEndpoints, security: .plain)
            }
            #expect(error?.code == .addressInUse)
            #expect(error?.message.contains(router.boundEndpoints[0]) == true)
        }

        @Test(arguments: ["tcp://*:0", "tcp://0.0.0.0:7470", "tcp://[::]:7470", "tcp://example.org:7470"])
        func plainBeyondLoopbackIsRefused(endpoint: String) throws {
            let bind = #expect(throws: ZeroMQError.self) { try RouterLink(bind: [endpoint], security: .plain) }
            #expect(bind?.code == .plainRefused)
            let connect = #expect(throws: ZeroMQError.self) { try DealerLink(connect: endpoint, security: .plain) }
            #expect(connect?.code == .plainRefused)
        }

        @Test func plainBeyondLoopbackIsAllowedOnDemand() async throws {
            var options = LinkOptions.quick
            options.allowPlain = true
            let router = try RouterLink(bind: ["tcp://*:*"], security: .plain, options: options)
            await router.close()
        }

        @Test(arguments: ["", "7470", "tcp://", "tcp://:7470", "tcp://host", "tcp://host:70000", "udp://host:1"])
        func aMalformedEndpointIsRefused(endpoint: String) throws {
            let error = #expect(throws: ZeroMQError.self) { try RouterLink(bind: [endpoint], security: .plain) }
            #expect(error?.code == .badEndpoint)
        }
    }
}

/// Descriptors of this process.
private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}
