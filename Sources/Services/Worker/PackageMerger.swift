internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import Packages
internal import TileBodies
internal import Tiles
internal import Tilesets
internal import Wire

/// Carries out a merge lease: reads manifest and shards from the blob store, and stores a verified package in it.
struct PackageMerger: Sendable {
    let store: any BlobStore
    let exporter: PackageExporter
    /// Collects the layers of the tiles.
    let layers: LayerCache
    /// The indexes of shards that earlier merges have read.
    let maps = ShardMaps()
    /// The memory of large merges.
    let memory = MergeMemory()

    /// Merges on a separate thread.
    ///
    /// - Throws: ``WorkFailure``, `StorageError`, or `CancellationError`; no file is left then.
    func run(_ work: PBMergeWork, job: UInt64, token: UInt64, _ meter: WorkMeter) async throws -> PBCommit {
        let manifest = try await readManifest(work)
        let spec = try Self.spec(manifest)
        let shards = try await shards(manifest, meter)
        // The manifest's decoder has checked that there is one per shard, or none from a coordinator that does not know
        // footers.
        let footers = manifest.shardFooters.map { Digest(bytes: $0) } + repeatElement(nil, count: shards.count)
        let inputs = zip(shards, footers).map { shard, footer in
            MergeInput(url: shard.blob.url, digest: shard.digest, footerDigest: footer)
        }
        let lease = MergeLease(manifest: manifest, job: job, meter: meter)
        let result =
            manifest.maxFile == 0
            ? try await whole(spec, of: inputs, for: lease) : try await parts(of: spec, inputs, for: lease)
        // Held until here, because a cache may remove the files of blobs that are not in use.
        withExtendedLifetime(shards) {}
        return .make {
            $0.token = token
            $0.merge = result
        }
    }

    /// Writes the package as one file, and its other formats.
    private func whole(
        _ spec: PackageSpec, of inputs: [MergeInput], for lease: MergeLease
    ) async throws -> PBMergeResult {
        let temporary = try store.temporaryURL()
        let receipt = try await write(spec, of: inputs, into: temporary, for: lease)
        var files: [PBPackageFile] = []
        do {
            guard lease.main == .mbtiles else {
                try await store.put(temporary, digest: receipt.digest)
                let file = WrittenFile(receipt, as: lease.main, at: temporary)
                return PBMergeResult(receipt, files: [PBPackageFile(file)])
            }
            // Runs before the package becomes a blob: a blob that no commit names would be left when a format fails.
            try await exporter.run(
                lease.manifest, mask: spec.mask, job: lease.job, from: temporary, lease.meter
            ) { file in
                try await store.put(file.url, digest: file.digest)
                files.append(PBPackageFile(file))
            }
            try await store.put(temporary, digest: receipt.digest)
        } catch {
            unlink(temporary.path)
            throw error
        }
        return PBMergeResult(receipt, files: files)
    }

    /// Merges into the main format on a separate thread, when there is memory for it.
    func write(
        _ spec: PackageSpec, of inputs: [MergeInput], into temporary: URL, for lease: MergeLease, done: UInt64 = 0
    ) async throws -> PackageReceipt {
        let need = MBTilesMerge.memory(tiles: spec.mask.count(in: spec.zooms))
        return try await memory.with(need, lease.meter) {
            try await merge(spec, of: inputs, into: temporary, for: lease, done: done)
        }
    }

    private func merge(
        _ spec: PackageSpec, of inputs: [MergeInput], into temporary: URL, for lease: MergeLease, done: UInt64
    ) async throws -> PackageReceipt {
        let (limit, meter) = (lease.manifest.allowedMissing, lease.meter)
        return try await withTaskCancellationHandler {
            try await Blocking.run("packhorse.merge") {
                try naming(inputs, allowedMissing: limit, on: meter) {
                    func step(_ tiles: UInt64) throws {
                        if meter.isCancelled { throw CancellationError() }
                        meter.set(done: done + tiles)
                        meter.countStep()
                    }
                    return lease.main == .pmtiles
                        ? try PMTilesMerge.run(
                            spec, shards: inputs, into: temporary, allowedMissing: limit, layers: layers, maps: maps,
                            progress: step)
                        : try MBTilesMerge.run(
                            spec, shards: inputs, into: temporary, allowedMissing: limit, layers: layers, maps: maps,
                            progress: step)
                }
            }
        } onCancel: {
            meter.cancel()
        }
    }

    /// Does work on shards, and names all that are damaged when one is.
    func naming<Result>(
        _ inputs: [MergeInput], allowedMissing: UInt64, on meter: WorkMeter, _ work: () throws -> Result
    ) throws -> Result {
        do {
            return try work()
        } catch let error as PackagesError where error.code == .badShard {
            // All damaged shards are named at once. Otherwise each would cost a separate merge.
            let damaged = inputs.filter { input in
                meter.countStep()
                // An input that cannot be read counts as damaged.
                return !meter.isCancelled && (try? Digest.ofFile(input.url).digest) != input.digest
            }
            guard !damaged.isEmpty else { throw error }
            throw WorkFailure(
                cause: .shardCorrupt,
                detail: error.message, retriable: true, lostShards: damaged.map(\.digest))
        } catch let error as PackagesError where error.code == .missingTiles {
            // The job as a whole lacks few enough tiles, but this package lacks too many.
            throw WorkFailure(
                cause: .missingTiles, detail: "at most \(allowedMissing) tiles may be missing. \(error.message)",
                retriable: false)
        }
    }

