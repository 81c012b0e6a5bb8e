import Blobs
import Catalog
import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import Logging
import PackageFiles
import Packages
import Scheduling
import Synchronization
import Telemetry
import Tiles
import Tilesets
import Wire

/// Merged packages that wait to be published.
///
/// A catalog's lists are written as a whole. So all waiting packages are published together, and not too often
/// (``PublishingPace``). A package counts as published, and its job as done, when the lists that name it are durable.
final class PublishQueue: Sendable {
    /// One package.
    struct Waiting: Sendable {
        let job: JobID
        let package: PackageIndex
        let merged: MergedPackage
        let spec: JobSpec
        /// Upper bound of its failed tiles.
        let failedTiles: UInt64

        var wanted: JobSpec.Package { spec.packages[package.number] }
    }

    /// The results of packages that were published together.
    struct Round: Sendable {
        /// The events for the scheduler now.
        var events: [Event] = []
        /// Published packages that get patches, with the events for the scheduler when the patches are made.
        var patching: [(request: PublishRequest, event: Event)] = []
    }

    /// Largest number of packages that are published together: no result is reported before the last one is done.
    static let most = 64

    fileprivate struct State {
        var waiting: [(one: Waiting, since: ContinuousClock.Instant)] = []
        var pace = PublishingPace()
        var isClosing = false
        /// The sleep of all that wait for the same instant.
        var sleep: (until: ContinuousClock.Instant, task: Task<Void, Never>)?
    }
    private let state = Mutex(State())

    func add(_ one: Waiting) {
        state.withLock {
            $0.waiting.append((one, ContinuousClock.now))
            $0.endSleepIfDueEarlier()
        }
    }

    /// From now on no package waits for others.
    func close() {
        state.withLock {
            $0.isClosing = true
            $0.endSleepIfDueEarlier()
        }
    }

    /// Returns when the waiting packages should be published; at once when none waits, and when the task is cancelled.
    func waitUntilDue() async {
        while !Task.isCancelled, let sleep = state.withLock({ $0.sleepUntilDue() }) {
            await withTaskCancellationHandler {
                await sleep.value
            } onCancel: {
                sleep.cancel()
            }
        }
    }

    private func removeOldest() -> [Waiting] {
        state.withLock { state in
            defer {
                state.waiting.removeFirst(min(Self.most, state.waiting.count))
                state.endSleepIfDueEarlier()
            }
            return state.waiting.prefix(Self.most).map(\.one)
        }
    }

    /// Publishes the waiting packages, the oldest first, and returns their results.
    func publish(_ blobs: any ManagedBlobStore, catalogs: CatalogTable, logger: Logger) async -> Round {
        var round = Round()
        var held: [LocalBlob] = []
        var groups: [String: (writer: any CatalogWriter, packages: [(Waiting, PublishRequest)])] = [:]
        for one in removeOldest() {
            do {
                let writer = try catalogs.writer(named: one.spec.publish.catalog)
                guard let files = try await Self.files(one, blobs: blobs, writer: writer, held: &held) else {
                    round.events.append(Self.lost(one))
                    continue
                }
                let request = try PublishRequest(one, files: files)
                groups[request.options.catalog, default: (writer, [])].packages.append((one, request))
            } catch {
                round.events.append(Self.failed(one, error: error, logger: logger))
            }
        }
        for (_, (writer, packages)) in groups.sorted(by: { $0.key < $1.key }) {
            let requests = packages.map(\.1)
            let results: [Result<Published, any Error>]
            do {
                results = try await FileWork.run { writer.publish(requests) }
            } catch {
                results = requests.map { _ in .failure(error) }
            }
            noteCost(of: writer)
            for ((one, request), result) in zip(packages, results) {
                switch result {
                case .success(let done): round.add(done, of: one, as: request, by: writer)
                case .failure(let error): round.events.append(Self.failed(one, error: error, logger: logger))
                }
            }
        }
        withExtendedLifetime(held) {}
        return round
    }

