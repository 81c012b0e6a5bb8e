import Errors
import Foundation
import Wire

@testable import Worker

/// A core with a clock set by hand; effects come back as short texts.
struct Rig {
    static let digest = Data(repeating: 7, count: 32)

    var core: WorkerCore
    var now: Int64 = 1_000

    init(_ policy: WorkerPolicy = WorkerPolicy(slots: 2)) {
        core = WorkerCore(
            session: 5,
            profile: WorkerProfile(name: "mule", host: "stable", build: "test", blobStore: "b", packageFormats: [1]),
            policy: policy)
    }

    /// - Parameter change: Changes the policy of two slots.
    static func serving(_ change: (inout WorkerPolicy) -> Void = { _ in }) -> Rig {
        var policy = WorkerPolicy(slots: 2)
        change(&policy)
        var rig = Rig(policy)
        _ = rig.do(.linked)
        _ = rig.hear(.welcome(PBWelcome()))
        return rig
    }

    static func commit(_ token: UInt64) -> PBCommit {
        .make {
            $0.token = token
            $0.fetch = .make { $0.shard = digest }
        }
    }

    mutating func `do`(_ event: WorkerEvent) -> [String] { core.handle(event, now: now).map(Self.text) }

    mutating func hear(_ message: Message) -> [String] { self.do(.message(message, about: 5)) }

    mutating func offer(_ token: UInt64) -> [String] { hear(.offer(.make { $0.token = token })) }

    mutating func finish(_ token: UInt64) -> [String] { self.do(.finished(token, .done(Self.commit(token)))) }

    mutating func fail(_ token: UInt64, _ cause: String) -> [String] {
        self.do(.finished(token, .failed(WorkFailure(cause: FailureCause(named: cause), detail: "", retriable: true))))
    }

    /// Lets time pass in steps, with a tick after each.
    mutating func pass(_ time: Int64, step: Int64 = 100) -> [String] {
        var log: [String] = []
        var left = time
        while left > 0 {
            now += min(step, left)
            left -= min(step, left)
            log += self.do(.tick([:]))
        }
        return log
    }

    private static func text(_ effect: WorkerEffect) -> String {
        switch effect {
        case .run(let offer): "run \(offer.token)"
        case .cancel(let token): "cancel \(token)"
        case .reconnect: "reconnect"
        case .end(.drained): "end drained"
        case .end(.idle): "end idle"
        case .end(.outOfTime): "end out of time"
        case .end(.orphaned): "end orphaned"
        case .end(.rejected(let code, _)): "end rejected \(code)"
        case .send(.hello(let body)): "hello \(body.held.map(\.token))"
        case .send(.ready(let body)): "ready \(body.credit)" + (body.full.isEmpty ? "" : ": \(body.full)")
        case .send(.commit(let body)): "commit \(body.token)"
        case .send(.fail(let body)): "fail \(body.token) \(body.cause)"
        case .send(.return(let body)): "return \(body.tokens)"
        case .send(.progress(let body)): "progress \(body.leases.map(\.token))"
        case .send(.bye): "bye"
        case .send(let message): "\(message.type)"
        }
    }
}
