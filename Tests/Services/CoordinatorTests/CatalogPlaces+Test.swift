import Foundation
import Scheduling
import Wire

@testable import Coordinator

extension CatalogPlaces {
    /// A main catalog only.
    static func test(url: String? = nil) -> CatalogPlaces {
        CatalogPlaces(main: Place(name: "main", folder: URL(filePath: "/catalog"), url: url))
    }
}

extension StateStore {
    func events(after: UInt64, newest: Int? = nil, limit: Int, job: JobID?) async throws -> PBEvents {
        try await events(after: after, newest: newest, limit: limit, job: job, catalogs: .test())
    }
}
