internal import Errors
internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
internal import Synchronization

/// Serves a catalog over HTTP.
///
/// It serves only what the lists of the catalog name. Any number of gateways can serve one folder: equal bytes have
/// equal tags.
public struct GatewayServer: Sendable {
    private let options: GatewayOptions
    private let logger: Logger

    /// Prepares a server; nothing is bound yet.
    public init(_ options: GatewayOptions, logger: Logger) {
        self.options = options
        self.logger = logger
    }

    /// Serves until the task is cancelled or a graceful shutdown reaches it.
    ///
    /// - Parameter onReady: Called once with the bound port, when connections are taken.
    /// - Throws: ``GatewayError`` `catalog-missing` for a folder that does not exist; `cannot-listen`, `bad-host`;
    ///   `server-failed`; the error of a tileset whose description is wrong. What cannot be read now, the catalog or a
    ///   tileset, does not end the server: it answers 503 until it can.
    public func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
        let parts = try GatewayParts.make(options, logger: logger)
        try await parts.tilesets.readAtStart()
        await parts.refresh()
        let result = await Self.outcome(parts, self, onReady)
        await parts.close()
        try result.get()
    }

    private static func outcome(
        _ parts: GatewayParts, _ server: GatewayServer, _ onReady: @escaping @Sendable (Int) -> Void
    ) async -> Result<Void, any Error> {
        do {
            try await server.serve(parts, onReady)
            return .success(())
        } catch { return .failure(error) }
    }

    private func serve(_ parts: GatewayParts, _ onReady: @escaping @Sendable (Int) -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await parts.run() }
            group.addTask { try await listen(parts, onReady) }
            // The watch ends only when it is cancelled; so the first end is that of the server, or an error.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func listen(_ parts: GatewayParts, _ onReady: @escaping @Sendable (Int) -> Void) async throws {
        let isReady = Atomic<Bool>(false)
        let port = options.port
        let app = Application(
            responder: GatewayResponder(parts: parts),
            server: HTTPServerBuilder { [rules = parts.connectionRules] in
                LoopChannel(base: HTTP1Channel(responder: $0, configuration: Self.http(rules)))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: port), serverName: "packhorse-gateway", backlog: 1_024),
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
            throw GatewayError(.serverFailed, "The gateway stopped: \(error)", cause: error)
        }
    }

    /// Our own handlers bound each connection; the decoder bounds the head while it is being read.
    private static func http(_ rules: ConnectionRules) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: [GuardInstaller(rules)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: rules.headBytes, maxHeaderListSize: rules.headBytes, maxHeaderFieldCount: 64))
    }

    private func notListening(_ error: any Error) -> GatewayError {
        let isHost = error is SocketAddressError.UnknownHost || (error as? IOError)?.errnoCode == EADDRNOTAVAIL
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return GatewayError(
            isHost ? .badHost : .cannotListen, "Cannot listen on \(options.host):\(options.port): \(reason).",
            hint: isHost
                ? "name an address of this machine as the host, such as 127.0.0.1, or 0.0.0.0 for all of them"
                : "choose another port, or 0 for any", cause: error)
    }
}
