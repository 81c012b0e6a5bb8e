import Digests
import Scheduling
import Tiles

/// A tile as a shard or a package has it; version 0 = the origin has nothing there.
struct SimTile: Hashable {
    let tile: TileID
    let version: UInt64
}

/// What a blob holds.
enum SimContent: Hashable {
    case shard([SimTile])
    case manifest(SimManifest)
    case package([SimTile])
    /// A merged package in another format.
    case file([SimTile], format: String)
    /// Tiles in the order of their places in an archive.
    case plan([TileID])

    /// A function of the content alone, as a SHA-256 is.
    var digest: Digest {
        var print = Fingerprint()
        switch self {
        case .shard(let tiles), .package(let tiles):
            if case .shard = self { print.add(1) } else { print.add(2) }
            for tile in tiles {
                print.add(tile.tile)
                print.add(tile.version)
            }
        case .file(let tiles, let format):
            print.add(4)
            for byte in format.utf8 { print.add(UInt64(byte)) }
            for tile in tiles {
                print.add(tile.tile)
                print.add(tile.version)
            }
        case .plan(let tiles):
            print.add(5)
            for tile in tiles { print.add(tile) }
        case .manifest(let manifest):
            print.add(3)
            print.add(manifest.spec)
            print.add(manifest.package.number)
            print.add(manifest.allowedMissing)
            for shard in manifest.shards { print.add(UInt64(shard.bytes.reduce(0) { $0 &* 31 &+ UInt64($1) })) }
        }
        return print.digest
    }

    /// Whether who reads it notices damage.
    var mayRot: Bool {
        switch self {
        case .shard, .plan: true
        case .manifest, .package, .file: false
        }
    }

    var size: UInt64 {
        switch self {
        case .shard(let tiles), .package(let tiles): UInt64(tiles.count) * 100 + 60
        case .plan(let tiles): UInt64(tiles.count) * 8 + 20
        case .file(let tiles, _): UInt64(tiles.count) * 90 + 70
        case .manifest(let manifest): UInt64(manifest.shards.count) * 32 + 100
        }
    }
}

/// A list of shards, as the coordinator writes it for a merger.
struct SimManifest: Hashable {
    let spec: Int
    let package: PackageIndex
    let shards: [Digest]
    let allowedMissing: UInt64
}

/// What a client asks for: packages over one tileset.
struct SimSpec {
    let zooms: ZoomRange
    let masks: [TileMask]
    let union: TileMask
    let submission: JobSubmission
    /// Jobs of one tileset share what they fetch.
    let tileset: Digest

    init(
        index: Int, zooms: ZoomRange, masks: [TileMask], allowedMissing: Double, priority: Int32, weight: UInt32,
        tileset: UInt64 = 1, formats: [[String]] = [], isPlanned: Bool = false, labels: [String] = []
    ) {
        self.tileset = Bench.digest(tileset)
        self.zooms = zooms
        self.masks = masks
        union = masks.dropFirst().reduce(masks[0]) { $0.union($1) }
        let packages = masks.enumerated().map { Package(id: "\(index).\($0)", tiles: $1.count(in: zooms)) }
        let whole = PlannedBatch(cell: .root, zooms: zooms, tiles: union.count(in: zooms), role: .plan)
        let batches = isPlanned ? [whole] : Array(BatchPlanner(mask: union, zooms: zooms).batches())
        submission = JobSubmission(
            requestID: "request \(index)", priority: priority, weight: weight, allowedMissing: allowedMissing,
            batches: batches, packages: packages, payload: [UInt8(truncatingIfNeeded: index)],
            needs: PackageNeeds(masks: masks, cells: batches.map(\.cell)), tileset: self.tileset, formats: formats,
            publishesTogether: index % 3 == 1, labels: labels)
    }

    /// The formats that a package gets in addition to its own.
    func formats(of package: PackageIndex) -> [String] {
        submission.formats.indices.contains(package) ? submission.formats[package] : []
    }

    func needs(of batches: [Batch]) -> PackageNeeds { PackageNeeds(masks: masks, cells: batches.map(\.cell)) }

    /// The tiles of a batch, as a worker enumerates them.
    func tiles(_ cell: TileID, _ zooms: ZoomRange) -> [TileID] { Array(union.tiles(in: zooms, under: cell)) }

    /// The tiles of a batch in the order of a plan.
    func planned(_ cell: TileID, _ zooms: ZoomRange) -> [TileID] {
        tiles(cell, zooms).sorted { ($0.zoom, $0.y, $0.x) < ($1.zoom, $1.y, $1.x) }
    }
}
