internal import Errors
internal import Foundation
internal import Hummingbird
public import Logging
internal import NIOCore
public import Regions
internal import Synchronization
public import WorldTiles

/// The built-in demo world: an HTTP/1.1 origin that makes vector tiles of the embedded boundaries on request.
///
/// Answers: tiles as gzip when the client takes it, with a strong ETag (304 on If-None-Match); 204 at sea; 404 beyond
/// the zooms; 400 for an invalid tile; TileJSON 3.0 at `/tiles.json`; a MapLibre style at `/style.json`; `/healthz`; a
/// text at `/`. Every path may be prefixed by a language (`/de/tiles/…`) or carry `?language=de`.
public struct DemoWorldServer: Sendable {
    private let host: String
    private let port: Int
    private let cutter: TileCutter
    private let knobs: DemoKnobs
    private let maxZoom: Int
    private let logger: Logger

    /// Prepares a server; nothing is bound yet.
    ///
    /// - Parameters:
    ///   - host: The address or name to listen on.
    ///   - port: 0 for any free one.
    ///   - tree: Where boundaries and names come from.
    ///   - knobs: The faults to simulate.
    ///   - maxZoom: The value in TileJSON, 0...22. Tiles are made at any zoom to 22. Default 14.
    public init(
        host: String = "127.0.0.1", port: Int = 0, tree: RegionTree, knobs: DemoKnobs = DemoKnobs(), maxZoom: Int = 14,
        logger: Logger
    ) {
        self.init(
            host: host, port: port, cutter: TileCutter(tree: tree), knobs: knobs, maxZoom: maxZoom, logger: logger)
    }

    /// Prepares a server over a cutter that exists already.
    public init(
        host: String = "127.0.0.1", port: Int = 0, cutter: TileCutter, knobs: DemoKnobs = DemoKnobs(),
        maxZoom: Int = 14, logger: Logger
    ) {
        self.host = host
        self.port = port
        self.cutter = cutter
        self.knobs = knobs
        self.maxZoom = max(0, min(22, maxZoom))
        self.logger = logger
    }

    /// Serves until the task is cancelled or a graceful shutdown reaches it; connections in use end their answer first
    /// on a graceful shutdown.
    ///
    /// - Parameter onReady: Called once with the bound port when connections are taken.
    /// - Throws: ``DemoWorldError`` `.cannotListen` or `.badHost` before `onReady`, `.serverFailed` after it.
    public func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let responder = try DemoResponder(
            cutter: cutter, knobs: knobs, maxZoom: maxZoom, fallbackHost: "\(host):\(port)")
        let isReady = Atomic<Bool>(false)
        let app = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                try await responder.respond(to: request)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "packhorse-demo"),
            onServerRunning: { channel in
                isReady.store(true, ordering: .releasing)
                onReady(channel.localAddress?.port ?? port)
            },
            logger: logger)
        do {
            try await app.run()
        } catch let error as CancellationError {
            throw error
        } catch {
            guard isReady.load(ordering: .acquiring) else { throw notListening(error) }
            throw DemoWorldError(.serverFailed, "the demo world stopped: \(error)", cause: error)
        }
    }

    /// The error for a failed bind, with the remedy: another host or another port.
    private func notListening(_ error: any Error) -> DemoWorldError {
        let isHost = error is SocketAddressError.UnknownHost || (error as? IOError)?.errnoCode == EADDRNOTAVAIL
        let remedy =
            isHost
            ? "Name an address of this machine as the host, such as 127.0.0.1, or 0.0.0.0 for all of them."
            : "Choose another port, or 0 for any."
        return DemoWorldError(
            isHost ? .badHost : .cannotListen,
            "cannot listen on \(host):\(port): \(Self.reason(error)). \(remedy)", cause: error)
    }

    /// The system's message, without the name of the call.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case let error as SocketAddressError.UnknownHost: error.errorDescription.lowercased()
        default: "\(error)"
        }
    }
}
