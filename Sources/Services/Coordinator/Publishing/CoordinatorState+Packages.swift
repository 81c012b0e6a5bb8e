internal import Blobs
import Catalog
import CatalogFormat
internal import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Packages
import Scheduling
import Tiles
import Wire

/// What happens to a package between its last commit and the catalog.
extension CoordinatorState {
    /// Writes the list of everything that a merger needs, as a separate blob.
    func writeManifest(_ job: JobID, _ package: PackageIndex) {
        guard scheduler.isLiving(job), let spec = jobs.spec(of: job),
            spec.packages.indices.contains(package.number)
        else {
            let trouble = Trouble(
                cause: FailureCause.jobFailed.rawValue, detail: "the job ended before its manifest was written")
            handle(.manifestFailed(job, package: package, trouble, retriable: false))
            return
        }
        let wanted = spec.packages[package.number]
        let isLeavingOut = scheduler.summary(of: job)?.leavesOut ?? false
        let (failed, givenUp) = failedTiles(of: wanted, job)
        var shards: [Data] = []
        var footers: [Data] = []
        for batch in scheduler.batches(of: job) where batch.state != .split && wanted.mask.contains(batch.cell) {
            guard batch.state == .done, let digest = batch.digest else { continue }
            shards.append(Data(digest.bytes))
            footers.append(Data(batch.result.footer?.bytes ?? []))
        }
        // The limit for missing tiles holds for each package, not only for the whole job.
        let share = Self.mayLack(spec.allowedMissing, of: wanted.mask.count(in: spec.zooms))
        let manifest = PBMergeManifest.make {
            $0.packageFormat = min(WorkerAdmission.newestPackageFormat, scheduler.packageFormat ?? .max)
            $0.packageID = wanted.id
            $0.mask = Data(wanted.mask.encoded())
            $0.zoomMin = UInt32(spec.zooms.min)
            $0.zoomMax = UInt32(spec.zooms.max)
            $0.tileset = Data(spec.tileset.canonicalJSON)
            $0.names = wanted.names
            $0.shards = shards
            $0.shardFooters = footers
            $0.bounds = wanted.bounds.map { [$0] } ?? []
            $0.allowedMissing = isLeavingOut ? failed + min(givenUp, share) : min(failed + givenUp, share)
            $0.formats = scheduler.formats(of: job, package: package)
            $0.withoutMbtiles = spec.mains[package.number] == .pmtiles
            if $0.formats.contains(PackageFormat.maplibre.rawValue) {
                $0.style = spec.style
                $0.dataDate = spec.publish.dataDate ?? ""
            }
            $0.maxFile = wanted.maxFile ?? 0
            if spec.publish.edition != .main { $0.edition = spec.publish.edition.message }
        }
        environment.executor.run(on: .files) { [environment] in
            let (blobs, removals) = (environment.blobs, environment.removals)
            do {
                let bytes = try manifest.encoded()
                let digest = Digest(of: bytes)
                // An earlier job over the same shards has an identical manifest.
                removals.claim(digest)
                do {
                    await removals.waitUntilFree(digest)
                    let temporary = try blobs.temporaryURL()
                    try await FileWork.run { try Durable.write(bytes, to: temporary) }
                    try await blobs.put(temporary, digest: digest)
                } catch {
                    removals.endClaim(of: digest, mayBeNamed: false)
                    throw error
                }
                // A style is identified by its address, and its content may change.
                return .written(job, package: package, digest, decides: manifest.style.isEmpty)
            } catch {
                let (trouble, mayHeal) = CatalogTable.trouble(error)
                return .event(.manifestFailed(job, package: package, trouble, retriable: mayHeal))
            }
        }
    }

    /// Upper bound of a package's failed tiles: those of its accepted batches, and all of those that were given up.
    ///
    /// Some of them may lie outside its mask.
    private func failedTiles(of wanted: JobSpec.Package, _ job: JobID) -> (failed: UInt64, givenUp: UInt64) {
        var (failed, givenUp): (UInt64, UInt64) = (0, 0)
        for batch in scheduler.batches(of: job) where batch.state != .split && wanted.mask.contains(batch.cell) {
            if batch.state == .done { failed += batch.result.failed } else { givenUp += batch.tiles }
        }
        return (failed, givenUp)
    }

    /// The number of tiles that a package of `tiles` tiles may lack.
    static func mayLack(_ share: Double, of tiles: UInt64) -> UInt64 {
        share > 0 ? UInt64(exactly: (min(share, 1) * Double(tiles)).rounded(.down)) ?? tiles : 0
    }

    /// Puts a merged package into the catalog together with all others that wait.
    ///
    /// The scheduler has made the state `publishing` durable before.
    func publish(_ job: JobID, package: PackageIndex, merged: MergedPackage) {
        guard scheduler.isLiving(job), let spec = jobs.spec(of: job),
            spec.packages.indices.contains(package.number)
        else { return }
        let (failed, givenUp) = failedTiles(of: spec.packages[package.number], job)
        environment.publishQueue.add(
            PublishQueue.Waiting(
                job: job, package: package, merged: merged, spec: spec,
                failedTiles: failed + givenUp))
        environment.executor.run(on: .catalog) { [environment] in
            let (queue, catalogs) = (environment.publishQueue, environment.catalogs)
            await queue.waitUntilDue()
            guard await environment.hasTurn() else { return nil }
            // The first waiter usually publishes this package too, unless it came too late or too many wait.
            let round = await queue.publish(environment.blobs, catalogs: catalogs, logger: environment.logger)
            return environment.report(round)
        }
    }

    /// Puts all merged packages of a job into the catalog, in one change.
    ///
    /// The scheduler orders it again when one of them is not merged any more.
    func publishTogether(_ job: JobID) {
        guard scheduler.isLiving(job), scheduler.canPublishTogether(job), let spec = jobs.spec(of: job) else { return }
        var waiting: [PublishQueue.Waiting] = []
        for (number, package) in scheduler.packages(of: job).enumerated() where package.state == .publishing {
            guard let merged = package.merged, spec.packages.indices.contains(number) else { return }
            let (failed, givenUp) = failedTiles(of: spec.packages[number], job)
            waiting.append(
                PublishQueue.Waiting(
                    job: job, package: PackageIndex(number), merged: merged, spec: spec, failedTiles: failed + givenUp))
        }
        environment.executor.run(on: .catalog) { [environment, waiting] in
            guard await environment.hasTurn() else { return nil }
            let round = await environment.publishQueue.publishTogether(
                waiting, environment.blobs, catalogs: environment.catalogs, logger: environment.logger)
            return environment.report(round)
        }
    }

    /// Handles a manifest that is durable: its claim ends.
    ///
    /// - Parameter decides: Whether the manifest alone decides the bytes of the package.
    func manifestWritten(_ job: JobID, package: PackageIndex, _ digest: Digest, decides: Bool) {
        handle(.manifestWritten(job, package: package, digest, decides: decides))
        environment.removals.endClaim(of: digest, mayBeNamed: true)
    }
}

extension LoopEnvironment {
    /// The events of published packages; those that get patches follow when these are made.
    fileprivate func report(_ round: PublishQueue.Round) -> Report? {
        if !round.patching.isEmpty {
            // Patches of large packages take minutes. Only these jobs wait for them, other packages do not.
            executor.run(on: .patches) { [catalogs] in
                // Writers log the errors of patches and throw none.
                try? await FileWork.run { catalogs.makePatches(round.patching.map(\.request)) }
                return .events(round.patching.map(\.event))
            }
        }
        return round.events.isEmpty ? nil : .events(round.events)
    }
}
