import Catalog
import Digests
import Foundation
import Scheduling
import Tiles
import Tilesets
import Wire

/// Converts worker messages to scheduler events.
///
/// Digests, counts and tiles were checked by the decoder.
enum WireConversions {
    static func profile(_ body: PBHello) -> SessionProfile {
        var profile = SessionProfile(
            name: String(body.name.prefix(128)), host: String(body.host.prefix(256)), processID: body.pid,
            build: String(body.build.prefix(128)), canFetch: body.canFetch, canMerge: body.canMerge)
        profile.exports = body.exports.sorted()
        profile.plansRanges = body.plansRanges
        profile.labels = Set(body.labels).sorted()
        return profile
    }

    static func file(_ file: MergedFile) -> PBPackageFile {
        PBPackageFile.make {
            $0.format = file.format
            $0.sha256 = Data(file.digest.bytes)
            $0.size = file.size
            guard let part = file.part else { return }
            $0.part = part.number
            $0.tiles = part.tiles
            $0.tilesHash = part.tilesHash
            $0.firstTile = part.first.hilbertID
            $0.commonZooms = UInt32(part.common)
        }
    }

    /// The files of a package, or `nil` when one of them has no digest, or begins nowhere.
    static func files(_ files: [PBPackageFile]) -> [MergedFile]? {
        var all: [MergedFile] = []
        for file in files {
            guard let digest = Digest(bytes: file.sha256) else { return nil }
            var merged = MergedFile(format: file.format, digest: digest, size: file.size)
            if file.part > 0 {
                guard let first = TileID(hilbertID: file.firstTile) else { return nil }
                merged.part = MergedPart(
                    number: file.part, tiles: file.tiles, tilesHash: String(file.tilesHash.prefix(128)), first: first,
                    common: Int(min(file.commonZooms, UInt32(TileID.maxZoom))))
            }
            all.append(merged)
        }
        return all
    }

    /// The result of a commit, or `nil` when it is invalid.
    static func result(_ body: PBCommit) -> CommitResult? {
        switch body.result {
        case .fetch(let fetch) where fetch.hasParts: return plan(fetch).map { .plan($0) }
        case .fetch(let fetch):
            guard let digest = Digest(bytes: fetch.shard) else { return nil }
            var counts = FetchCounts(
                stored: fetch.stored, empty: fetch.empty, failed: fetch.failed, bodyBytes: fetch.bodyBytes,
                shardBytes: fetch.shardBytes, reused: fetch.reused,
                notModified: fetch.notModified, received: fetch.received, receivedAgain: fetch.receivedAgain,
                notSent: fetch.notSent, footer: Digest(bytes: fetch.shardFooter))
            counts.blockList = fetch.blockList
            counts.sourceVersion = fetch.sourceVersion.isEmpty ? nil : fetch.sourceVersion
            let failures = fetch.failures.compactMap { failure in
                failure.tile.tileID.map {
                    FailedTile(tile: $0, trouble: .reported(cause: failure.cause, detail: failure.detail))
                }
            }
            return .fetch(digest, counts, failures: failures)
        case .merge(let merge):
            guard let digest = Digest(bytes: merge.package), let files = files(merge.files) else { return nil }
            return .merge(
                MergedPackage(
                    digest: digest, size: merge.size, tiles: merge.tiles,
                    tilesHash: String(merge.tilesHash.prefix(128)), files: files, remark: merge.remark))
        case nil: return nil
        }
    }

    /// The plan of a commit, or `nil` when it is invalid.
    private static func plan(_ fetch: PBFetchResult) -> RangePlanResult? {
        let list = PBLoggedPlan.make {
            $0.cells = fetch.parts.cells
            $0.zoomMin = fetch.parts.zoomMin
            $0.zoomMax = fetch.parts.zoomMax
            $0.tiles = fetch.parts.tiles
        }
        guard let digest = Digest(bytes: fetch.shard), let parts = BatchPlan.planned(list) else { return nil }
        var result = RangePlanResult(
            digest: digest, bytes: fetch.shardBytes, parts: parts,
            sourceVersion: fetch.sourceVersion.isEmpty ? nil : fetch.sourceVersion)
        result.blockList = fetch.blockList
        return result
    }

    static func failure(_ failed: FailedTile) -> PBTileFailure {
        PBTileFailure.make {
            $0.tile = PBTile(failed.tile)
            $0.cause = failed.trouble.cause
            $0.detail = failed.trouble.detail
        }
    }

