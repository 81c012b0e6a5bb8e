import Errors
import Foundation
import Testing

@testable import ZeroMQ

extension LinkTests {
    struct Curve {
        let server: KeyPair
        let client: KeyPair

        init() throws {
            server = try KeyPair.generate()
            client = try KeyPair.generate()
        }

        private var allowed: LinkSecurity { .curveServer(server, AllowList(["mule": client.publicKey])) }

        @Test func anAllowedKeyGetsInUnderItsName() async throws {
            try await withLinks(allowed, .curveClient(client, serverKey: server.publicKey)) { router, dealer in
                try await dealer.send([[1]])
                let inbound = try await router.receive(count: 1)[0]
                #expect(inbound.user == "mule")
                #expect(await router.send([(inbound.peer, [2])]).isEmpty)
                #expect(try await dealer.receive(count: 1) == [[2]])
            }
        }

        @Test func anUnknownKeyIsRefusedWithAReason() async throws {
            let stranger = try KeyPair.generate()
            try await withLinks(allowed, .curveClient(stranger, serverKey: server.publicKey)) { router, dealer in
                let state = try await dealer.wait(until: \.isRefused)
                #expect(state.description.contains("not in its list of authorized keys"))
                #expect(await router.counters().refused >= 1)
            }
        }

        @Test func aRefusedSendSaysSo() async throws {
            let stranger = try KeyPair.generate()
            var options = LinkOptions.quick
            options.sendPatience = .milliseconds(300)
            try await withLinks(
                allowed, .curveClient(stranger, serverKey: server.publicKey), options: options
            ) { _, dealer in
                let error = await #expect(throws: ZeroMQError.self) { try await dealer.send([[1]]) }
                #expect(error?.code == .refused)
            }
        }

        @Test func anEmptyListAdmitsNobody() async throws {
            try await withLinks(
                .curveServer(server, AllowList([:])), .curveClient(client, serverKey: server.publicKey)
            ) { _, dealer in
                _ = try await dealer.wait(until: \.isRefused)
            }
        }

        @Test func aWrongServerKeyIsRefusedWithAReason() async throws {
            let other = try KeyPair.generate().publicKey
            try await withLinks(allowed, .curveClient(client, serverKey: other)) { _, dealer in
                _ = try await dealer.wait(until: \.isRefused)
            }
        }

        @Test func aPlainClientIsRefusedByAServerWithKeys() async throws {
            try await withLinks(allowed, .plain) { router, dealer in
                _ = try await dealer.wait(until: \.isRefused)
                #expect(try await router.receive(upTo: .milliseconds(10)).isEmpty)
            }
        }

        @Test func aClientWithKeysIsRefusedByAPlainServer() async throws {
            try await withLinks(.plain, .curveClient(client, serverKey: server.publicKey)) { router, dealer in
                _ = try await dealer.wait(until: \.isRefused)
                #expect(try await router.receive(upTo: .milliseconds(10)).isEmpty)
            }
        }

        private func isSent(_ frame: [UInt8], by dealer: DealerLink) async -> Bool {
            do {
                try await dealer.send([frame])
                return true
            } catch {
                return false
            }
        }

        @Test func aKeyAddedToTheFolderIsAdmittedAndOneTakenOffIsSilenced() async throws {
            try await withFolder { folder in
                let list = try AllowList(folder: folder)
                try await withLinks(
                    .curveServer(server, list), .curveClient(client, serverKey: server.publicKey)
                ) { router, dealer in
                    _ = try await dealer.wait(until: \.isRefused)
                    let file = folder.appendingPathComponent("mule.pub")
                    try KeyFile.write(client.publicKey, to: file)
                    _ = try await dealer.wait { $0 == .connected }
                    try await dealer.send([[1]])
                    #expect(try await router.receive(count: 1)[0].user == "mule")
                    try FileManager.default.removeItem(at: file)
                    // Its frames are dropped, and its link is cut; whichever is seen first.
                    while await router.counters().revoked == 0, await isSent([2], by: dealer) {
                        _ = try await router.receive(upTo: .milliseconds(20))
                    }
                    _ = await isSent([3], by: dealer)
                    #expect(try await router.receive(upTo: .milliseconds(50)).isEmpty)
                }
            }
        }
    }
}