    private func readManifest(_ work: PBMergeWork) async throws -> PBMergeManifest {
        guard let digest = Digest(bytes: work.manifest), let blob = try await store.local(digest) else {
            throw WorkFailure(
                cause: .manifestMissing,
                detail: "The merge manifest of '\(work.packageID)' is not in the blob store.", retriable: true)
        }
        let bytes = try Data(contentsOf: blob.url)
        guard Digest(of: bytes) == digest else {
            throw WorkFailure(
                cause: .manifestCorrupt, detail: "The merge manifest of '\(work.packageID)' is damaged.",
                retriable: true)
        }
        let manifest: PBMergeManifest
        do {
            manifest = try PBMergeManifest(decoding: Array(bytes))
        } catch {
            throw WorkFailure(cause: .badManifest, detail: error.message, retriable: false)
        }
        guard PackageSpec.formatVersions.contains(Int(manifest.packageFormat)) else {
            throw WorkFailure(
                cause: .unsupported,
                detail: "The package needs format \(manifest.packageFormat); this worker writes"
                    + " \(PackageSpec.formatVersions).",
                retriable: true)
        }
        return manifest
    }

    /// All shards, or a failure that names every missing one, so that the coordinator has them fetched again.
    private func shards(_ manifest: PBMergeManifest, _ meter: WorkMeter) async throws -> [(
        digest: Digest, blob: LocalBlob
    )] {
        // The manifest's decoder has checked the lengths.
        let wanted = manifest.shards.compactMap { Digest(bytes: $0) }
        var found: [LocalBlob?] = Array(repeating: nil, count: wanted.count)
        try await withThrowingTaskGroup(of: (Int, LocalBlob?).self) { group in
            for (index, digest) in wanted.enumerated() {
                // A few at a time: enough to hide the network latency.
                if index >= Self.fetches, let (place, blob) = try await group.next() { found[place] = blob }
                meter.countStep()
                group.addTask { (index, try await local(digest)) }
            }
            for try await (place, blob) in group { found[place] = blob }
        }
        let missing = zip(wanted, found).compactMap { $1 == nil ? $0 : nil }
        guard missing.isEmpty else {
            let first = missing.prefix(2).map(\.hex).joined(separator: ", ")
            throw WorkFailure(
                cause: .shardMissing, detail: "\(missing.count) of \(wanted.count) shards are gone: \(first)",
                retriable: true,
                lostShards: missing)
        }
        return zip(wanted, found).compactMap { digest, blob in blob.map { (digest, $0) } }
    }

    /// Number of shards that are looked up at the same time.
    private static let fetches = 8

    /// A shard, downloaded if it is remote.
    ///
    /// One that arrives damaged is fetched from the origin again.
    private func local(_ digest: Digest) async throws -> LocalBlob? {
        do {
            return try await store.local(digest)
        } catch let error as StorageError where error.code == .digestMismatch {
            throw WorkFailure(cause: .shardCorrupt, detail: error.message, retriable: true, lostShards: [digest])
        }
    }

    /// The package's description.
    ///
    /// It depends only on the manifest.
    private static func spec(_ manifest: PBMergeManifest) throws -> PackageSpec {
        do {
            let tileset = try Tileset(canonicalJSON: Array(manifest.tileset))
            let mask = try TileMask(decoding: manifest.mask)
            guard let zooms = ZoomRange(min: Int(manifest.zoomMin), max: Int(manifest.zoomMax)) else {
                throw WorkFailure(cause: .badManifest, detail: "The manifest's zooms are reversed.", retriable: false)
            }
            let world = try BoundingBox(west: -180, south: -85.0511, east: 180, north: 85.0511)
            let bounds = try manifest.bounds.first?.boundingBox() ?? mask.bounds ?? world
            let path = manifest.names[manifest.edition.language] ?? manifest.names["en"]
            let place = path?.split(separator: "/").last.map(String.init)
            var metadata = PackageMetadata(
                name: place ?? manifest.packageID, format: tileset.format,
                bounds: bounds, attribution: tileset.attribution, description: tileset.description,
                vectorLayersJSON: tileset.vectorLayers)
            (metadata.encoding, metadata.tileSize) = (tileset.encoding, tileset.tileSize)
            return PackageSpec(
                id: manifest.packageID, mask: mask, zooms: zooms, metadata: metadata,
                formatVersion: Int(manifest.packageFormat))
        } catch let failure as WorkFailure {
            throw failure
        } catch {
            throw WorkFailure(cause: .badManifest, detail: "\(error)", retriable: false)
        }
    }
}
