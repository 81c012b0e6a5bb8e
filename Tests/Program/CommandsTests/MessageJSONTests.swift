import ClusterClient
import CommandSupport
import Foundation
import Testing
import Wire

/// The JSON objects of messages, byte for byte; docs/reference/json.md describes them.
struct MessageJSONTests {
    @Test func aJobHasAllItsMembersInTheirForms() throws {
        let job = PBJobStatus.make {
            $0.job = 9
            $0.label = "EU / \"all\""
            $0.kind = "catalog"
            $0.state = "failed"
            $0.tileset = "osm"
            $0.zoomMax = 14
            ($0.tiles, $0.stored, $0.empty, $0.failed, $0.inFlightDone) = (100, 90, 5, 4, 60)
            ($0.bytes, $0.batches, $0.batchesDone, $0.batchesLeased, $0.batchesFailed) = (7, 6, 5, 4, 1)
            $0.elapsedMs = 1_250
            $0.reason = "source-changed: x"
            ($0.priority, $0.weight, $0.after) = (-1, 2, [3, 4])
            ($0.reused, $0.etaMs, $0.notModified, $0.received) = (1, 2, 3, 4)
            ($0.receivedAgain, $0.notSent, $0.blockList) = (2, 98, "used: 5 blocks in 70 bytes")
            ($0.changedOnly, $0.changedTiles) = (true, 12)
            $0.waiting = "paused"
            $0.formats = ["mbtiles", "zeta", "pmtiles"]
            $0.style = "s"
            $0.labels = ["big", "gpu-free"]
            $0.edition = .make {
                $0.group = "terrain"
                $0.language = "de"
            }
            ($0.submittedMs, $0.startedMs, $0.endedMs) = (1_795_356_185_900, 1_795_356_186_000, 0)
            ($0.summary, $0.packagesTotal) = (true, 8)
            $0.packages = [
                .make {
                    ($0.id, $0.state, $0.version, $0.size, $0.tiles) = ("EE", "published", 2, 5, 3)
                    ($0.sha256, $0.path, $0.tilesHash) = (Data([0, 0xFE]), "/c/EE.mbtiles", "AB")
                    $0.files = [.make { ($0.format, $0.sha256, $0.size, $0.path) = ("pmtiles", Data([1]), 6, "/c/p") }]
                },
                .make { ($0.id, $0.state) = ("LV", "waiting") },
            ]
            $0.failures = [
                .make {
                    $0.tile = .make { ($0.zoom, $0.x, $0.y) = (9, 1, 2) }
                    ($0.cause, $0.detail) = ("http-status", "404")
                }
            ]
        }
        #expect(
            try JSONText.line(job) == """
                {"after":[3,4],"batches":6,"batches_done":5,"batches_failed":1,\
                "block_list":"used: 5 blocks in 70 bytes","bytes":7,"changed_only":true,"changed_tiles":12,"elapsed_seconds":1.25,"empty":5,\
                "failed":4,"failures":[{"cause":"http-status","detail":"404","tile":"9/1/2"}],\
                "formats":["mbtiles","pmtiles","zeta"],"group":"terrain","job":9,"kind":"mixed",\
                "label":"EU / \\\"all\\\"","labels":["big","gpu-free"],"language":"de","not_modified":3,"not_sent":98,"packages":[{"files":[{"format":"pmtiles",\
                "path":"/c/p","sha256":"01","size":6}],"id":"EE","path":"/c/EE.mbtiles","sha256":"00fe","size":5,\
                "state":"published","tiles":3,"tiles_hash":"AB","version":2},{"files":[],"id":"LV","state":"waiting"}],\
                "packages_total":8,"priority":-1,"reason":"source-changed: x","received":4,"received_again":2,"reused":1,"settled":100,\
                "started":"2026-11-22T14:03:06Z","state":"failed","steps":[],"stored":90,"style":"s",\
                "submitted":"2026-11-22T14:03:05Z","summary_only":true,"tiles":100,"tileset":"osm",\
                "waiting":"paused","weight":2,"zoom_max":14,"zoom_min":0}
                """)
        #expect(try !JSONText.line(job.withoutPaths).contains("path"))
        let plain = try JSONText.line(PBJobStatus())
        for name in ["block_list", "group", "language", "reason", "waiting", "style", "submitted", "started", "ended"] {
            #expect(!plain.contains("\"\(name)\""))
        }
    }

    @Test func theOtherObjectsHaveTheirForms() throws {
        let origin = PBOriginStatus.make {
            ($0.origin, $0.state, $0.concurrency) = ("a", "open", 1_000_000)
            ($0.blockedMs, $0.factor, $0.foundPerSecond, $0.operatorConcurrency) = (1_500, 0.5, 2.5, 4)
        }
        #expect(
            try JSONText.line(origin) == """
                {"accepts_per_second":2.5,"blocked_seconds":1.5,"factor":0.5,"failed":0,"granted_concurrency":0,\
                "operator_concurrency":4,"origin":"a","requests":0,"state":"open","throttled":0,"workers":0}
                """)
        let limited = PBOriginStatus.make { ($0.perSecond, $0.concurrency) = (3, 0) }
        #expect(
            try JSONText.line(limited) == """
                {"blocked_seconds":0,"concurrency":0,"factor":0,"failed":0,"granted_concurrency":0,\
                "granted_per_second":0,"origin":"","per_second":3,"requests":0,"state":"","throttled":0,"workers":0}
                """)
        let batch = PBFailedBatch.make {
            ($0.job, $0.batch, $0.zoomMin, $0.zoomMax, $0.whole) = (1, 2, 3, 5, true)
            $0.cell = .make { ($0.zoom, $0.x, $0.y) = (3, 1, 2) }
        }
        #expect(
            try JSONText.line(batch) == """
                {"attempts":0,"batch":2,"cause":"","cell":"3/1/2","detail":"","failures":[],"job":1,"losses":0,\
                "tiles":0,"whole":true,"zooms":"3-5"}
                """)
        let event = PBEventRecord.make {
            ($0.seq, $0.wallMs, $0.kind, $0.data, $0.notification) = (
                4, 1_795_356_185_123, "job", Data("hi".utf8), Data("{}".utf8)
            )
        }
        #expect(
            try JSONText.line(event)
                == #"{"data":"aGk=","job":0,"kind":"job","seq":4,"text":"","time":"2026-11-22T14:03:05.123Z"}"#)
        let worker = PBWorkerStatus.make { ($0.name, $0.pid, $0.silentMs) = ("w", 7, 20) }
        #expect(
            try JSONText.line(worker) == """
                {"build":"","bytes":0,"credit":0,"host":"","labels":[],"leases":0,"name":"w","pid":7,"silent_seconds":0.02,\
                "state":"","tiles":0}
                """)
        let schedule = PBSchedule.make { ($0.id, $0.nextMs, $0.submission) = ("s", 90_000, Data([1])) }
        #expect(
            try JSONText.line(schedule)
                == #"{"every":"","fired":0,"id":"s","label":"","next_seconds":90,"paused":false,"skipped":0,"unchanged":0}"#
        )
        let health = PBHealth.make {
            ($0.state, $0.blobStore, $0.findings) = ("serving", "b", [.make { $0.level = "warn" }])
        }
        #expect(
            try JSONText.line(health) == """
                {"bbox_tile_limit":0,"blob_store":"b","build":"","catalog":"","epoch":0,\
                "findings":[{"code":"","hint":"","level":"warn","text":""}],"other_catalogs":[],"state":"serving"}
                """)
    }
}