    /// Lists were written: the next ones wait as long as that took.
    func noteCost(of writer: any CatalogWriter) {
        if let cost = writer.listCost { state.withLock { $0.pace.wrote(until: ContinuousClock.now, cost: cost) } }
    }

    static func failed(_ one: Waiting, error: any Error, logger: Logger) -> Event {
        let (trouble, mayHeal) = CatalogTable.trouble(error)
        logger.warning(
            "Package not published",
            metadata: [
                LogKey.package: "\(one.wanted.id)", LogKey.errorCode: "\(trouble.cause)",
                LogKey.errorMessage: "\(trouble.detail)",
            ])
        return .packageTrouble(one.job, package: one.package, trouble, retriable: mayHeal)
    }

    static func lost(_ one: Waiting) -> Event {
        let trouble = Trouble(cause: "blob-missing", detail: "a file of the merged package is gone from the blob store")
        return .packageTrouble(one.job, package: one.package, trouble, retriable: false)
    }

    /// The files of a merged package, the main one first; `nil` when one of its blobs is gone.
    static func files(
        _ one: Waiting, blobs: any ManagedBlobStore, writer: any CatalogWriter, held: inout [LocalBlob]
    ) async throws -> [URL]? {
        let (id, edition) = (one.wanted.id, one.spec.publish.edition)
        var files: [URL] = []
        var catalog: [Digest: URL]?
        for digest in one.merged.digests {
            if let blob = try await blobs.local(digest) {
                held.append(blob)
                files.append(blob.url)
                continue
            }
            // Nothing was new, so nothing was merged; or the blob has been removed since. The catalog may already have
            // exactly these bytes.
            if catalog == nil { catalog = try await FileWork.run { try writer.held(id, edition) } }
            guard let file = catalog?[digest] else { return nil }
            files.append(file)
        }
        return files
    }
}

extension PublishQueue.Round {
    /// A package is in the catalog.
    mutating func add(
        _ done: Published, of one: PublishQueue.Waiting, as request: PublishRequest, by writer: any CatalogWriter
    ) {
        let event = Event.published(
            one.job, package: one.package, version: UInt32(clamping: done.version), path: done.pathInside,
            unchanged: done.unchanged)
        if writer.wantsPatches(request) { patching.append((request, event)) } else { events.append(event) }
    }
}

extension PublishQueue.State {
    /// When to publish; `nil` when nothing waits.
    private var due: ContinuousClock.Instant? {
        guard let oldest = waiting.first?.since else { return nil }
        return isClosing ? oldest : pace.due(oldest: oldest, isFull: waiting.count >= PublishQueue.most)
    }

    /// A task that ends when packages may be due; `nil` when they are due now.
    fileprivate mutating func sleepUntilDue() -> Task<Void, Never>? {
        guard let due, due > ContinuousClock.now else { return nil }
        if let sleep, sleep.until == due, !sleep.task.isCancelled { return sleep.task }
        sleep?.task.cancel()
        // Only cancellation throws, and it ends the sleep.
        let task = Task { (try? await Task.sleep(until: due, clock: .continuous)) ?? () }
        sleep = (due, task)
        return task
    }

    /// Wakes those who wait when they would wait too long.
    fileprivate func endSleepIfDueEarlier() {
        guard let sleep, due.map({ $0 < sleep.until }) ?? true else { return }
        sleep.task.cancel()
    }
}

