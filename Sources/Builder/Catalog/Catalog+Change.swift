public import CatalogFormat
internal import Digests
public import Errors
internal import Files
public import Foundation

extension Catalog {
    /// Completes a change that a process began as a whole and did not end; waits for one that is being made.
    ///
    /// - Returns: Whether there was one to complete.
    /// - Throws: `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    @discardableResult
    public func settle() throws(CatalogError) -> Bool {
        guard hasOpenChange else { return false }
        return try holdingLock { () throws(CatalogError) in try completeChange() }
    }

    /// Cuts the packages of a plan that are to have tile packs and do not have them; takes as long as reading them.
    ///
    /// - Returns: The plan with its packs. Their files are in the catalog; a pruning removes them if the plan is not applied.
    public func cut(_ plan: CatalogPlan, with maker: PackMaker) throws -> CatalogPlan {
        var plan = plan
        for number in plan.requests.indices {
            let request = plan.requests[number]
            guard request.options.packs != nil, request.tilePacks == nil else { continue }
            plan.requests[number].tilePacks = try maker(request, home(request.options.edition))
        }
        return plan
    }

    /// Makes a planned change: all of it, or nothing.
    ///
    /// The files of the packages are linked or copied, and hashed; then the lists, the index and the signature change as one. If the
    /// process dies in between, the next one that changes the catalog completes the change. Blocks while it reads files.
    /// - Returns: What changed, with the new versions and the new sequence.
    /// - Throws: `catalog-changed` when another change came first; what ``publish(_:)-(PublishRequest)`` throws; nothing
    ///   is changed then.
    @discardableResult
    public func apply(_ plan: CatalogPlan) throws(CatalogError) -> CatalogDifference {
        guard !plan.isEmpty else { return plan.difference }
        try checkMaySign()
        return try locked { () throws(CatalogError) in
            var made = try prepare(plan)
            try write(made.changes, asOneWith: made.record)
            if !plan.withdrawn.isEmpty { try removeFiles(of: try withdrawal(made.changes)) }
            made.difference.sequence = try index().sequence
            return made.difference
        }
    }

    /// A change whose files are in their places, and whose lists are not written yet.
    struct PreparedChange {
        var changes: [CatalogEdition: CatalogChange]
        var difference: CatalogDifference
        var record: PromotionRecord
    }

    /// Puts the files of a plan into their places; the caller holds the lock.
    func prepare(_ plan: CatalogPlan) throws(CatalogError) -> PreparedChange {
        var made = PreparedChange(
            changes: try changes(for: plan), difference: plan.difference, record: plan.record)
        var refused: [CatalogError] = []
        for request in plan.requests {
            let edition = request.options.edition
            guard var change = made.changes[edition] else { continue }
            do throws(CatalogError) {
                let version = try add(request, to: &change).version
                made.changes[edition] = change
                made.difference.publish(request.id, in: edition, as: version)
                made.record.add(request, as: version, of: plan)
            } catch {
                refused.append(error)
            }
        }
        if let error = Self.together(refused) { throw error }
        for place in plan.withdrawn {
            made.changes[place.edition]?.withdraw(place.id)
            made.record[place.edition, place.id]?.undone = 0
        }
        return made
    }

    /// The present state of the editions of a plan.
    ///
    /// - Throws: `catalog-changed` when a package does not have the version that the plan was made for.
    private func changes(for plan: CatalogPlan) throws(CatalogError) -> [CatalogEdition: CatalogChange] {
        var changes: [CatalogEdition: CatalogChange] = [:]
        for (place, version) in plan.expected.sorted(by: { $0.key < $1.key }) {
            let edition = place.edition
            let change: CatalogChange
            if let known = changes[edition] {
                change = known
            } else {
                change = CatalogChange(list: try list(edition), history: try history(edition))
                changes[edition] = change
            }
            guard change.list.version(of: place.id) == version else {
                throw CatalogError(
                    .changed,
                    "Package '\(edition.path)\(place.id)' of '\(folder.path)' was published or removed meanwhile; nothing was changed. Repeat the command."
                )
            }
        }
        return changes
    }

    /// Puts the tile packs of a request into the catalog that are still in another one.
    func takePacks(of request: PublishRequest) throws(CatalogError) {
        guard let home = request.packsHome, let packs = request.tilePacks else { return }
        let edition = request.options.edition
        for pack in try TilePackList(decoding: packs.list, named: edition.path + TilePackList.path(request.id)).packs {
            let target = place(pack.path, edition)
            guard CatalogIndex.isInside(pack.path), let digest = Digest(hex: pack.sha256),
                try fileSize(target) != pack.size
            else { continue }
            let file = PublishFile(
                format: "tile-pack", fileExtension: "", url: home.appendingPathComponent(pack.path), digest: digest,
                size: pack.size)
            try replace(target, with: file, of: request.id)
        }
    }
}

extension CatalogDifference {
    fileprivate mutating func publish(_ id: String, in edition: CatalogEdition, as version: Int32) {
        guard let number = packages.firstIndex(where: { $0.id == id && $0.edition == edition.path }) else { return }
        packages[number].published = version
    }
}

extension PromotionRecord {
    /// Notes what a promotion did, or that it was undone.
    fileprivate mutating func add(_ request: PublishRequest, as version: Int32, of plan: CatalogPlan) {
        let edition = request.options.edition
        guard plan.kind == .promotion else {
            self[edition, request.id]?.undone = version
            if let named = plan.version {
                choose(Chosen(edition: edition.path, id: request.id, version: named, result: version))
            }
            return
        }
        let before = plan.expected[CatalogPlan.Place(edition: edition, id: request.id)] ?? nil
        guard before != version else { return }
        packages.append(Package(edition: edition.path, id: request.id, before: before, after: version))
    }
}

extension CatalogChange {
    /// Takes a package out of the list, one in parts with all of them.
    mutating func withdraw(_ id: String) {
        let gone = list.packages.filter { $0.wholeID == id }
        guard !gone.isEmpty else { return }
        withdrawn += gone
        list.packages.removeAll { $0.wholeID == id }
        isListNew = true
        for entry in gone {
            history.remove(entry)
            packLists.updateValue(nil, forKey: entry.id)
        }
    }
}
