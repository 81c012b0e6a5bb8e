internal import CatalogFormat
internal import Errors
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

extension Catalog {
    /// Publishes packages in one change of the catalog: all of them, or none.
    ///
    /// Each is checked as in ``publish(_:)-(PublishRequest)``. If the process dies while it writes lists, the next one
    /// that changes the catalog completes the change. Publishing the same packages again changes nothing. Blocks
    /// while it reads their files.
    /// - Returns: The results in the order of the packages.
    /// - Throws: ``RefusedTogether`` with every package that is refused, and nothing is changed; `CatalogError`
    ///   `signing-key`, `catalog-corrupt`, `disk-full`, `io` for all of them. Its message says when the change had begun.
    public func publishTogether(_ requests: [PublishRequest]) throws -> [Published] {
        try checkMaySign()
        let result: Result<[Published], RefusedTogether> = try locked { () throws(CatalogError) in
            var changes: [CatalogEdition: CatalogChange] = [:]
            var published: [Published] = []
            var refusals: [RefusedTogether.Refusal] = []
            for (place, request) in requests.enumerated() {
                do throws(CatalogError) { published.append(try add(request, to: &changes)) } catch {
                    refusals.append(.init(place: place, error: error))
                }
            }
            guard refusals.isEmpty else { return .failure(RefusedTogether(refusals: refusals)) }
            let isNew = changes.values.contains { $0.isListNew || !$0.packLists.isEmpty }
            // What the last promotion did is remembered on.
            try write(changes, asOneWith: isNew ? try promotionRecord() : nil)
            return .success(published)
        }
        return try result.get()
    }
}
