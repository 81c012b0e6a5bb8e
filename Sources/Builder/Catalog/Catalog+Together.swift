public import CatalogFormat
public import Errors
internal import Files
internal import Foundation

/// Why packages that are published together were not published.
public struct RefusedTogether: Error, Sendable {
    /// One of the packages that are refused.
    public struct Refusal: Sendable {
        /// Its place among the packages, from 0.
        public let place: Int
        /// The reason.
        public let error: any Error

        /// Creates a value from its parts.
        public init(place: Int, error: any Error) {
            (self.place, self.error) = (place, error)
        }
    }

    /// The refused packages; at least one.
    public let refusals: [Refusal]

    /// Creates a value from its parts.
    public init(refusals: [Refusal]) {
        self.refusals = refusals
    }
}

/// A change of a catalog that has begun and was interrupted.
///
/// The next change of the catalog completes it.
public struct BegunChange: Error, Sendable {
    /// Why it was not ended.
    public let reason: CatalogError
}

extension Catalog {
    /// Publishes packages in one change of the catalog: all of them, or none.
    ///
    /// Each is checked as in ``publish(_:)-(PublishRequest)``. If the process dies while it writes lists, the next one
    /// that changes the catalog completes the change. Publishing the same packages again changes nothing. Blocks
    /// while it reads their files.
    /// - Returns: The results in the order of the packages.
    /// - Throws: ``RefusedTogether`` with every package that is refused, and nothing is changed; ``BegunChange``; `CatalogError`
    ///   `signing-key`, `catalog-corrupt`, `disk-full`, `io` for all of them, and nothing is changed.
    public func publishTogether(_ requests: [PublishRequest]) throws -> [Published] {
        do { return try publishAll(requests) } catch let error as CatalogError where hasOpenChange {
            // Also when it was an earlier attempt that began the change.
            throw BegunChange(reason: error)
        }
    }

    private func publishAll(_ requests: [PublishRequest]) throws -> [Published] {
        try checkMaySign()
        let result: Result<[Published], RefusedTogether> = try locked { () throws(CatalogError) in
            // What is refused by what is said of it is refused before any file is put into the catalog.
            let unfit = refusals(of: requests) { (request) throws(CatalogError) in
                try request.check()
                let list = try list(request.options.edition)
                try Self.checkMayReplace(list.whole(request.id), request, in: list)
                try checkNames(request, in: list)
            }
            guard unfit.isEmpty else { return .failure(RefusedTogether(refusals: unfit)) }
            var changes: [CatalogEdition: CatalogChange] = [:]
            var published: [Published] = []
            var placed: [(request: PublishRequest, version: Int32)] = []
            let refused = refusals(of: requests) { (request) throws(CatalogError) in
                let one = try add(request, to: &changes)
                published.append(one)
                placed.append((request, one.version))
            }
            guard refused.isEmpty else {
                // A file that stays takes space until the catalog is pruned.
                try? takeBack(placed)
                return .failure(RefusedTogether(refusals: refused))
            }
            let isNew = changes.values.contains { $0.isListNew || !$0.packLists.isEmpty }
            // What the last promotion did is remembered on.
            try write(changes, asOneWith: try isNew ? promotionRecord() : nil)
            return .success(published)
        }
        return try result.get()
    }

    /// Removes files that were put into the catalog and are not going to be listed.
    private func takeBack(_ placed: [(request: PublishRequest, version: Int32)]) throws(CatalogError) {
        var named: [CatalogEdition: Set<String>] = [:]
        for (request, version) in placed {
            let edition = request.options.edition
            let listed: Set<String>
            if let known = named[edition] {
                listed = known
            } else {
                listed = CatalogHistory.paths(try list(edition).packages + (try history(edition).packages))
                named[edition] = listed
            }
            for one in request.parts.isEmpty ? [request] : request.parts {
                for file in one.allFiles {
                    let path = CatalogEntry.path(one.id, version: version, fileExtension: file.fileExtension)
                    guard !listed.contains(path) else { continue }
                    try CatalogError.naming { () throws(StorageError) in try Durable.remove(place(path, edition)) }
                }
            }
        }
    }

    private func refusals(
        of requests: [PublishRequest], _ body: (PublishRequest) throws(CatalogError) -> Void
    ) -> [RefusedTogether.Refusal] {
        var found: [RefusedTogether.Refusal] = []
        for (place, request) in requests.enumerated() {
            do throws(CatalogError) { try body(request) } catch { found.append(.init(place: place, error: error)) }
        }
        return found
    }
}
