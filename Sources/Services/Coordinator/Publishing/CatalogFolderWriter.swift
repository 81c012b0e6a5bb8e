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

/// Writes finished packages into a catalog folder.
struct CatalogFolderWriter: CatalogWriter {
    let catalog: Catalog
    /// Makes patches from the versions published before; `nil` = no patches.
    var patchMaker: PatchMaker?
    var patchVersions = PatchRule.previousVersions
    var logger: Logger?

    var folder: URL { catalog.folder }
    var listCost: Duration? { catalog.listCost }

    func publish(_ requests: [PublishRequest]) -> [Result<Published, any Error>] {
        let cut = requests.map { request in Result { try complete(request) } }
        // The errors of the other requests are in the results below.
        var published = catalog.publish(cut.compactMap { try? $0.get() })[...]
        let results = cut.map { request -> Result<Published, any Error> in
            if case .failure(let error) = request { return .failure(error) }
            return published.removeFirst().mapError { $0 }
        }
        for (request, result) in zip(requests, results) {
            if case .success(let published) = result { warn(of: request, published) }
        }
        return results
    }

    func publishTogether(_ requests: [PublishRequest]) throws -> [Published] {
        var refusals: [RefusedTogether.Refusal] = []
        var complete: [PublishRequest] = []
        for (place, request) in requests.enumerated() {
            do { complete.append(try self.complete(request)) } catch {
                refusals.append(.init(place: place, error: error))
            }
        }
        guard refusals.isEmpty else { throw RefusedTogether(refusals: refusals) }
        let published = try catalog.publishTogether(complete)
        for (request, one) in zip(requests, published) { warn(of: request, one) }
        return published
    }

    /// Adds what is read from the files: vector layers, and tile packs.
    private func complete(_ request: PublishRequest) throws -> PublishRequest {
        var request = request
        request.layers = MBTilesContents.layers(of: request.file)
        for part in request.parts.indices { request.parts[part].layers = request.layers }
        request.tilePacks = try CatalogPacks.maker(request, home(of: request.options.edition))
        return request
    }

    private func warn(of request: PublishRequest, _ published: Published) {
        guard published.losesPacks else { return }
        logger?.warning(
            "The new version has no tile packs, and those of the previous version are gone; add --tile-packs to its job, or run packhorse packs",
            metadata: [LogKey.package: "\(request.options.edition.path)\(request.id)"])
    }

    private func home(of edition: CatalogEdition) -> URL {
        edition.path.isEmpty ? catalog.folder : catalog.folder.appending(path: edition.path)
    }

    func wantsPatches(_ request: PublishRequest) -> Bool {
        guard patchMaker != nil else { return false }
        // If the catalog cannot be read now, patches cannot be listed in it either.
        let wanted = try? catalog.wantedPatches(
            of: Set(request.listedIDs), in: request.options.edition, previous: patchVersions)
        return wanted?.isEmpty == false
    }

    /// Makes the missing patches and lists them together.
    ///
    /// This includes patches that a crash prevented.
    func makePatches(_ requests: [PublishRequest]) {
        guard let patchMaker, !requests.isEmpty else { return }
        func warn(_ package: String, _ error: any Error) {
            logger?.warning(
                "Patch to the new version not made",
                metadata: [LogKey.package: "\(package)", LogKey.errorMessage: "\(error)"])
        }
        do {
            var wanted: [WantedPatch] = []
            let editions = Dictionary(grouping: requests, by: \.options.edition)
            for (edition, requests) in editions.sorted(by: { $0.key < $1.key }) {
                wanted += try catalog.wantedPatches(
                    of: Set(requests.flatMap(\.listedIDs)), in: edition, previous: patchVersions)
            }
            _ = try catalog.make(wanted, with: patchMaker) { warn("\($0.edition.path)\($0.id)", $1) }
        } catch {
            warn(requests.map { "\($0.options.edition.path)\($0.id)" }.joined(separator: ", "), error)
        }
    }

    func makeMissingPatches(of packages: Set<String>, in edition: CatalogEdition) {
        guard let patchMaker else { return }
        func warn(_ package: String, _ error: any Error) {
            logger?.warning(
                "Patch to the new version not made",
                metadata: [LogKey.package: "\(package)", LogKey.errorMessage: "\(error)"])
        }
        do {
            let listed = try catalog.packages(in: edition).filter { packages.contains($0.wholeID) }.map(\.id)
            let wanted = try catalog.wantedPatches(of: Set(listed), in: edition, previous: patchVersions)
            _ = try catalog.make(wanted, with: patchMaker) { warn("\($0.edition.path)\($0.id)", $1) }
        } catch {
            warn(packages.sorted().joined(separator: ", "), error)
        }
    }

    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String] {
        let ids = spec.packages.map(\.id)
        do throws(CatalogError) {
            let edition = spec.publish.edition
            try catalog.checkCase(ids, in: edition)
            if spec.packages.contains(where: { $0.maxFile != nil }) { try catalog.checkPartNames(ids, in: edition) }
            if !spec.publish.replacesTileset { try catalog.check(ids, of: spec.tileset.id, in: edition) }
            if !spec.publish.replacesArea {
                let areas = Dictionary(spec.packages.map { ($0.id, $0.mask) }) { $1 }
                try catalog.check(areas: areas, in: edition)
            }
            return CatalogImpact(
                spec: spec,
                replaced: try catalog.wholePackages(among: Set(ids), in: edition),
                cut: catalog.idsWithPacks(among: ids, in: edition),
                // A disk that cannot be asked gives no warning.
                free: try? Durable.freeBytes(catalog.folder)
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

    func carryOut(_ order: CatalogOrder) throws -> CatalogPlan {
        try catalog.carryOut(order, cutting: CatalogPacks.maker)
    }

    func prune(keep: Int) throws -> CatalogPruning { try catalog.prune(keep: keep, dryRun: false) }

    func listedVersions(in edition: CatalogEdition) throws -> [String: Int32] {
        try catalog.listedVersions(in: edition)
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL] {
        try catalog.files(of: id, edition: edition)
    }
}
