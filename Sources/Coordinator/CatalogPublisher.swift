import Catalog
import Foundation
import Scheduling
import Shards

/// Publishes into a catalog folder.
struct CatalogPublisher: Publishing {
    let catalog: Catalog

    func publish(_ order: PublishOrder) throws -> Publication {
        guard let digest = Digest(bytes: order.merged.digest.bytes) else {
            throw CatalogError(.badRequest, "The digest of package '\(order.id)' has not 32 bytes.")
        }
        let published = try catalog.publish(
            PublishRequest(
                id: order.id, file: order.file, digest: digest, size: order.merged.size, maskWire: order.maskWire,
                names: order.names,
                tilesHash: order.merged.tilesHash))
        return publication(published)
    }

    func standing(id: String, _ merged: MergedPackage) throws -> Publication? {
        guard let digest = Digest(bytes: merged.digest.bytes) else { return nil }
        return try catalog.standing(id: id, digest: digest, size: merged.size).map(publication)
    }

    private func publication(_ published: Published) -> Publication {
        let folder = catalog.folder.standardizedFileURL.path
        let path = published.path.standardizedFileURL.path
        let inside = path.hasPrefix(folder) ? String(path.dropFirst(folder.count).drop { $0 == "/" }) : path
        return Publication(version: UInt32(clamping: published.version), path: inside, unchanged: published.unchanged)
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
