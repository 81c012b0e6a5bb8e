public import CatalogFormat
public import Errors
internal import Foundation
internal import Tiles

extension Catalog {
    /// Plans that earlier versions become the listed ones again; nothing is written.
    ///
    /// An earlier version is published again under a version number of its own, so that clients follow. The same plan made again after it
    /// was applied is empty.
    /// - Parameters:
    ///   - selection: Which packages; without ids, all that the last promotion changed.
    ///   - version: The version whose files come back, in each edition that keeps it; `nil` undoes the last promotion of the packages: what it
    ///     added is withdrawn, and the others get the version that was listed before it.
    ///   - settles: Whether an interrupted change of this catalog is completed first.
    /// - Throws: `bad-request` for a version without ids; `missing-package` for unknown packages, for versions that are not kept,
    ///   and for packages that no promotion changed; `catalog-changed` when packages of the promotion were published again;
    ///   `catalog-corrupt`, `signing-key`, `io`.
    public func planRollback(
        of selection: CatalogSelection = CatalogSelection(), to version: Int32? = nil, settles: Bool = true
    ) throws(CatalogError) -> CatalogPlan {
        if settles { try settle() }
        let record = try promotionRecord()
        let targets: [Target]
        if let version {
            guard !selection.ids.isEmpty else {
                throw CatalogError(
                    .badRequest, "A version belongs to a package. Name the packages that get version \(version).")
            }
            targets = try self.targets(of: selection, version, after: record)
        } else {
            targets = try self.targets(of: selection, before: record)
        }
        var new: [CatalogEdition: [CatalogEntry]] = [:]
        var old: [CatalogEdition: [CatalogEntry]] = [:]
        for target in targets {
            old[target.edition, default: []] += target.current.entries
            if let earlier = target.earlier { new[target.edition, default: []] += earlier.entries }
        }
        var plan = CatalogPlan(kind: .rollback, difference: CatalogDifference(new: new, old: old))
        plan.record = record
        plan.version = version
        for target in targets {
            let place = CatalogPlan.Place(edition: target.edition, id: target.current.id)
            // Who chooses a version no longer undoes the promotion.
            if version != nil { plan.record[place.edition, place.id] = nil }
            guard let earlier = target.earlier else {
                plan.withdrawn.append(place)
                plan.expected[place] = .some(target.current.version)
                continue
            }
            guard !earlier.isContained(in: target.current) else { continue }
            plan.add(try request(earlier, target.edition), replacing: target.current)
        }
        return plan
    }

    /// A package, and the version that it gets; `nil` when it is withdrawn.
    private struct Target {
        let edition: CatalogEdition
        let current: ListedPackage
        let earlier: ListedPackage?
    }

    /// A version of packages, in each edition that keeps it.
    private func targets(
        of selection: CatalogSelection, _ version: Int32, after record: PromotionRecord
    ) throws(CatalogError) -> [Target] {
        var targets: [Target] = []
        var lacking: [String: CatalogError] = [:]
        let chosen = try selection.choose(from: try lists(), named: folder.path)
        for (edition, entries) in chosen.sorted(by: { $0.key < $1.key }) where !entries.isEmpty {
            let history = try history(edition)
            for current in ListedPackage.all(of: entries) {
                let kept = [current] + history.of(current)
                if let earlier = kept.first(where: { $0.version == version }) {
                    targets.append(Target(edition: edition, current: current, earlier: earlier))
                } else if record.gave(current, version, in: edition) {
                    targets.append(Target(edition: edition, current: current, earlier: current))
                } else if lacking[current.id] == nil {
                    lacking[current.id] = Self.notKept(version, of: current, in: edition, kept: kept)
                }
            }
        }
        let found = Set(targets.map(\.current.id))
        let refused = lacking.filter { !found.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        if let error = Self.together(refused) { throw error }
        return targets
    }

    /// What was listed before the last promotion; without packages that were rolled back already.
    private func targets(
        of selection: CatalogSelection, before record: PromotionRecord
    ) throws(CatalogError) -> [Target] {
        let chosen = record.packages.filter {
            (selection.ids.isEmpty || selection.ids.contains($0.id))
                && (selection.edition.map(\.path) ?? $0.edition) == $0.edition
        }
        if chosen.isEmpty || !Set(selection.ids).isSubset(of: chosen.map(\.id)) {
            let absent = selection.ids.first { id in !chosen.contains { $0.id == id } }
            throw CatalogError(
                .missingPackage,
                "The catalog in '\(folder.path)' has no promotion\(absent.map { " of package '\($0.prefix(130))'" } ?? "") that can be undone. Name packages and the version that comes back (--to)."
            )
        }
        let lists = try lists()
        var targets: [Target] = []
        var refused: [CatalogError] = []
        for package in chosen {
            let listed = lists.first { $0.key.path == package.edition }
            let current = ListedPackage.all(of: listed?.value.filter { $0.wholeID == package.id } ?? []).first
            if let undone = package.undone, undone == current?.version ?? 0 { continue }
            guard let edition = listed?.key, let current, current.version == package.after else {
                refused.append(
                    CatalogError(
                        .publishedLater,
                        "Package '\(package.edition)\(package.id)' was changed after the promotion, which gave it version \(package.after). Name the version that comes back (--to)."
                    ))
                continue
            }
            guard let before = package.before else {
                targets.append(Target(edition: edition, current: current, earlier: nil))
                continue
            }
            let kept = try history(edition).of(current)
            guard let earlier = kept.first(where: { $0.version == before }) else {
                refused.append(Self.notKept(before, of: current, in: edition, kept: [current] + kept))
                continue
            }
            targets.append(Target(edition: edition, current: current, earlier: earlier))
        }
        if let error = Self.together(refused) { throw error }
        return targets
    }

    private static func notKept(
        _ version: Int32, of current: ListedPackage, in edition: CatalogEdition, kept: [ListedPackage]
    ) -> CatalogError {
        CatalogError(
            .missingPackage,
            "Package '\(edition.path)\(current.id)' does not keep version \(version): its kept versions are \(kept.map { "\($0.version)" }.joined(separator: ", ")). Choose one of them, or publish a package (packhorse catalog import)."
        )
    }

    /// The request that publishes a kept version again.
    private func request(_ package: ListedPackage, _ edition: CatalogEdition) throws(CatalogError) -> PublishRequest {
        var request = try PublishRequest(package, in: edition, of: self)
        // A rollback publishes what was there before, also with another area or fewer tiles.
        request.options.replacesTileset = true
        request.options.replacesArea = true
        request.options.allowsShrink = true
        guard !package.isInParts else { return request }
        let path = TilePackList.path(package.id)
        if let bytes = try Self.bytes(place(path, edition)) {
            let list = try TilePackList(decoding: bytes, named: edition.path + path)
            if request.tileset.isEmpty { request.tileset = list.tileset }
            do throws(TilesError) {
                request.options.packs =
                    try list.bands.map { text throws(TilesError) in try PackScheme(parsing: text) } ?? .standard
            } catch {
                throw CatalogError(
                    .corrupt, "'\(edition.path + path)' has bands that cannot be read: \(error.message)", cause: error)
            }
        }
        return request
    }
}
