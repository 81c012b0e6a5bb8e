internal import Foundation

/// Sends a token to the server of the catalog, and to no other: neither to mirrors nor to servers of styles and tiles.
struct TokenFetcher: Fetcher {
    /// The part of an address that says which server answers.
    private struct Server: Hashable {
        let scheme: String
        let host: String
        let port: Int

        /// `nil` for an address of another kind than http and https.
        init?(_ url: URL) {
            guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = url.host()
            else { return nil }
            self.scheme = scheme
            self.host = host.lowercased()
            port = url.port ?? (scheme == "https" ? 443 : 80)
        }
    }

    private let base: any Fetcher
    private let server: Server
    private let token: CatalogToken

    /// The fetcher of a store: with its token, when the catalog is on a web server.
    static func make(_ options: StoreOptions, _ token: CatalogToken) -> any Fetcher {
        let base = options.fetcher ?? URLSessionFetcher()
        guard let server = options.catalog.flatMap(Server.init) else { return base }
        return TokenFetcher(base: base, server: server, token: token)
    }

    var continuesWhileSuspended: Bool { base.continuesWhileSuspended }

    func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        try await base.body(withToken(request), limit: limit)
    }

    func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        try await base.file(withToken(request), into: part, from: offset, limit: limit, progress: progress)
    }

    /// A header of the app has priority.
    private func withToken(_ request: ResourceRequest) -> ResourceRequest {
        guard let token = token.current, Server(request.url) == server,
            !request.headers.keys.contains(where: { $0.lowercased() == "authorization" })
        else { return request }
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        return request
    }
}