extension PublishRequest {
    /// What is published of a merged package.
    ///
    /// - Parameter files: The package, then its other files in the order of the merge.
    /// - Throws: ``CatalogError`` `bad-request` for a format that this build does not know.
    init(_ one: PublishQueue.Waiting, files: [URL]) throws(CatalogError) {
        let (spec, wanted, merged) = (one.spec, one.wanted, one.merged)
        guard let main = files.first else {
            throw CatalogError(.badRequest, "Package '\(wanted.id)' has no file.")
        }
        self.init(
            id: wanted.id, file: main, digest: merged.digest, size: merged.size, maskWire: wanted.mask.cartoWire,
            names: wanted.names, tilesHash: merged.tilesHash)
        let mainFormat = spec.mains[one.package.number]
        if mainFormat != .mbtiles { format = mainFormat.rawValue }
        mask = wanted.mask
        options = spec.publish
        options.maxFile = wanted.maxFile
        attribution = spec.tileset.attribution
        sourceBuild = spec.tileset.build?.name
        (encoding, tileSize) = (spec.tileset.encoding, spec.tileset.tileSize)
        tileset = spec.tileset.id
        zooms = spec.zooms
        failedTiles = one.failedTiles
        tiles = merged.tiles
        asksChangedOnly = spec.changed != nil
        nodes = wanted.nodes.map(CatalogIndex.Node.init)
        let urls = Dictionary(zip(merged.digests, files)) { first, _ in first }
        if merged.parts.isEmpty {
            let others = merged.files.filter { $0.format != mainFormat.rawValue }
            // PMTiles alone is the main file, and is named among the files too.
            guard mainFormat == .mbtiles || merged.files.map(\.digest) == [merged.digest] else {
                throw Self.otherMain(wanted.id)
            }
            self.files = try Self.files(others, urls)
        } else {
            try addParts(of: merged, urls)
        }
    }

    /// The parts of the package, which share all that is said of it.
    private mutating func addParts(of merged: MergedPackage, _ urls: [Digest: URL]) throws(CatalogError) {
        let all = merged.parts
        for (index, (part, files)) in all.enumerated() {
            let place = CatalogPart(of: id, number: index + 1, count: all.count)
            let next = index + 1 < all.count ? all[index + 1].part.first : nil
            guard let main = files.first(where: { $0.format == CatalogEntry.main(format).format }),
                format == nil || files.count == 1
            else { throw Self.otherMain(place.id) }
            guard let url = urls[main.digest], let whole = mask else {
                throw CatalogError(.badRequest, "Package '\(place.id)' has no file.")
            }
            let mask = part.mask(in: whole, before: next)
            var request = PublishRequest(
                id: place.id, file: url, digest: main.digest, size: main.size, maskWire: mask.cartoWire, names: names,
                tilesHash: part.tilesHash)
            request.mask = mask
            (request.format, request.options) = (format, options)
            request.attribution = attribution
            (request.encoding, request.tileSize) = (encoding, tileSize)
            (request.tileset, request.zooms, request.failedTiles) = (tileset, zooms, failedTiles)
            (request.tiles, request.asksChangedOnly, request.nodes) = (part.tiles, asksChangedOnly, nodes)
            request.sourceBuild = sourceBuild
            request.part = place
            request.files = try Self.files(files.filter { $0.format != main.format }, urls)
            parts.append(request)
        }
    }

    private static func otherMain(_ id: String) -> CatalogError {
        CatalogError(
            .badRequest,
            "The files of '\(id)' are not those that its job asks for: its worker is of an older build. Upgrade all workers, then retry the job."
        )
    }

    private static func files(_ merged: [MergedFile], _ urls: [Digest: URL]) throws(CatalogError) -> [PublishFile] {
        var files: [PublishFile] = []
        for file in merged {
            guard let format = PackageFormat(rawValue: file.format), let url = urls[file.digest] else {
                throw CatalogError(.badRequest, "This build cannot publish a file of format '\(file.format)'.")
            }
            files.append(
                PublishFile(
                    format: file.format, fileExtension: format.fileExtension, url: url, digest: file.digest,
                    size: file.size))
        }
        return files
    }
}

extension CatalogIndex.Node {
    /// A node as a submission names it.
    fileprivate init(_ node: PBRegionNode) {
        self.init(
            id: node.id, parent: node.parent.isEmpty ? nil : node.parent, kind: node.kind, names: node.names)
    }
}