    static func problem(_ code: String, _ text: String, hint: String = "", retriable: Bool = false) -> Message {
        .problem(
            PBProblem.make {
                $0.code = code
                $0.text = text
                $0.hint = hint
                $0.retriable = retriable
            })
    }

    static func problem(_ refusal: Refusal) -> Message { problem(refusal.code, refusal.text, hint: refusal.hint) }

    static func status(_ worker: WorkerView) -> PBWorkerStatus {
        PBWorkerStatus.make {
            $0.name = worker.profile.name
            $0.host = worker.profile.host
            $0.pid = worker.profile.processID
            $0.build = worker.profile.build
            $0.state = worker.state
            $0.leases = UInt32(clamping: worker.leases)
            $0.credit = worker.credit
            $0.silentMs = UInt64(clamping: worker.silent)
            $0.tiles = worker.tiles
            $0.bytes = worker.bytes
            $0.reason = worker.reason
            $0.labels = worker.profile.labels
        }
    }

    static func status(_ package: Package) -> PBPackageStatus {
        PBPackageStatus.make {
            $0.id = package.id
            $0.state = word(package.state)
            $0.version = package.version
            $0.path = package.path
            if let merged = package.merged {
                $0.size = merged.size
                $0.tiles = merged.tiles
                $0.sha256 = Data(merged.digest.bytes)
                $0.tilesHash = merged.tilesHash
                $0.files = merged.files.map(file)
                $0.remark = merged.remark
            }
        }
    }

    /// Why packages are not published while publishing is retried: a full disk, or a folder that cannot be written.
    private static func publishingTrouble(_ packages: [Package]) -> String {
        let waiting = packages.filter { $0.state == .publishing || $0.state == .manifest }
        guard let stuck = waiting.first(where: { $0.trouble != nil }), let trouble = stuck.trouble else { return "" }
        return
            "package '\(stuck.id)' waits to be \(stuck.state == .publishing ? "published" : "merged"): \(trouble.detail) [\(trouble.cause)]"
    }

    private static func word(_ state: PackageState) -> String {
        switch state {
        case .waiting: "waiting"
        case .manifest, .ready, .leased, .backoff: "merging"
        case .publishing: "publishing"
        case .published: "published"
        case .unchanged: "unchanged"
        case .failed: "failed"
        }
    }

    /// - Parameter spec: `nil` when it cannot be read; the fields that come from it are omitted then.
    static func status(_ job: JobSummary, spec: JobSpec?, times: JobTimes, packages: [Package], wall: Int64)
        -> PBJobStatus
    {
        PBJobStatus.make {
            JobRecord.table.show(job, in: &$0)
            $0.job = job.id.rawValue
            $0.state = job.state.rawValue
            $0.inFlightDone = job.counts.inFlightDone
            $0.batches = job.counts.wholeBatches
            $0.batchesDone = job.counts[.done]
            $0.batchesLeased = job.counts[.leased]
            $0.elapsedMs = UInt64(clamping: (times.ended ?? wall) - times.created)
            $0.reason = job.reason.isEmpty ? publishingTrouble(packages) : job.reason
            $0.packages = packages.map(status)
            $0.after = job.state.isFinal ? [] : job.after.map(\.rawValue)
            $0.batchesFailed = job.counts[.dead]
            $0.submittedMs = times.created
            $0.startedMs = times.started ?? 0
            $0.endedMs = times.ended ?? 0
            guard let spec else { return }
            $0.label = spec.label
            $0.kind = spec.kind
            $0.tileset = spec.tileset.id
            $0.zoomMin = UInt32(spec.zooms.min)
            $0.zoomMax = UInt32(spec.zooms.max)
            $0.formats = spec.allFormats
            $0.style = spec.style
            $0.edition = spec.publish.edition.message
            $0.catalog = spec.publish.catalog
            $0.labels = spec.labels
            $0.changedOnly = spec.changed != nil
            $0.changedTiles = spec.changedTiles ?? 0
            $0.sourceVersion = job.sourceVersion ?? ""
            $0.dataDate = spec.publish.dataDate ?? ""
            guard let build = spec.tileset.build else { return }
            $0.sourceBuild = build.name
            $0.sourceURL = build.address
        }
    }
}
