import Errors
import Foundation
import TestSupport
import Testing
import Tiles
import Wire

@testable import Worker

struct WorkerCoreStormTests {
    /// Random events, the coordinator's answers in any order, doubled and lost.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func noStormBreaksTheInvariants(seed: UInt64) {
        var random = SplitMix(state: seed)
        var rig = Rig()
        var running: Set<UInt64> = []
        var token: UInt64 = 0
        for _ in 0..<400 {
            let lease = rig.core.leases.randomElement(using: &random)?.token ?? 1
            let event: WorkerEvent
            switch Int.random(in: 0..<13, using: &random) {
            case 0: event = .linked
            case 1:
                event = .message(.welcome(.make { if Bool.random(using: &random) { $0.adopted = [lease] } }), about: 5)
            case 2...4:
                token += UInt64.random(in: 0...2, using: &random)
                let isMerge = Int.random(in: 0..<3, using: &random) == 0
                event = .message(
                    .offer(
                        .make {
                            $0.token = token
                            if isMerge { $0.merge = PBMergeWork() }
                        }), about: 5)
            case 5: event = .message(.ack(.make { ($0.token, $0.digest) = (lease, Rig.digest) }), about: 5)
            case 6: event = .message(.stale(.make { $0.token = lease }), about: 5)
            case 7: event = .message(.pong(.make { $0.cancelled = [lease] }), about: 5)
            case 8: event = .message(.unknownSession(PBUnknownSession()), about: 5)
            case 9: event = .finished(lease, .done(Rig.commit(lease)))
            case 10:
                let cause = Bool.random(using: &random) ? "disk-full" : "http-500"
                event = .finished(
                    lease, .failed(WorkFailure(cause: FailureCause(named: cause), detail: "", retriable: true)))
            case 11: event = .finished(lease, .cancelled)
            default:
                rig.now += Int64.random(in: 0...6_000, using: &random)
                event = .tick([:])
            }
            if case .finished(let token, _) = event, running.remove(token) == nil { continue }
            let spooled = rig.spooled
            for effect in rig.core.handle(event, now: rig.now) {
                switch effect {
                case .run(let offer): #expect(running.insert(offer.token).inserted, "A lease runs once.")
                case .cancel(let token): #expect(running.remove(token) != nil, "Only what runs is cancelled.")
                case .send(.ready(let ready)):
                    let additional = min(rig.merges, 1)
                    #expect(
                        ready.credit == 0 || Int(ready.credit) + rig.active - additional <= rig.core.policy.slots + 1)
                    #expect(ready.mergeCredit == 0 || rig.merges == 0)
                default: break
                }
            }
            #expect(running == rig.running, "The core knows what runs.")
            #expect(running.count <= rig.core.policy.slots + 1)
            #expect(rig.runningFetches <= rig.core.policy.slots)
            if !rig.endsResults(event) { #expect(spooled.isSubset(of: rig.spooled), "Results are not lost.") }
        }
    }
}

extension Rig {
    var running: Set<UInt64> { tokens { if case .running = $0 { true } else { false } } }
    var spooled: Set<UInt64> { tokens { if case .spooled = $0 { true } else { false } } }
    var active: Int { core.leases.count - spooled.count }
    var merges: Int { core.leases.count { $0.isMerge && !$0.isSpooled } }
    var runningFetches: Int { core.leases.count { !$0.isMerge && $0.isRunning } }

    func endsResults(_ event: WorkerEvent) -> Bool {
        switch event {
        case .message(.ack, _), .message(.stale, _), .message(.pong, _): true
        default: false
        }
    }

    private func tokens(_ isMeant: (WorkerLease.State) -> Bool) -> Set<UInt64> {
        Set(core.leases.filter { isMeant($0.state) }.map(\.token))
    }
}
