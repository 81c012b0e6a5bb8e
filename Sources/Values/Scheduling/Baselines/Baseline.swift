import Digests
import Tiles

/// The shards of a finished job.
///
/// Later jobs of the same tileset use them to ask the origin only for changed tiles.
struct Baseline: Sendable {
    struct Shard: Sendable {
        let cell: TileID
        let zooms: ZoomRange
        let tiles: UInt64
        let digest: Digest
    }

    /// The properties that distinguish one batch from another for the scheduler.
    struct Shape: Hashable {
        let cell: TileID
        let zooms: ZoomRange
        let tiles: UInt64
    }

    let job: JobID
    let identity: Digest?
    let shards: [Shard]
    let runs: CellRuns
    /// Bytes of the shards' files.
    let bytes: UInt64

    /// The previous build that a job leaves; `nil` when it has no shard.
    init?(_ summary: JobSummary, batches: [Batch]) {
        var bytes: UInt64 = 0
        let shards = batches.compactMap { batch -> Shard? in
            guard batch.state == .done, let digest = batch.digest else { return nil }
            bytes = bytes.addingReportingOverflow(batch.result.shardBytes).partialValue
            return Shard(cell: batch.cell, zooms: batch.zooms, tiles: batch.tiles, digest: digest)
        }
        guard !shards.isEmpty else { return nil }
        var runs = CellRuns()
        runs.extend(to: shards.count) { shards[$0].cell }
        job = summary.id
        identity = summary.identity
        self.shards = shards
        self.runs = runs
        self.bytes = bytes
    }

    /// Whether an older build of the same tileset is no longer useful: it covers the same request, or this one contains
    /// all of its batches.
    func replaces(_ older: Baseline) -> Bool {
        if let identity, identity == older.identity { return true }
        guard older.shards.count <= shards.count else { return false }
        let own = Set(shards.map(\.shape))
        return older.shards.allSatisfy { own.contains($0.shape) }
    }
}

extension Baseline.Shard {
    var shape: Baseline.Shape { Baseline.Shape(cell: cell, zooms: zooms, tiles: tiles) }
}

/// The kept previous builds.
struct BaselineBook: Sendable {
    /// By tileset; the builds of a tileset by ascending job.
    private var kept: [Digest: [Baseline]] = [:]
    private var tilesets: [JobID: Digest] = [:]
    /// Bytes of all shards.
    ///
    /// A file that two builds name counts twice.
    private(set) var bytes: UInt64 = 0

    /// The jobs, ascending.
    var jobs: [JobID] { tilesets.keys.sorted() }
    var count: Int { tilesets.count }

    func count(where isMeant: (JobID) -> Bool) -> Int { tilesets.keys.count(where: isMeant) }

    func contains(_ job: JobID) -> Bool { tilesets[job] != nil }

    /// The builds of a tileset, the newest job first.
    func of(_ tileset: Digest) -> [Baseline] { (kept[tileset] ?? []).reversed() }

    mutating func insert(_ baseline: Baseline, of tileset: Digest) {
        remove(baseline.job)
        let place = kept[tileset]?.firstIndex { $0.job > baseline.job } ?? kept[tileset]?.count ?? 0
        kept[tileset, default: []].insert(baseline, at: place)
        tilesets[baseline.job] = tileset
        bytes &+= baseline.bytes
    }

    mutating func remove(_ job: JobID) {
        guard let tileset = tilesets.removeValue(forKey: job) else { return }
        bytes &-= kept[tileset]?.first { $0.job == job }?.bytes ?? 0
        kept[tileset]?.removeAll { $0.job == job }
        if kept[tileset]?.isEmpty == true { kept[tileset] = nil }
    }
}
