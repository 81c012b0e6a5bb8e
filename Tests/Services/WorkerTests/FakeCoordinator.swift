import Foundation
import Synchronization
import Wire
import ZeroMQ

@testable import Worker

/// The coordinator's end of the link, played by a test line by line.
final class FakeCoordinator: Sendable {
    let link: RouterLink
    let epoch: UInt32
    private let unseen = Mutex<[Inbound]>([])

    init(epoch: UInt32 = 3, at endpoint: String = "tcp://127.0.0.1:*") throws {
        self.epoch = epoch
        link = try RouterLink(bind: [endpoint], security: .plain)
    }

    var endpoint: String { link.boundEndpoints[0] }

    /// The next message for which `pick` has an answer; a report is answered by a pong, others are passed over.
    func expect<T>(_ pick: (Message) -> T?) async throws -> (T, from: PeerID, frame: Frame) {
        while true {
            var waiting = unseen.withLock { $0 }
            if waiting.isEmpty { waiting = try await link.receive(upTo: .seconds(5)) }
            while !waiting.isEmpty {
                let inbound = waiting.removeFirst()
                let frame = try Frame(decoding: inbound.bytes)
                if let found = pick(frame.message) {
                    unseen.withLock { $0 = waiting }
                    return (found, inbound.peer, frame)
                }
                if case .progress = frame.message {
                    try await say(.pong(PBPong()), to: inbound.peer, about: frame.session)
                }
            }
            unseen.withLock { $0 = [] }
        }
    }

    func say(_ message: Message, to peer: PeerID, about session: UInt64, epoch other: UInt32? = nil) async throws {
        let frame = Frame(session: session, seq: 1, epoch: other ?? epoch, message)
        _ = await link.send([(peer, try frame.encoded())])
    }

    /// Answers the first hello and waits for credit.
    func welcome() async throws -> (peer: PeerID, session: UInt64, hello: PBHello) {
        let (hello, peer, frame) = try await expect { if case .hello(let body) = $0 { body } else { nil } }
        try await say(.welcome(.make { $0.heartbeatMs = 200 }), to: peer, about: frame.session)
        _ = try await expect { if case .ready(let body) = $0 { body.credit > 0 ? body : nil } else { nil } }
        return (peer, frame.session, hello)
    }

    func token(_ number: UInt32) -> UInt64 { UInt64(epoch) << 32 | UInt64(number) }
}
