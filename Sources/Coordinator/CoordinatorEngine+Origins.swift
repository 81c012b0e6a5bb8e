import Scheduling
import Wire

extension CoordinatorEngine {
    /// The answer to `packhorse origins`.
    func origins() -> Message {
        .origins(.make { $0.origins = scheduler.origins(now: now).map(WireConversions.status) })
    }
}

extension WireConversions {
    static func use(_ body: PBOriginUse) -> OriginUse {
        var use = OriginUse(origin: body.origin)
        use.requests = body.requests
        use.answered = body.answered
        use.throttled = body.throttled
        use.failed = body.failed
        use.retryAfter = Int64(clamping: body.retryAfterMs)
        use.waiting = body.waiting
        if body.hasHeld {
            let perSecond = body.held.perSecond
            use.held = HeldShare(
                perSecond: perSecond == 0 ? nil : perSecond, burst: body.held.burst,
                concurrency: Int(body.held.concurrency))
        }
        return use
    }

    static func grants(_ grants: [RateGrant]) -> Message {
        .rateGrants(
            .make {
                $0.grants = grants.map { grant in
                    .make {
                        $0.origin = grant.origin
                        $0.perSecond = grant.perSecond ?? 0
                        $0.burst = grant.burst
                        $0.concurrency = UInt32(clamping: grant.concurrency)
                        $0.ttlMs = UInt32(clamping: grant.ttl)
                        $0.round = grant.round
                    }
                }
            })
    }

    static func status(_ origin: OriginView) -> PBOriginStatus {
        .make {
            $0.origin = origin.name
            $0.state = origin.state
            $0.perSecond = origin.limits.perSecond ?? 0
            $0.concurrency = UInt32(clamping: origin.limits.concurrency)
            $0.grantedPerSecond = origin.grantedPerSecond ?? 0
            $0.grantedConcurrency = UInt32(clamping: origin.grantedConcurrency)
            $0.workers = UInt32(clamping: origin.workers)
            $0.blockedMs = UInt64(clamping: origin.blockedFor)
            $0.requests = origin.requests
            $0.throttled = origin.throttled
            $0.failed = origin.failed
            $0.factor = origin.factor
        }
    }
}
