public import Foundation

extension MapStore {
    /// Takes a file of the device into the store: an MBTiles file, a PMTiles archive, a MapLibre database, or
    /// the archive of a style pack.
    ///
    /// The content says what a file is, and not its name. The file is read to its end before it counts. The regions of a
    /// MapLibre database become regions of the store. An update never replaces a file that was adopted.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - item: What it becomes; `nil` gives a package or a style with the name of the file.
    ///   - way: With ``Adoption/link`` the file must stay where it is and must not change; it does not count towards the
    ///     quota.
    ///   - replacing: Whether another file that is installed for the item is replaced as by an update. The file that is
    ///     installed already is taken in any case, and changes nothing.
    /// - Returns: What was adopted, regions at the end.
    /// - Throws: `bad-file` naming what the file is, `invalid-arguments`, `limit`, `disk-full`, `storage`; `installed` when
    ///   another file is installed for the item; `wrong-state` while the same file is being removed. Then nothing has changed.
    @discardableResult public func adopt(
        _ file: URL, as item: Item? = nil, by way: Adoption = .copy, replacing: Bool = false,
        remark: @Sendable (String) -> Void = { _ in }
    ) async throws(StoreError) -> [Item] {
        try await worker.adopt(file, as: item, by: way, replacing: replacing, remark: remark)
    }
}

extension StoreWorker {
    /// How often an adoption begins again because one of its files was just being removed.
    private static let adoptionTries = 5

    func adopt(
        _ file: URL, as item: Item?, by way: Adoption, replacing: Bool, remark: @Sendable (String) -> Void
    ) async throws(StoreError) -> [Item] {
        for attempt in 1...Self.adoptionTries {
            let rows = try await view().rows
            let folder = folder
            let adopter = try await onFiles {
                var adopter = Adopter(folder: folder, way: way, replacing: replacing) { rows.readable($0) }
                do throws(StoreError) {
                    try adopter.add(file, as: item)
                    try adopter.place(except: rows.files)
                } catch {
                    adopter.giveUp()
                    throw error
                }
                return adopter
            }
            switch try await submit(.adopt(adopter.files)) {
            case .limited(let limit): throw Self.exceeds(limit)
            case .busy where attempt < Self.adoptionTries: continue
            case .busy: throw Self.isBusy
            case .done, .task, .noSuchTask:
                adopter.remarks.forEach(remark)
                return try await finish(adopter)
            }
        }
        return []
    }

    /// Registers the regions, and removes the files that were moved.
    private func finish(_ adopter: Adopter) async throws(StoreError) -> [Item] {
        var items: [Item] = []
        for entry in adopter.adopted where !items.contains(entry.file.item) { items.append(entry.file.item) }
        let regions = adopter.adopted.flatMap { entry in entry.regions.map { (entry, $0) } }
        try await change { database in
            for (entry, region) in regions {
                try database.setRegion(region.id, region.definition, context: Data(region.context))
                try database.setNeeds([region.id: RegionNeeds(units: [entry.file.id.key.name])])
            }
        }
        if !regions.isEmpty { shared.events.send(.regions) }
        try await onFiles { try adopter.removeSources() }
        return items + regions.map { .region($0.1.id) }
    }

    private static var isBusy: StoreError {
        StoreError(
            .wrongState,
            "The file cannot be adopted now: the same file is just being removed.", isRetriable: true)
    }

    private static func exceeds(_ limit: Limit) -> StoreError {
        switch limit {
        case .quota(let needed, let allowed):
            StoreError(.limit, "The store would take \(needed) bytes; the quota is \(allowed).")
        case .tilePacks(let needed, let allowed):
            StoreError(.limit, "There would be \(needed) tile packs; \(allowed) are allowed.")
        case .onlineTiles(let needed, let allowed):
            StoreError(.limit, "There would be \(needed) single tiles; \(allowed) are allowed.")
        }
    }
}
