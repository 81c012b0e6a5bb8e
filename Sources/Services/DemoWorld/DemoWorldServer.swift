public import Logging
public import Regions
internal import WebServer
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
    /// - Throws: ``DemoWorldError``; `WebServerError` `.cannotListen` or `.badHost` before `onReady`, `.serverFailed` after it.
    public func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let responder = try DemoResponder(
            cutter: cutter, knobs: knobs, maxZoom: maxZoom, fallbackHost: "\(host):\(port)")
        let server = WebServer(.host(host, port: port), name: "packhorse-demo", logger: logger) { request, _ in
            try await responder.respond(to: request)
        }
        try await server.run(onReady: onReady)
    }
}
