internal import Foundation
internal import Synchronization

/// What is viewed: from the ambient cache while it is fresh, then from the network.
///
/// Equal requests are joined into one. What comes from the network is kept in the ambient cache.
final class WebResources: Sendable {
    let ambient: AmbientCache
    let permission: NetworkPermission
    private let fetcher: any Fetcher
    private let transform: (@Sendable (ResourceRequest) async -> ResourceRequest)?
    private let requests = SharedRequests<String, Result<WebAnswer, FetchError>>()
    private let gates = Mutex<[OnlineSource: RequestGate]>([:])
    /// Hosts that asked to wait, and until when.
    private let resting = Mutex<[String: ContinuousClock.Instant]>([:])

    init(
        _ ambient: AmbientCache, _ permission: NetworkPermission, fetcher: any Fetcher,
        transform: (@Sendable (ResourceRequest) async -> ResourceRequest)? = nil
    ) {
        self.ambient = ambient
        self.permission = permission
        self.fetcher = fetcher
        self.transform = transform
    }

    /// Follows the store's settings.
    func follow(_ settings: StoreSettings) {
        permission.set(rule: settings.networkRule)
        ambient.setLimit(settings.quota.ambientBytes)
    }

    /// The limits of a server, shared by all who use it.
    func gate(_ source: OnlineSource) -> RequestGate {
        gates.withLock { gates in
            if let gate = gates[source] { return gate }
            let gate = RequestGate(perSecond: source.requestsPerSecond, parallel: source.parallel)
            gates[source] = gate
            return gate
        }
    }

    /// Looks something up, and asks the server when nothing fresh is here.
    ///
    /// A stale body is the answer when no request may be sent, and when the request fails.
    ///
    /// - Parameter asks: Whether a request may be sent, if the network rule allows it.
    /// - Throws: Why the request failed, when nothing is here.
    func load(_ request: WebRequest, asks: Bool = true) async throws(FetchError) -> WebAnswer {
        let known = ambient.entry(request.address)
        if let known, known.isFresh(Date()) { return Self.answer(known, isStale: false) }
        guard asks, permission.allowsRequests else { return known.map { Self.answer($0, isStale: true) } ?? .absent }
        let result = await requests.value(request.address) {
            do throws(FetchError) { return .success(try await self.fetch(request, known)) } catch {
                return .failure(error)
            }
        }
        do { return try result.get() } catch {
            guard let known else { throw error }
            return Self.answer(known, isStale: true)
        }
    }

    private static func answer(_ entry: AmbientEntry, isStale: Bool) -> WebAnswer {
        entry.body == nil ? .empty(entry) : .body(entry, isStale: isStale)
    }

    // MARK: - Network

    private func fetch(_ request: WebRequest, _ known: AmbientEntry?) async throws(FetchError) -> WebAnswer {
        guard let url = URL(string: request.address) else {
            throw FetchError(.invalidArguments, "'\(request.address)' is not an address.")
        }
        var message = ResourceRequest(url, request.kind, headers: request.headers, isBulk: false)
        if let etag = known?.etag { message.headers["If-None-Match"] = etag }
        message = await message.changed(by: transform)
        let host = message.url.host ?? ""
        if let until = resting.withLock({ $0[host] }), until > .now {
            throw FetchError(.serverError, retryAfter: until - .now, "'\(host)' asked to wait.")
        }
        let fetched: FetchedBody
        do throws(FetchError) { fetched = try await pass(message, request) } catch {
            if let wait = error.retryAfter, error.status == 429 || error.status == 503 {
                resting.withLock { $0[host] = .now + wait }
            }
            guard request.mayBeEmpty, error.status == 404 || error.status == 410 else { throw error }
            return answer(caching: AmbientEntry(address: request.address, place: request.place, checked: Date()))
        }
        var entry = AmbientEntry(
            address: request.address, place: request.place, mediaType: fetched.mediaType, etag: fetched.etag,
            modified: fetched.modified, expires: fetched.expires, mustRevalidate: fetched.mustRevalidate,
            checked: Date())
        switch fetched.status {
        case 200 where fetched.body.isEmpty:
            // Some servers answer so for a tile without content, and some when they fail: it is not remembered.
            guard request.mayBeEmpty else {
                throw FetchError(.serverError, status: 200, "'\(message.address)' was answered without a body.")
            }
            return .empty(entry)
        case 200:
            entry.body = fetched.body
            return answer(caching: entry)
        case 304:
            guard let known else {
                throw FetchError(.serverError, status: 304, "'\(message.address)' was answered with 304 unasked.")
            }
            (entry.body, entry.mediaType, entry.place) = (known.body, known.mediaType, entry.place ?? known.place)
            entry.etag = entry.etag ?? known.etag
            entry.modified = entry.modified ?? known.modified
            return answer(caching: entry)
        default:
            return answer(caching: entry)
        }
    }

    private func answer(caching entry: AmbientEntry) -> WebAnswer {
        ambient.insert(entry)
        return Self.answer(entry, isStale: false)
    }

    /// Sends the request when its turn has come, and ends it when it takes too long.
    private func pass(_ message: ResourceRequest, _ request: WebRequest) async throws(FetchError) -> FetchedBody {
        guard let gate = request.gate else { return try await send(message, request).get() }
        guard let result = await gate.pass({ await send(message, request) }) else {
            throw FetchError(.connection, "The download was cancelled.")
        }
        return try result.get()
    }

    private func send(_ message: ResourceRequest, _ request: WebRequest) async -> Result<FetchedBody, FetchError> {
        let fetcher = fetcher
        return await withTaskGroup(of: Result<FetchedBody, FetchError>.self) { group in
            group.addTask {
                do throws(FetchError) {
                    return .success(try await fetcher.body(message, limit: request.maxBytes))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                // A cancelled sleep ends at once; then the other result is there, or no caller waits any more.
                try? await Task.sleep(for: request.timeout)
                return .failure(FetchError(.connection, "'\(message.address)' did not answer in time."))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(FetchError(.connection, "The download was cancelled."))
        }
    }
}
