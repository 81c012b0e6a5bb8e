internal import CommandSupport
import Errors
import Foundation
import Hummingbird
import Logging
import NIOCore
import OfflineMaps
import Synchronization

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
    /// - Throws: ``CLIError`` 73 when the port is taken.
    func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let bound = Mutex(port)
        let isReady = Atomic<Bool>(false)
        let (resources, isOnline) = (store.resources, isOnline)
        let app = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                let base = "http://\(Self.host):\(bound.withLock { $0 })"
                return await MapResponder(resources: resources, isOnline: isOnline, base: base).respond(to: request)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(Self.host, port: port), serverName: "packhorse-device"),
            onServerRunning: { channel in
                let found = channel.localAddress?.port ?? port
                bound.withLock { $0 = found }
                isReady.store(true, ordering: .releasing)
                onReady(found)
            },
            logger: logger)
        do {
            try await app.run()
        } catch let error as CancellationError {
            throw error
        } catch {
            guard isReady.load(ordering: .acquiring) else {
                let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
                throw CLIError(
                    .cannotCreate, "cannot listen on \(Self.host):\(port): \(reason)",
                    hint: "choose another port, or 0 for any")
            }
            throw CLIError(.software, "the server stopped: \(error)")
        }
    }
}
