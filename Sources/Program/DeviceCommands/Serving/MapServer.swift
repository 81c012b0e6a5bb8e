import Logging
import OfflineMaps
import Synchronization
internal import WebServer

/// An HTTP server over a store, for renderers on the same machine.
struct MapServer: Sendable {
    /// The only address that it listens on.
    static let host = "127.0.0.1"

    private let store: MapStore
    private let port: Int
    private let isOnline: Bool
    private let logger: Logger

    /// Prepares a server; nothing is bound yet.
    ///
    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - isOnline: Whether the network is asked for what the store does not have.
    init(store: MapStore, port: Int, isOnline: Bool, logger: Logger) {
        self.store = store
        self.port = port
        self.isOnline = isOnline
        self.logger = logger
    }

    /// Serves until the task is cancelled or a graceful shutdown reaches it.
    ///
    /// - Parameter onReady: Called once with the bound port.
    /// - Throws: `WebServerError`.
    func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let bound = Mutex(port)
        let (resources, isOnline) = (store.resources, isOnline)
        let server = WebServer(.host(Self.host, port: port), name: "packhorse-device", logger: logger) { request, _ in
            let base = "http://\(Self.host):\(bound.withLock { $0 })"
            return await MapResponder(resources: resources, isOnline: isOnline, base: base).respond(to: request)
        }
        try await server.run { port in
            bound.withLock { $0 = port }
            onReady(port)
        }
    }
}
