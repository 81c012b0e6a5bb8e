import Catalog
import Foundation
import Logging
import Scheduling
import Shards
import Synchronization
import Telemetry
import Tiles
import Wire

/// Merged packages that wait to be published.
///
/// A catalog's lists are written as a whole, 55 ms for 600 packages in three formats (measured); so all that wait are published together.
final class Publications: Sendable {
    /// One package.
    struct Waiting: Sendable {
        let job: JobID
        let package: Int
        let merged: MergedPackage
        let spec: JobSpec

        var wanted: JobSpec.Package { spec.packages[package] }
    }

    /// Most that are published together: nobody hears of the first before the last is done.
    static let most = 64

    private let waiting = Mutex<[Waiting]>([])

    func add(_ one: Waiting) { waiting.withLock { $0.append(one) } }

    private func take() -> [Waiting] {
        waiting.withLock { waiting in
            defer { waiting.removeFirst(min(Self.most, waiting.count)) }
            return Array(waiting.prefix(Self.most))
        }
    }

    /// Publishes what waits, the oldest first; what became of each.
    func publish(_ blobs: any ManagedBlobStore, _ publisher: any Publishing, _ logger: Logger) async -> [Event] {
        let all = take()
        var events: [Event] = []
        var orders: [(Waiting, PublishOrder)] = []
        var held: [LocalBlob] = []
        for one in all {
            do {
                guard let order = try await Self.order(one, blobs, publisher, &held) else {
                    let trouble = Trouble(
                        cause: "blob-missing", detail: "a file of the merged package is gone from the blob store")
                    events.append(.packageTrouble(one.job, package: one.package, trouble, retriable: false))
                    continue
                }
                orders.append((one, order))
            } catch {
                events.append(Self.failed(one, error, publisher, logger))
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
        for ((one, _), result) in zip(orders, results) {
            switch result {
            case .success(let done):
                events.append(
                    .published(
                        one.job, package: one.package, version: done.version, path: done.path,
                        unchanged: done.unchanged))
            case .failure(let error): events.append(Self.failed(one, error, publisher, logger))
            }
        }
        return events
    }

    private static func failed(
        _ one: Waiting, _ error: any Error, _ publisher: any Publishing, _ logger: Logger
    ) -> Event {
        let (trouble, mayHeal) = publisher.trouble(error)
        logger.warning(
            "package not published",
            metadata: [
                LogKey.package: "\(one.wanted.id)", LogKey.errorCode: "\(trouble.cause)",
                LogKey.errorMessage: "\(trouble.detail)",
            ])
        return .packageTrouble(one.job, package: one.package, trouble, retriable: mayHeal)
    }

    /// What to publish; `nil` when a blob of it is gone.
    private static func order(
        _ one: Waiting, _ blobs: any ManagedBlobStore, _ publisher: any Publishing, _ held: inout [LocalBlob]
    ) async throws -> PublishOrder? {
        let (spec, wanted) = (one.spec, one.wanted)
        let place = try CatalogEdition(of: spec.edition)
        var files: [URL] = []
        var catalog: [ContentDigest: URL]?
        for digest in one.merged.digests {
            if let name = Digest(bytes: digest.bytes), let blob = try await blobs.local(name) {
                held.append(blob)
                files.append(blob.url)
                continue
            }
            // Nothing was new, so nothing was merged; or the blob has gone since. The catalog may have these very bytes.
            if catalog == nil { catalog = try await FileWork.run { try publisher.held(wanted.id, place) } }
            guard let file = catalog?[digest] else { return nil }
            files.append(file)
        }
        return PublishOrder(
            id: wanted.id, file: files[0], merged: one.merged, maskWire: wanted.mask.cartoWire, names: wanted.names,
            tileset: spec.tilesetID, attribution: spec.attribution, zooms: spec.zooms,
            files: try PublishOrder.files(one.merged, Array(files.dropFirst())), edition: place,
            dataDate: spec.dataDate, replacesTileset: spec.replacesTileset, packs: spec.packs,
            nodes: wanted.nodes.map(CatalogIndex.Node.init))
    }
}

extension CatalogIndex.Node {
    /// A node as a submission names it.
    init(_ node: PBRegionNode) {
        self.init(
            id: node.id, parent: node.parent.isEmpty ? nil : node.parent, kind: node.kind, names: node.names)
    }
}
