import Scheduling
import Wire

extension WireConversions {
    static func use(_ body: PBOriginUse) -> OriginUse {
        var use = OriginUse(origin: body.origin)
        use.requests = body.requests
        use.answered = body.answered
        use.throttled = body.throttled
        use.failed = body.failed
        use.busy = min(body.busy, body.failed)
        use.occupied = body.occupiedMs
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

    /// `nil` when the message sets no limit.
    static func limit(_ body: PBOriginLimit) -> OperatorLimit? {
        let limit = OperatorLimit(
            perSecond: body.perSecond > 0 ? body.perSecond : nil,
            concurrency: body.concurrency > 0 ? Int(body.concurrency) : nil,
            bytesPerSecond: body.bytesPerSecond > 0 ? body.bytesPerSecond : nil)
        return limit.isEmpty ? nil : limit
    }

    static func limit(_ origin: String, _ limit: OperatorLimit?) -> PBOriginLimit {
        .make {
            $0.origin = origin
            $0.perSecond = limit?.perSecond ?? 0
            $0.concurrency = UInt32(clamping: limit?.concurrency ?? 0)
            $0.bytesPerSecond = limit?.bytesPerSecond ?? 0
        }
    }

    static func block(_ body: PBOriginBlock) -> OriginBlock {
        OriginBlock(origin: body.origin, isDown: body.isDown, wait: Int64(clamping: body.waitMs))
    }

    static func block(_ block: OriginBlock) -> PBOriginBlock {
        .make {
            $0.origin = block.origin
            $0.isDown = block.isDown
            $0.waitMs = UInt64(clamping: block.wait)
        }
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
                        $0.reportMs = UInt32(clamping: grant.reportEvery)
                        $0.opened = grant.opened
                        $0.bytesPerSecond = grant.bytesPerSecond ?? 0
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
            $0.foundPerSecond = origin.foundPerSecond ?? 0
            $0.foundConcurrency = UInt32(clamping: origin.foundConcurrency ?? 0)
            $0.operatorPerSecond = origin.operatorLimit?.perSecond ?? 0
            $0.operatorConcurrency = UInt32(clamping: origin.operatorLimit?.concurrency ?? 0)
            $0.operatorBytesPerSecond = origin.operatorLimit?.bytesPerSecond ?? 0
        }
    }
}
