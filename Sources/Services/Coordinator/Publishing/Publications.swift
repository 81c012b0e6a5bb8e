import Blobs
import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Logging
import Scheduling
import Synchronization
import Telemetry
import Tiles
import Wire

/// Merged packages that wait to be published.
///
/// A catalog's lists are written as a whole. So all waiting packages are published together, and not too often
/// (``PublishingPace``). A package counts as published, and its job as done, when the lists that name it are durable.
final class Publications: Sendable {
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
        var patching: [(order: PublishOrder, event: Event)] = []
    }

    /// Largest number of packages that are published together: no result is reported before the last one is done.
    static let most = 64

    fileprivate struct State {
        var waiting: [(one: Waiting, since: ContinuousClock.Instant)] = []
        var pace = PublishingPace()
        var isClosing = false
    }
    private let state = Mutex(State())

    func add(_ one: Waiting) { state.withLock { $0.waiting.append((one, ContinuousClock.now)) } }

    /// From now on no package waits for others.
    func close() { state.withLock { $0.isClosing = true } }

    /// Returns when the waiting packages should be published; at once when none waits.
    func waitUntilDue() async {
        while let due = state.withLock({ $0.due }), due > ContinuousClock.now {
            // Waits in short steps: more packages may come, or the process may end. A cancelled task publishes at once.
            let step = min(due, ContinuousClock.now + .milliseconds(50))
            // Only cancellation throws.
            guard (try? await Task.sleep(until: step, clock: .continuous)) != nil else { return }
        }
    }

    private func removeOldest() -> [Waiting] {
        state.withLock { state in
            defer { state.waiting.removeFirst(min(Self.most, state.waiting.count)) }
            return state.waiting.prefix(Self.most).map(\.one)
        }
    }

    /// Publishes the waiting packages, the oldest first, and returns their results.
    func publish(_ blobs: any ManagedBlobStore, publisher: any Publishing, logger: Logger) async -> Round {
        let all = removeOldest()
        var round = Round()
        var orders: [(Waiting, PublishOrder)] = []
        var held: [LocalBlob] = []
        for one in all {
            do {
                guard let order = try await Self.order(one, blobs: blobs, publisher: publisher, held: &held) else {
                    let trouble = Trouble(
                        cause: "blob-missing", detail: "a file of the merged package is gone from the blob store")
                    round.events.append(.packageTrouble(one.job, package: one.package, trouble, retriable: false))
                    continue
                }
                orders.append((one, order))
            } catch {
                round.events.append(Self.failed(one, error: error, publisher: publisher, logger: logger))
            }
        }
        let made = orders.map(\.1)
        let results: [Result<Publication, any Error>]
        do {
            results = try await FileWork.run { publisher.publish(made) }
        } catch {
            results = made.map { _ in .failure(error) }
        }
        withExtendedLifetime(held) {}
        if let cost = publisher.listCost { state.withLock { $0.pace.wrote(until: ContinuousClock.now, cost: cost) } }
        for ((one, order), result) in zip(orders, results) {
            switch result {
            case .success(let done):
                let event = Event.published(
                    one.job, package: one.package, version: done.version, path: done.path, unchanged: done.unchanged)
                if publisher.wantsPatches(order) {
                    round.patching.append((order, event))
                } else {
                    round.events.append(event)
                }
            case .failure(let error):
                round.events.append(Self.failed(one, error: error, publisher: publisher, logger: logger))
            }
        }
        return round
    }

    private static func failed(
        _ one: Waiting, error: any Error, publisher: any Publishing, logger: Logger
    ) -> Event {
        let (trouble, mayHeal) = publisher.trouble(error)
        logger.warning(
            "Package not published",
            metadata: [
                LogKey.package: "\(one.wanted.id)", LogKey.errorCode: "\(trouble.cause)",
                LogKey.errorMessage: "\(trouble.detail)",
            ])
        return .packageTrouble(one.job, package: one.package, trouble, retriable: mayHeal)
    }

    /// What to publish; `nil` when one of its blobs is gone.
    private static func order(
        _ one: Waiting, blobs: any ManagedBlobStore, publisher: any Publishing, held: inout [LocalBlob]
    ) async throws -> PublishOrder? {
        let (spec, wanted) = (one.spec, one.wanted)
        let place = try CatalogEdition(of: spec.edition)
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
            if catalog == nil { catalog = try await FileWork.run { try publisher.held(wanted.id, place) } }
            guard let file = catalog?[digest] else { return nil }
            files.append(file)
        }
        return PublishOrder(
            id: wanted.id, file: files[0], merged: one.merged, maskWire: wanted.mask.cartoWire, names: wanted.names,
            tileset: spec.tileset.id, attribution: spec.tileset.attribution, zooms: spec.zooms,
            files: try PublishOrder.files(one.merged, Array(files.dropFirst())), edition: place,
            dataDate: spec.dataDate, replacesTileset: spec.replacesTileset, failedTiles: one.failedTiles,
            replacesArea: spec.replacesArea, allowsShrink: spec.allowsShrink, packs: spec.packs,
            nodes: wanted.nodes.map(CatalogIndex.Node.init))
    }
}

extension Publications.State {
    /// When to publish; `nil` when nothing waits.
    fileprivate var due: ContinuousClock.Instant? {
        guard let oldest = waiting.first?.since else { return nil }
        return isClosing ? oldest : pace.due(oldest: oldest, isFull: waiting.count >= Publications.most)
    }
}

extension CatalogIndex.Node {
    /// A node as a submission names it.
    init(_ node: PBRegionNode) {
        self.init(
            id: node.id, parent: node.parent.isEmpty ? nil : node.parent, kind: node.kind, names: node.names)
    }
}
