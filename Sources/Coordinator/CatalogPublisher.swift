import Catalog
import Foundation
import Logging
import Scheduling
import Shards
import Telemetry

/// Publishes into a catalog folder.
struct CatalogPublisher: Publishing {
    let catalog: Catalog
    /// Makes patches to what was published; `nil` = there are none.
    var patchMaker: PatchMaker?
    var logger: Logger?

    func publish(_ order: PublishOrder) throws -> Publication {
        guard let digest = Digest(bytes: order.merged.digest.bytes) else {
            throw CatalogError(.badRequest, "The digest of package '\(order.id)' has not 32 bytes.")
        }
        var request = PublishRequest(
            id: order.id, file: order.file, digest: digest, size: order.merged.size, maskWire: order.maskWire,
            names: order.names, tilesHash: order.merged.tilesHash)
        request.files = order.files
        request.edition = order.edition
        request.attribution = order.attribution
        request.dataDate = order.dataDate
        request.tileset = order.tileset
        request.zooms = order.zooms
        request.replacesTileset = order.replacesTileset
        let published = try catalog.publish(request)
        makePatches(order.id, order.edition)
        let folder = catalog.folder.standardizedFileURL.path
        let path = published.path.standardizedFileURL.path
        let inside = path.hasPrefix(folder) ? String(path.dropFirst(folder.count).drop { $0 == "/" }) : path
        return Publication(version: UInt32(clamping: published.version), path: inside, unchanged: published.unchanged)
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [ContentDigest: URL] {
        var held: [ContentDigest: URL] = [:]
        for (digest, url) in try catalog.files(of: id, edition: edition) {
            if let name = ContentDigest(digest.bytes) { held[name] = url }
        }
        return held
    }

    /// Makes the patches that are not there, also those that a crash prevented.
    ///
    /// Clients that find none fetch the whole file: a patch that cannot be made is no reason to hold the package back.
    private func makePatches(_ id: String, _ edition: CatalogEdition) {
        guard let patchMaker else { return }
        do {
            for wanted in try catalog.wantedPatches(id, in: edition) { _ = try catalog.make(wanted, with: patchMaker) }
        } catch {
            logger?.warning(
                "no patch to the new version",
                metadata: [LogKey.package: "\(edition.path)\(id)", LogKey.errorMessage: "\(error)"])
        }
    }

    func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool) {
        switch error {
        // The merged package rotted in the blob store: it is as good as gone, and the next merge makes it again.
        case let error as CatalogError where error.code == .badFile:
            (Trouble(cause: "blob-missing", detail: error.message), false)
        case let error as CatalogError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        case let error as ShardsError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        default: (Trouble(cause: "internal", detail: "\(error)"), false)
        }
    }
}
