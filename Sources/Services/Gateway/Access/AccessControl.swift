internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Synchronization
internal import WebRequests
internal import WebServer

/// Decides who may do what, how often, and how much.
final class AccessControl: Sendable {
    private let options: GatewayOptions
    private let tokens: TokenFolder?
    private let proxies: [NetworkRange]
    private let metrics: GatewayMetrics
    private let rates: Mutex<RateBuckets>
    private let quotas = Mutex(QuotaTable())
    private let start = ContinuousClock.now

    init(_ options: GatewayOptions, tokens: TokenFolder?, metrics: GatewayMetrics, rates: RateBuckets = RateBuckets()) {
        self.options = options
        self.tokens = tokens
        self.metrics = metrics
        proxies = options.trustedProxies.compactMap(NetworkRange.init)
        self.rates = Mutex(rates)
    }

    // MARK: - Who

    /// Who sent a request.
    ///
    /// - Parameters:
    ///   - peer: The address of the other end of the connection.
    ///   - appToken: The parameter of CARTO's client, which counts where there is no Authorization.
    /// - Throws: ``Problem`` `unknown-token`, `token-not-encrypted`.
    func caller(_ request: Request, peer: NetworkAddress?, appToken: String? = nil) throws(Problem) -> Caller {
        var caller = Caller(address: peer)
        if let peer, proxies.contains(where: { $0.contains(peer) }) {
            caller.isProxied = true
            caller.address = forwarded(request) ?? peer
        }
        // CARTO's client always sends one, also to servers that know no tokens.
        let carto = tokens == nil ? nil : appToken.flatMap { $0.isEmpty ? nil : $0 }
        guard let token = bearer(request) ?? carto else { return caller }
        guard options.isLocal || options.takesTokensUnencrypted else {
            metrics.refused(.token)
            throw Problem(.tokenNotEncrypted, "This server takes no token, because the connection is not encrypted.")
        }
        guard let entry = tokens?.table.find(token) else {
            metrics.refused(.token)
            throw Problem(.unknownToken, "The token is not known here.", headers: [.wwwAuthenticate: "Bearer"])
        }
        caller.token = entry
        return caller
    }

    /// Whether the token of a caller still exists; true without a token.
    func isKnown(_ caller: Caller) -> Bool {
        guard let token = caller.token else { return true }
        return tokens?.table.has(token) ?? false
    }

    private func bearer(_ request: Request) -> String? {
        guard let text = request.headers[.authorization], text.lowercased().hasPrefix("bearer ") else { return nil }
        return text.dropFirst("bearer ".count).trimmingCharacters(in: .whitespaces)
    }

    /// The nearest address that is not a trusted proxy.
    private func forwarded(_ request: Request) -> NetworkAddress? {
        let chain = (request.headers.value(.xForwardedFor) ?? "").split(separator: ",").map {
            NetworkAddress($0.trimmingCharacters(in: .whitespaces))
        }
        for hop in chain.reversed() {
            // What is no address was not written by a proxy that is trusted.
            guard let hop else { return nil }
            if !proxies.contains(where: { $0.contains(hop) }) { return hop }
        }
        return nil
    }

    // MARK: - What

    /// Refuses a caller that may not use a route.
    ///
    /// - Throws: ``Problem`` `token-needed`, `forbidden`, `not-found` for metrics that are off.
    func check(_ caller: Caller, _ access: Route.Access) throws(Problem) {
        let needed: Set<Role>
        switch access {
        case .open: return
        case .published:
            guard options.isPrivate else { return }
            needed = Self.anyRole
        case .metrics:
            switch options.metrics {
            case .open: return
            case .viewer: needed = [.viewer, .operator]
            case .off: throw Problem(.notFound, "The metrics are off.")
            }
        case .viewer: needed = [.viewer, .operator]
        case .operator: needed = [.operator]
        case .client: needed = [.client, .operator]
        case .anyRole: needed = Self.anyRole
        }
        guard caller.token != nil else {
            metrics.refused(.token)
            throw Problem(.tokenNeeded, "This address needs a token.", headers: [.wwwAuthenticate: "Bearer"])
        }
        guard caller.roles.isDisjoint(with: needed) else { return }
        metrics.refused(.role)
        let words = needed.map(\.rawValue).sorted().joined(separator: " or ")
        throw Problem(.forbidden, "The token does not have the role \(words).")
    }

    // MARK: - How often, how much

    /// Counts a request, and refuses it when the caller's rate is used up.
    ///
    /// - Throws: ``Problem`` `too-many-requests` with Retry-After.
    func checkRate(_ caller: Caller, _ kind: RateKind?) throws(Problem) {
        guard let kind else { return }
        if options.exemptsLoopback, !caller.isProxied, caller.address?.isLoopback ?? false { return }
        let now = (ContinuousClock.now - start) / .seconds(1)
        let wait = rates.withLock { $0.countRequest(caller.client, kind, factor: caller.token?.rate ?? 1, now: now) }
        guard let wait else { return }
        metrics.refused(.rate)
        throw Problem(
            .tooManyRequests, "The rate of \(kind.rawValue) is used up.", retryAfter: Int(max(1, wait.rounded(.up))))
    }

    /// Refuses a download of a token whose bytes of today are used up.
    ///
    /// - Throws: ``Problem`` `quota-spent`.
    func checkBytes(_ caller: Caller) throws(Problem) {
        guard let token = caller.token, token.bytesPerDay != nil else { return }
        guard quotas.withLock({ $0.mayDownload(token, now: Self.now) }) else {
            metrics.refused(.quota)
            throw Problem(.quotaSpent, "The bytes of today are used up.", retryAfter: Self.untilTomorrow)
        }
    }

    /// Counts bytes of a download.
    func add(bytes: UInt64, _ caller: Caller) {
        guard let token = caller.token else { return }
        quotas.withLock { $0.add(bytes: bytes, token, now: Self.now) }
    }

    /// Counts an extract, and refuses it when the quota of today is used up.
    ///
    /// - Throws: ``Problem`` `quota-spent`.
    func countExtract(_ caller: Caller) throws(Problem) {
        guard let token = caller.token else { return }
        guard quotas.withLock({ $0.countExtract(token, now: Self.now) }) else {
            metrics.refused(.quota)
            throw Problem(.quotaSpent, "The extracts of today are used up.", retryAfter: Self.untilTomorrow)
        }
    }

    private static let anyRole: Set<Role> = [.client, .viewer, .operator]
    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }
    private static var untilTomorrow: Int { Int(86_400 - now % 86_400) }
}
