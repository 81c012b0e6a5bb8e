internal import Blobs
import Catalog
import Files
import Foundation
import Logging
import Scheduling

extension PublishQueue {
    /// Publishes packages of a job in one change of the catalog, or none of them.
    ///
    /// When some cannot be published, the events name only these; the others wait on.
    func publishTogether(
        _ packages: [Waiting], _ blobs: any ManagedBlobStore, catalogs: CatalogTable, logger: Logger
    ) async -> Round {
        var round = Round()
        guard let first = packages.first else { return round }
        var held: [LocalBlob] = []
        var requests: [PublishRequest] = []
        let writer: any CatalogWriter
        do { writer = try catalogs.writer(named: first.spec.publish.catalog) } catch {
            round.events.append(Self.failed(first, error: error, logger: logger))
            return round
        }
        for one in packages {
            do {
                if let files = try await Self.files(one, blobs: blobs, writer: writer, held: &held) {
                    requests.append(try PublishRequest(one, files: files))
                } else {
                    round.events.append(Self.lost(one))
                }
            } catch {
                round.events.append(Self.failed(one, error: error, logger: logger))
            }
        }
        guard round.events.isEmpty else { return round }
        do {
            let all = requests
            let results = try await FileWork.run { try writer.publishTogether(all) }
            noteCost(of: writer)
            for ((one, request), done) in zip(zip(packages, requests), results) {
                round.add(done, of: one, as: request, by: writer)
            }
        } catch let error as RefusedTogether {
            for refusal in error.refusals where packages.indices.contains(refusal.place) {
                round.events.append(Self.failed(packages[refusal.place], error: refusal.error, logger: logger))
            }
        } catch {
            // One report is enough: the order is repeated for all of them.
            round.events.append(Self.failed(first, error: error, logger: logger))
        }
        withExtendedLifetime(held) {}
        return round
    }
}
