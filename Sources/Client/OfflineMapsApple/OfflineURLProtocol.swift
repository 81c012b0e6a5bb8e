public import OfflineMaps
internal import Synchronization

// The module that has URLProtocol is public; on Linux that is not Foundation itself.
#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Answers the requests of a renderer from a store: installed, else viewed before, else from the network.
///
/// Call ``serve(_:hosts:)``, and put the class first into `protocolClasses` of the session configuration of the renderer
/// before its first view, for MapLibre `MLNNetworkConfiguration.sharedManager.sessionConfiguration`. Requests of the
/// network are sent by the store, with its rules; the class must not be in the configuration of the store's own fetcher.
public final class OfflineURLProtocol: URLProtocol {
    private struct Source: Sendable {
        var resources: ResourceResolver
        var hosts: Set<String>?
    }
    private static let source = Mutex<Source?>(nil)
    private let loading = Mutex<Task<Void, Never>?>(nil)
    private let isStopped = Atomic<Bool>(false)

    /// Sets the store whose resources are answered.
    ///
    /// - Parameters:
    ///   - resources: `nil` answers nothing: all requests go their usual way.
    ///   - hosts: The hosts whose requests are answered; `nil` is all hosts.
    public static func serve(_ resources: ResourceResolver?, hosts: Set<String>? = nil) {
        let hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        source.withLock { $0 = resources.map { Source(resources: $0, hosts: hosts) } }
    }

    /// Whether a request is answered here: GET, http or https, and of a served host.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let source = source.withLock({ $0 }), request.httpMethod ?? "GET" == "GET", let url = request.url,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { return false }
        return source.hosts?.contains(url.host?.lowercased() ?? "") ?? true
    }

    /// The request itself.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Answers at once what is installed; otherwise waits for the network.
    public override func startLoading() {
        guard let source = Self.source.withLock({ $0 }), let url = request.url else {
            return fail(URLError(.resourceUnavailable))
        }
        do throws(StoreError) {
            if let found = try source.resources.resource(url) { return finish(try ResourceAnswer(found), url) }
        } catch {
            // `load` asks elsewhere for what is damaged, and gives the same error where it is nowhere else.
        }
        let client = Client(owner: self)
        let task = Task {
            do throws(StoreError) {
                let answer = try ResourceAnswer(try await source.resources.load(url))
                client.run { $0.finish(answer, url) }
            } catch {
                let failure: any Error = error.code == .network ? URLError(.notConnectedToInternet) : error
                client.run { $0.fail(failure) }
            }
        }
        loading.withLock { $0 = task }
        if isStopped.load(ordering: .acquiring) { task.cancel() }
    }

    /// Ends a request that is not wanted any more.
    public override func stopLoading() {
        isStopped.store(true, ordering: .releasing)
        loading.withLock { $0 }?.cancel()
    }

    fileprivate func finish(_ answer: ResourceAnswer, _ url: URL) {
        guard !isStopped.load(ordering: .acquiring) else { return }
        guard let head = answer.head(for: url) else { return fail(URLError(.badURL)) }
        // The store keeps the bytes; a second cache would only take space.
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        if !answer.body.isEmpty { client?.urlProtocol(self, didLoad: answer.body) }
        client?.urlProtocolDidFinishLoading(self)
    }

    fileprivate func fail(_ error: any Error) {
        guard !isStopped.load(ordering: .acquiring) else { return }
        client?.urlProtocol(self, didFailWithError: error)
    }
}

/// A request and the thread on which it was started: on Apple's systems the client must be called there.
// The request's own state is atomic or in a mutex, and what URLProtocol has is set before `startLoading` and only read.
// A run loop may be given blocks from any thread.
private struct Client: @unchecked Sendable {
    private let owner: OfflineURLProtocol
    #if canImport(Darwin)
        private let loop = RunLoop.current
        private let mode = RunLoop.current.currentMode ?? .default
    #endif

    init(owner: OfflineURLProtocol) { self.owner = owner }

    func run(_ body: @escaping @Sendable (OfflineURLProtocol) -> Void) {
        #if canImport(Darwin)
            loop.perform(inModes: [mode, .default]) { body(owner) }
            CFRunLoopWakeUp(loop.getCFRunLoop())
        #else
            body(owner)
        #endif
    }
}
