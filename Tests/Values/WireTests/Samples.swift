import Foundation

@testable import Wire

/// One message of each type with every list and choice filled in.
enum Samples {
    static let messages: [Message] = first + later + formats

    private static let first: [Message] = [
        .hello(
            .make {
                $0.wireMinorMax = 2
                $0.build = "packhorse 0.1.0"
                $0.name = "mule-1"
                $0.host = "stable"
                $0.pid = 4711
                $0.canFetch = true
                $0.canMerge = true
                $0.blobStore = "5f1c"
                $0.shardFormats = [1, 2]
                $0.packageFormats = [1]
                $0.held = [.make { $0.token = 1 << 32 | 7 }, .make { $0.token = 1 << 32 | 9 }]
            }),
        .ready(.make { $0.credit = 5 }),
        .progress(
            .make {
                $0.leases = [
                    .make {
                        $0.token = 1 << 32 | 7
                        $0.done = 300
                        $0.bytes = 1 << 40
                    }
                ]
            }),
        .commit(
            .make {
                $0.token = 1 << 32 | 7
                $0.fetch = .make {
                    $0.shard = digest(1)
                    $0.shardBytes = 90_000
                    $0.shardFooter = digest(2)
                    $0.stored = 10
                    $0.empty = 2
                    $0.failed = 1
                    $0.distinct = 9
                    $0.bodyBytes = 88_000
                    $0.failures = [
                        .make {
                            $0.tile = tile(14, 9000, 4600)
                            $0.cause = "html-page"
                            $0.detail = "The body begins with '<html'."
                        }
                    ]
                }
            }),
        .fail(
            .make {
                $0.token = 3
                $0.cause = "disk-full"
                $0.detail = "No space left on device"
                $0.retriable = true
                $0.lostShards = [Data(repeating: 7, count: 32)]
            }),
        .return(.make { $0.tokens = [3, 4, 1 << 63] }),
        .bye(.make { $0.reason = "drained" }),
        .welcome(
            .make {
                $0.build = "packhorse 0.1.0"
                $0.heartbeatMs = 5000
                $0.adopted = [7]
            }),
        .reject(
            .make {
                $0.code = "wrong-blob-store"
                $0.text = "Another folder."
                $0.retriable = true
            }),
        .offer(
            .make {
                $0.token = 1 << 32 | 8
                $0.job = 3
                $0.leaseMs = 60_000
                $0.attempt = 1
                $0.fetch = .make {
                    $0.cell = tile(8, 140, 74)
                    $0.zoomMin = 8
                    $0.zoomMax = 14
                    $0.mask = Data([1, 14, 255, 0])
                    $0.tiles = 5461
                    $0.tileset = Data("{\"id\":\"demo\"}".utf8)
                }
            }),
        .offer(
            .make {
                $0.token = 1 << 32 | 9
                $0.merge = .make {
                    $0.manifest = digest(2)
                    $0.packageID = "EE"
                }
            }),
        .pong(
            .make {
                $0.cancelled = [8]
                $0.draining = true
            }),
        .ack(
            .make {
                $0.token = 8
                $0.digest = digest(1)
            }),
        .stale(
            .make {
                $0.token = 8
                $0.reason = "expired"
            }),
        .unknownSession(PBUnknownSession()),
        .submit(
            .make {
                $0.requestID = "b1e0"
                $0.kind = "region"
                $0.label = "EE"
                $0.tileset = Data("{}".utf8)
                $0.zoomMax = 14
                $0.packages = [
                    .make {
                        $0.id = "EE"
                        $0.mask = Data([1, 2, 3])
                        $0.names = ["en": "Europe/Estonia", "et": "Euroopa/Eesti", "de": "Europa/Estland"]
                        $0.bounds = .make {
                            $0.west = 21.5
                            $0.south = 57.5
                            $0.east = 28.2
                            $0.north = 59.9
                        }
                    }
                ]
                $0.tileLimit = 5000
                $0.priority = -1
                $0.allowedMissing = 0.01
                $0.dryRun = true
            }),
        .submitted(
            .make {
                $0.job = 3
                $0.tiles = 1000
                $0.batches = 2
                $0.warnings = ["Package 'EE' loses its packs."]
            }),
        .listJobs(.make { $0.limit = 10 }),
        .jobs(.make { $0.jobs = [status] }),
        .getJob(
            .make {
                $0.job = 3
                $0.failures = 100
            }),
        .jobStatus(status),
        .getCoverage(
            .make {
                $0.job = 3
                $0.size = 256
            }),
        .coverage(
            .make {
                $0.bands = [
                    .make {
                        ($0.zoomMin, $0.zoomMax, $0.cellZoom) = (11, 14, 11)
                        ($0.x, $0.y, $0.width, $0.height) = (1_160, 580, 2, 1)
                        $0.cells = Data([3, 1])
                    }
                ]
            }),
        .withdraw(
            .make {
                $0.packages = ["EE", "LV"]
                $0.edition = .make { $0.group = "terrain" }
            }),
        .changeCatalog(
            .make {
                $0.order = "promote"
                $0.from = "staging"
                $0.packages = ["EE", "LV"]
                $0.edition = .make { $0.language = "de" }
                $0.version = 3
                $0.maxShrink = 0.1
                $0.replacesTileset = true
                $0.replacesArea = true
                $0.dryRun = true
            }),
        .compareCatalogs(
            .make {
                $0.catalog = "live"
                $0.from = "staging"
                $0.packages = ["EE"]
            }),
        .catalogChanged(
            .make {
                $0.difference = Data("{}".utf8)
                $0.omitted = 2
            }),
        .cancelJob(.make { $0.job = 3 }),
        .done(PBDone()),
        .listWorkers(PBListWorkers()),
        .workers(
            .make {
                $0.workers = [
                    .make {
                        $0.name = "mule-1"
                        $0.state = "busy"
                        $0.leases = 4
                    }
                ]
            }),
        .ping(PBPing()),
        .health(
            .make {
                $0.epoch = 4
                $0.state = "serving"
            }),
        .problem(
            .make {
                $0.code = "too-many-tiles"
                $0.text = "6,000 tiles; at most 5,000."
                $0.hint = "--tile-limit 6000"
            }),
    ]

    static let status = PBJobStatus.make {
        $0.job = 3
        $0.label = "EE"
        $0.state = "merging"
        $0.zoomMax = 14
        $0.packages = [
            .make {
                $0.id = "EE"
                $0.state = "published"
                $0.version = 2
                $0.sha256 = digest(3)
                $0.files = [file("pmtiles", 4)]
            }
        ]
        $0.formats = ["pmtiles"]
        $0.edition = PBEdition(group: "terrain", language: "de")
        $0.failures = [
            .make {
                $0.tile = tile(3, 1, 2)
                $0.cause = "truncated"
            }
        ]
    }

    static func digest(_ seed: UInt8) -> Data { Data((0..<32).map { seed &+ $0 }) }

    static func tile(_ zoom: UInt32, _ x: UInt32, _ y: UInt32) -> PBTile {
        .make {
            $0.zoom = zoom
            $0.x = x
            $0.y = y
        }
    }

    static func frame(_ message: Message) -> Frame {
        Frame(session: 0x0123_4567_89AB_CDEF, seq: 42, re: 41, epoch: 3, message)
    }
}

extension [UInt8] {
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// SplitMix64: a test's random numbers are the same on every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
