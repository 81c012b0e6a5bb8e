import Foundation

@testable import Wire

extension Samples {
    /// Messages of rates, orders, failed work, schedules, the event log and blobs.
    static let later: [Message] = [
        .rateGrants(.make { $0.grants = [grant] }),
        .pong(.make { $0.grants = [grant] }),
        .progress(
            .make {
                $0.grants = 7
                $0.namesHeld = true
                $0.origins = [
                    .make {
                        $0.origin = "tiles.example.com"
                        $0.requests = 50
                        $0.throttled = 1
                        $0.failed = 2
                        $0.busy = 1
                        $0.occupiedMs = 900
                        $0.retryAfterMs = 30_000
                        $0.held = .make {
                            $0.perSecond = 12.5
                            $0.burst = 1.25
                            $0.concurrency = 4
                        }
                    }
                ]
            }),
        .jobOrder(
            .make {
                $0.job = 3
                $0.order = "prioritise"
                $0.priority = -4
                $0.weight = 2
            }),
        .listFailed(.make { $0.limit = 20 }),
        .failedWork(.make { $0.batches = [failedBatch] }),
        .failedOrder(
            .make {
                $0.job = 3
                $0.order = "requeue"
                $0.batches = [4, 9]
            }),
        .ordered(
            .make {
                $0.changed = 2
                $0.text = "2 batches wait again"
            }),
        .putSchedule(.make { $0.schedule = schedule }),
        .scheduleOrder(
            .make {
                $0.order = "pause"
                $0.id = "monthly-ee"
            }),
        .listSchedules(PBListSchedules()),
        .schedules(.make { $0.schedules = [schedule] }),
        .getSchedule(.make { $0.id = "monthly-ee" }),
        .scheduleDetail(
            .make {
                $0.schedule = schedule
                $0.firings = [
                    .make {
                        $0.number = 3
                        $0.atMs = 1_795_746_600_000
                        $0.startedBy = "retry"
                        $0.result = "failed"
                        $0.cause = "job-failed"
                    }
                ]
            }),
        .listOrigins(PBListOrigins()),
        .origins(
            .make {
                $0.origins = [
                    .make {
                        $0.origin = "tiles.example.com"
                        $0.state = "slowed"
                        $0.perSecond = 50
                        $0.factor = 0.5
                        $0.foundPerSecond = 25
                        $0.foundConcurrency = 20
                        $0.operatorPerSecond = 40.5
                        $0.operatorConcurrency = 30
                    }
                ]
            }),
        .getEvents(
            .make {
                $0.after = 99
                $0.waitMs = 5_000
            }),
        .events(
            .make {
                $0.events = [
                    .make {
                        $0.seq = 100
                        $0.wallMs = -1
                        $0.kind = "batch"
                        $0.data = Data([1, 2, 3])
                    }
                ]
                $0.last = 100
            }),
        .backup(.make { $0.name = "before-upgrade" }),
        .backedUp(
            .make {
                $0.path = "/srv/packhorse/backups/before-upgrade.sqlite"
                $0.bytes = 1 << 20
            }),
        .drainWorker(.make { $0.name = "mule-1" }),
        .originOrder(
            .make {
                $0.order = "limit"
                $0.limit = .make {
                    $0.origin = "tiles.example.com"
                    $0.perSecond = 40.5
                    $0.concurrency = 30
                }
            }),
        .putBegin(
            .make {
                $0.digest = digest(1)
                $0.size = 1 << 33
                $0.token = 1 << 32 | 7
            }),
        .have(
            .make {
                $0.digest = digest(1)
                $0.offset = 1 << 20
                $0.credit = 9 << 20
            }),
        .chunk(
            .make {
                $0.digest = digest(1)
                $0.offset = 1 << 20
                $0.data = Data([9, 8, 7])
            }),
        .putEnd(.make { $0.digest = digest(1) }),
        .stored(
            .make {
                $0.digest = digest(1)
                $0.size = 3
            }),
        .get(.make { $0.digest = digest(1) }),
        .blobSize(
            .make {
                $0.digest = digest(1)
                $0.found = true
            }),
        .blobRefused(
            .make {
                $0.digest = digest(1)
                $0.code = "disk-full"
                $0.retriable = true
            }),
    ]

    private static let grant = PBRateGrant.make {
        $0.origin = "tiles.example.com"
        $0.perSecond = 12.5
        $0.burst = 1
        $0.concurrency = 4
        $0.ttlMs = 10_000
        $0.round = 7
        $0.reportMs = 250
        $0.opened = 2
    }

    private static let failedBatch = PBFailedBatch.make {
        $0.job = 3
        $0.batch = 4
        $0.cell = tile(8, 140, 74)
        $0.zoomMin = 11
        $0.zoomMax = 14
        $0.tiles = 1
        $0.cause = "bad-mvt"
        $0.failures = [
            .make {
                $0.tile = tile(14, 9000, 4600)
                $0.cause = "bad-mvt"
            }
        ]
    }

    private static let schedule = PBSchedule.make {
        $0.id = "monthly-ee"
        $0.every = "monthly 3 02:30"
        $0.submission = Data([10, 2, 69, 69])
        $0.nextMs = 86_400_000
    }
}
