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
import Telemetry
import Tiles

/// Publishes into a catalog folder.
struct CatalogPublisher: Publishing {
    let catalog: Catalog
    /// Makes patches from the versions published before; `nil` = no patches.
    var patchMaker: PatchMaker?
    var patchVersions = PatchRule.previousVersions
    var logger: Logger?

    var listCost: Duration? { catalog.listCost }

    func publish(_ order: PublishOrder) throws -> Publication {
        guard let result = publish([order]).first else {
            throw CatalogError(.badRequest, "Package '\(order.id)' was not published.")
        }
        return try result.get()
    }

    func publish(_ orders: [PublishOrder]) -> [Result<Publication, any Error>] {
        let requests = orders.map { order in Result { try request(order) } }
        // The errors of the other requests are in the results below.
        var published = catalog.publish(requests.compactMap { try? $0.get() })[...]
        let results = requests.map { request -> Result<Published, any Error> in
            if case .failure(let error) = request { return .failure(error) }
            return published.removeFirst().mapError { $0 }
        }
        for (order, result) in zip(orders, results) {
            guard case .success(let published) = result, published.losesPacks else { continue }
            logger?.warning(
                "The new version has no tile packs, and those of the previous version are gone; add --tile-packs to its job, or run packhorse packs",
                metadata: [LogKey.package: "\(order.edition.path)\(order.id)"])
        }
        return results.map { result in result.map(publication) }
    }

    private func publication(_ published: Published) -> Publication {
        let folder = catalog.folder.standardizedFileURL.path
        let path = published.path.standardizedFileURL.path
        let inside = path.hasPrefix(folder) ? String(path.dropFirst(folder.count).drop { $0 == "/" }) : path
        return Publication(version: UInt32(clamping: published.version), path: inside, unchanged: published.unchanged)
    }

    private func request(_ order: PublishOrder) throws -> PublishRequest {
        var request = PublishRequest(
            id: order.id, file: order.file, digest: order.merged.digest, size: order.merged.size,
            maskWire: order.maskWire,
            names: order.names, tilesHash: order.merged.tilesHash)
        request.files = order.files
        request.edition = order.edition
        request.attribution = order.attribution
        request.dataDate = order.dataDate
        request.tileset = order.tileset
        request.zooms = order.zooms
        request.replacesTileset = order.replacesTileset
        request.failedTiles = order.failedTiles
        request.replacesArea = order.replacesArea
        request.allowsShrink = order.allowsShrink
        request.tiles = order.merged.tiles
        request.nodes = order.nodes
        request.tilePacks = try packs(order, order.merged.digest)
        return request
    }

    /// The tile packs of a package.
    ///
    /// They are cut now unless the catalog has them.
    private func packs(_ order: PublishOrder, _ digest: Digest) throws -> PublishedPacks? {
        guard let scheme = order.packs else { return nil }
        let home = order.edition.path.isEmpty ? catalog.folder : catalog.folder.appending(path: order.edition.path)
        var wanted = TilePacks.Order(package: order.file, id: order.id, tileset: order.tileset)
        wanted.mask = try TileMask(cartoText: order.maskWire)
        wanted.lacksOnlyEmptyTiles = order.failedTiles == 0
        wanted.scheme = scheme
        let list = try heldPacks(wanted, digest: digest, home: home) ?? TilePacks.packs(wanted, into: home)
        return PublishedPacks(
            list: try list.encoded(), files: list.packs.map { PublishedPacks.Pack(path: $0.path, size: $0.size) })
    }

    /// The packs that the catalog lists for exactly these bytes, if all of their files exist.
    private func heldPacks(_ wanted: TilePacks.Order, digest: Digest, home: URL) -> TilePackList? {
        // A list or pack that cannot be read is made again.
        guard let bytes = try? Data(contentsOf: home.appending(path: TilePackList.path(wanted.id))),
            // See above.
            let list = try? JSONDecoder().decode(TilePackList.self, from: bytes), list.answers(wanted, of: digest)
        else { return nil }
        let isThere = list.packs.allSatisfy { pack in
            // A pack that cannot be read is made again.
            let attributes = try? FileManager.default.attributesOfItem(atPath: home.appending(path: pack.path).path)
            return (attributes?[.size] as? NSNumber)?.uint64Value == pack.size
        }
        return isThere ? list : nil
    }

    func wantsPatches(_ order: PublishOrder) -> Bool {
        guard patchMaker != nil else { return false }
        // If the catalog cannot be read now, patches cannot be listed in it either.
        let wanted = try? catalog.wantedPatches(of: [order.id], in: order.edition, previous: patchVersions)
        return wanted?.isEmpty == false
    }

    /// Makes the missing patches and lists them together.
    ///
    /// This includes patches that a crash prevented.
    func makePatches(_ orders: [PublishOrder]) {
        guard let patchMaker, !orders.isEmpty else { return }
        func warn(_ package: String, _ error: any Error) {
            logger?.warning(
                "Patch to the new version not made",
                metadata: [LogKey.package: "\(package)", LogKey.errorMessage: "\(error)"])
        }
        do {
            var wanted: [WantedPatch] = []
            for (edition, orders) in Dictionary(grouping: orders, by: \.edition).sorted(by: { $0.key < $1.key }) {
                wanted += try catalog.wantedPatches(of: Set(orders.map(\.id)), in: edition, previous: patchVersions)
            }
            _ = try catalog.make(wanted, with: patchMaker) { warn("\($0.edition.path)\($0.id)", $1) }
        } catch {
            warn(orders.map { "\($0.edition.path)\($0.id)" }.joined(separator: ", "), error)
        }
    }

    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String] {
        let ids = spec.packages.map(\.id)
        do throws(CatalogError) {
            let edition = try CatalogEdition(of: spec.edition)
            try catalog.checkCase(ids, in: edition)
            if !spec.replacesTileset { try catalog.check(ids, of: spec.tileset.id, in: edition) }
            if !spec.replacesArea {
                let areas = Dictionary(spec.packages.map { ($0.id, $0.mask) }) { $1 }
                try catalog.check(areas: areas, in: edition)
            }
            let wanted = Set(ids)
            return CatalogImpact(
                spec: spec, edition: edition,
                replaced: try catalog.packages(in: edition).filter { wanted.contains($0.id) },
                cut: catalog.idsWithPacks(among: ids, in: edition)
            ).warnings
        } catch {
            // Any other problem of the catalog may be fixed before there is something to publish.
            guard [.otherTileset, .otherArea, .badRequest].contains(error.code) else { return [] }
            throw SubmitProblem("\(error.code)", error.message)
        }
    }

    func withdraw(_ ids: [String], from edition: CatalogEdition) throws -> CatalogPruning {
        try catalog.remove(ids, group: edition.group, language: edition.language, dryRun: false)
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL] {
        try catalog.files(of: id, edition: edition)
    }

    func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool) {
        switch error {
        // The merged package is damaged in the blob store. It is treated as missing, and the next merge makes it again.
        case let error as CatalogError where error.code == .badFile:
            (Trouble(cause: "blob-missing", detail: error.message), false)
        case let error as CatalogError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        case let error as PackagesError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        case let error as StorageError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        default: (Trouble(cause: "internal", detail: "\(error)"), false)
        }
    }
}
