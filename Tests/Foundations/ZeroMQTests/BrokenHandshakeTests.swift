import Errors
import Foundation
import Synchronization
import Testing

@testable import ZeroMQ

/// Listens on loopback and closes each connection in the middle of the handshake.
private final class HangsUp: Sendable {
    private let descriptor: Int32
    let port: UInt16
    private let taken = Mutex(0)

    var connections: Int { taken.withLock { $0 } }

    /// - Parameter most: After this number of connections the socket is closed; `nil` = never.
    init(most: Int?) throws {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(fd, $0, size) == 0 && listen(fd, 8) == 0 && getsockname(fd, $0, &size) == 0
            }
        }
        try #require(isBound)
        descriptor = fd
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while most.map({ connections < $0 }) ?? true {
                let peer = accept(fd, nil, nil)
                guard peer >= 0 else { return }
                taken.withLock { $0 += 1 }
                // The client's greeting has come: the handshake has begun.
                var byte: UInt8 = 0
                _ = recv(peer, &byte, 1, 0)
                Glibc.close(peer)
            }
            stop()
        }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}

extension LinkTests {
    struct BrokenHandshake {
        private func failure(_ listener: HangsUp, patience: Duration) async throws -> ZeroMQError.Code? {
            var options = LinkOptions.quick
            options.sendPatience = patience
            let security = LinkSecurity.curveClient(
                try KeyPair.generate(), serverKey: try KeyPair.generate().publicKey)
            let dealer = try DealerLink(
                connect: "tcp://127.0.0.1:\(listener.port)", security: security, options: options)
            let error = await #expect(throws: ZeroMQError.self) { try await dealer.send([[1]]) }
            await dealer.close()
            return error?.code
        }

        @Test func aRouterThatDiesDuringTheHandshakeHasNotRefusedUs() async throws {
            let listener = try HangsUp(most: 1)
            #expect(try await failure(listener, patience: .seconds(2)) == .unreachable)
            #expect(listener.connections == 1, "the handshake had begun")
        }

        @Test func aRouterThatEndsEveryHandshakeRefusesUs() async throws {
            let listener = try HangsUp(most: nil)
            #expect(try await failure(listener, patience: .seconds(5)) == .refused)
            #expect(listener.connections > 1)
            listener.stop()
        }
    }
}
