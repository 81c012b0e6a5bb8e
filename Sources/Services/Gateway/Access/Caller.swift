internal import WebRequests
internal import WebServer

/// Who sent a request.
struct Caller: Sendable {
    /// `nil` without a token.
    var token: TokenEntry?
    /// The client's address, behind trusted proxies too; `nil` if unknown.
    var address: NetworkAddress?
    /// Whether the request came from a trusted proxy.
    var isProxied = false

    var roles: Set<Role> { token?.roles ?? [] }

    /// Whether its token allows a tileset; one without a list allows all.
    func mayUse(tileset id: String) -> Bool { token?.tilesets?.contains(id) ?? true }

    /// Whose rates and limits count.
    var client: RateBuckets.Client {
        if let token { return .token(token.name) }
        return .network(address?.network ?? .unknown)
    }
}

extension NetworkAddress {
    /// Stands for clients whose address is not known: all of them share a bucket.
    static let unknown = NetworkAddress(unknown: ())
}
