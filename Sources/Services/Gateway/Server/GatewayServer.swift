internal import Errors
internal import Foundation
public import Logging
internal import Synchronization
internal import WebServer

/// Serves a catalog over HTTP.
///
/// It serves only what the lists of the catalog name. Any number of gateways can serve one folder: equal bytes have
/// equal tags.
public struct GatewayServer: Sendable {
    private let options: GatewayOptions
    private let logger: Logger
    /// The services while the server runs.
    private let running = RunningServices()

    /// Prepares a server; nothing is bound yet.
    public init(_ options: GatewayOptions, logger: Logger) {
        self.options = options
        self.logger = logger
    }

    /// Serves until the task is cancelled or a graceful shutdown reaches it.
    ///
    /// - Parameter onReady: Called once with the bound port, when connections are taken.
    /// - Throws: ``GatewayError`` `catalog-missing` for a folder that does not exist; the errors of ``WebServer/run(onReady:)``;
    ///   the error of a tileset whose description is wrong. What cannot be read now, the catalog or a tileset, does not
    ///   end the server: it answers 503 until it can.
    public func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let services = try GatewayServices.make(options, logger: logger)
        try await services.tilesets.readAtStart()
        await services.refresh()
        running.services.withLock { $0 = services }
        defer { running.services.withLock { $0 = nil } }
        let result = await Self.outcome(services, self, onReady)
        await services.close()
        try result.get()
    }

    /// Reads the token files and the lists of the catalog again.
    ///
    /// - Returns: The tokens that are used now, in a few words.
    public func reloadTokens() async -> String {
        guard let services = running.services.withLock({ $0 }) else { return "not running yet" }
        return await services.reloadTokens()
    }

    /// Reads the descriptions of the tilesets again.
    ///
    /// - Returns: The ids that can be submitted.
    /// - Throws: The error of a description that is wrong; then none is changed.
    public func reloadTilesets() async throws -> String {
        guard let services = running.services.withLock({ $0 }) else { return "not running yet" }
        return try await services.tilesets.reload()
    }

    private static func outcome(
        _ services: GatewayServices, _ server: GatewayServer, _ onReady: @escaping @Sendable (Int) -> Void
    ) async -> Result<Void, any Error> {
        do {
            try await server.serve(services, onReady)
            return .success(())
        } catch { return .failure(error) }
    }

    private func serve(_ services: GatewayServices, _ onReady: @escaping @Sendable (Int) -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await services.run() }
            group.addTask { try await listen(services, onReady) }
            // The watch ends only when it is cancelled; so the first end is that of the server, or an error.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func listen(_ services: GatewayServices, _ onReady: @escaping @Sendable (Int) -> Void) async throws {
        let responder = GatewayResponder(services: services)
        let server = WebServer(
            .host(options.host, port: options.port), name: "packhorse-gateway", rules: services.connectionRules,
            logger: logger, answer: { responder.answer(to: $0, on: $1) })
        try await server.run(onReady: onReady)
    }
}

/// The services of a server, by reference: a server is a value.
private final class RunningServices: Sendable {
    let services = Mutex<GatewayServices?>(nil)
}
