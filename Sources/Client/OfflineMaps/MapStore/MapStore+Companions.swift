internal import CatalogFormat
internal import Foundation

extension MapStore {
    /// Downloads and installs packages with files that belong to them, such as routing data: all files of a package become
    /// readable in one step, or none.
    ///
    /// What a package has got stays with it: ``update(_:together:)``, ``rollback(_:)``, ``remove(_:)``, ``verify(deep:)`` and ``repair()``
    /// count it in. With kinds to give up alone, nothing is downloaded, and the packages must be installed. A task fails with `not-in-catalog` when the catalog has no such file for its package.
    ///
    /// - Parameter companions: Which kinds the packages of the base map get, and which they give up; other items have none.
    @discardableResult public func install(
        _ items: [Item], with companions: CompanionChoice, _ rule: TaskRule = .init()
    ) async throws(StoreError) -> [TaskID] {
        guard !companions.isEmpty else { return try await install(items, rule) }
        guard items.contains(where: \.canHaveCompanions) else {
            throw StoreError(
                .invalidArguments, "None of the items is a package of the base map, so they have no companions.",
                advice: "Name whole packages without a data group.")
        }
        if companions.with.isEmpty {
            let held = Set(try await self.items())
            if let other = items.first(where: { !held.contains($0) }) {
                throw StoreError(.notFound, "\(other.subject) is not installed, so it has no companions to give up.")
            }
        }
        var ids: [TaskID] = []
        for item in items {
            var record = Self.record(item.isRegion ? .load : .install, [item], rule: rule)
            if item.canHaveCompanions { record.companions = companions }
            ids.append(try await add(record))
        }
        return ids
    }

    /// What an installation of packages with companions would take.
    ///
    /// - Throws: `not-in-catalog`, `network`, `limit`.
    public func estimate(
        _ items: [Item], withCompanions companions: CompanionChoice
    ) async throws(StoreError) -> Estimate { try await estimate(items, with: companions) }

    /// The companions that a package has on the device, ascending by kind.
    public func companions(of item: Item) async throws(StoreError) -> [InstalledCompanion] {
        Self.companions(among: try await worker.view().files(of: item), worker.folder)
    }

    static func companions(among files: [InstalledFile], _ folder: StoreFolder) -> [InstalledCompanion] {
        files.filter(\.isRead).compactMap { file in
            guard let kind = file.item.companionKind, let place = folder.place(of: file) else { return nil }
            return InstalledCompanion(
                kind: kind, engine: file.engine, version: file.version, bytes: file.bytes, dataDate: file.dataDate,
                file: place)
        }
        .sorted { $0.kind < $1.kind }
    }

    /// The companion of a kind that a package has on the device; `nil` when it has none.
    ///
    /// - Parameter kind: The kind, or its first words when one kind of them is installed: `routing`.
    public func companion(_ kind: String, of item: Item) async throws(StoreError) -> InstalledCompanion? {
        let found = try await companions(of: item).filter { CatalogCompanion.kind($0.kind, isOf: kind) }
        return found.first { $0.kind == kind } ?? (found.count == 1 ? found[0] : nil)
    }

    /// Whether the catalog has another file for a companion that a package has.
    static func hasNewerCompanion(of item: Item, among files: [InstalledFile], in view: StoreView) -> Bool {
        guard case .package(let id, let edition, _) = item else { return false }
        let held = files.filter { $0.isRead && $0.item.isCompanion }
        guard !held.isEmpty else { return false }
        let offers = view.content?.companions(of: id, language: edition.language) ?? []
        return held.contains { file in
            offers.contains { offer in
                file.item.edition.group == offer.group
                    && (offer.version, offer.files.first?.sha256) != (file.version, file.sha256)
            }
        }
    }
}

extension Item {
    /// Whether companions can be installed with it.
    fileprivate var canHaveCompanions: Bool {
        guard case .package(let id, _, _) = self else { return false }
        return isMap(id)
    }
}
