import Digests
import Foundation
import Scheduling
import Tiles
import Wire

/// The scheduler's messages to workers in the form of the wire.
struct WorkerMessages {
    let environment: LoopEnvironment

    /// A message, or `nil` when its job is unknown.
    func message(_ message: Outgoing, _ jobs: JobRegistry) -> Message? {
        switch message {
        case .welcome(let adopted):
            .welcome(
                .make {
                    $0.build = environment.options.build
                    $0.heartbeatMs = UInt32(clamping: environment.options.policy.heartbeat)
                    $0.adopted = adopted.map(\.rawValue)
                    $0.blobPort = environment.blobPort
                })
        case .offer(let offer): offerMessage(offer, jobs)
        case .ack(let token, let digest):
            .ack(
                .make {
                    $0.token = token.rawValue
                    $0.digest = Data(digest.bytes)
                })
        case .stale(let token, let reason):
            .stale(
                .make {
                    $0.token = token.rawValue
                    $0.reason = reason
                })
        case .pong(let cancelled): .pong(.make { $0.cancelled = cancelled.map(\.rawValue) })
        case .grants(let grants): WireConversions.grants(grants)
        case .unknownSession: .unknownSession(PBUnknownSession())
        }
    }

    private static func part(_ plan: OfferedPlan) -> PBRangePlanPart {
        .make {
            $0.plan = Data(plan.digest.bytes)
            $0.first = plan.first
            $0.cell = PBTile(plan.cell)
            $0.zoomMin = UInt32(plan.zooms.min)
            $0.zoomMax = UInt32(plan.zooms.max)
            $0.tiles = plan.tiles
        }
    }

    private func offerMessage(_ offer: Offer, _ jobs: JobRegistry) -> Message? {
        guard let spec = jobs.spec(of: offer.job) else { return nil }
        return .offer(
            .make {
                $0.token = offer.token.rawValue
                $0.job = offer.job.rawValue
                $0.leaseMs = UInt32(clamping: offer.lease)
                $0.attempt = offer.attempt
                switch offer.work {
                case .fetch(_, let cell, let zooms, let tiles):
                    $0.fetch = .make {
                        $0.cell = PBTile(cell)
                        $0.zoomMin = UInt32(zooms.min)
                        $0.zoomMax = UInt32(zooms.max)
                        let (whole, span) = (offer.plan?.cell ?? cell, offer.plan?.zooms ?? zooms)
                        $0.mask = Data(spec.mask.restricted(to: whole).clipped(toZoom: span.max).encoded())
                        $0.tiles = tiles
                        $0.tileset = Data(spec.tileset.canonicalJSON)
                        $0.origin = spec.tileset.origin?.name ?? ""
                        $0.sources = offer.sources.map { Data($0.bytes) }
                        $0.base = offer.base.map { Data($0.bytes) }
                        $0.partialFirst = offer.isPartialFirst
                        $0.changed =
                            spec.changed.map { Data($0.restricted(to: cell).clipped(toZoom: zooms.max).encoded()) }
                            ?? Data()
                        $0.tilesFound = offer.hasFoundTiles
                        $0.sourceVersion = offer.sourceVersion ?? ""
                        $0.sourcesVersion = offer.sourcesVersion ?? ""
                        $0.toPlan = offer.isToPlan
                        if let plan = offer.plan { $0.part = Self.part(plan) }
                    }
                case .merge(_, let id, let manifest):
                    $0.merge = .make {
                        $0.manifest = Data(manifest.bytes)
                        $0.packageID = id
                    }
                }
            })
    }
}
