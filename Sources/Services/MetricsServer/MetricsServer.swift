public import Errors
internal import Foundation
internal import MetricsFormat
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A small HTTP server for one page: `GET /metrics`.
///
/// It is bound before the program opens anything else, so that a port in use is found first. Until ``serve(_:)`` it answers 503. It
/// has a thread of its own, and each connection has one request.
public final class MetricsServer: Sendable {
    /// The bounds of a server.
    struct Limits: Sendable {
        /// Connections at the same time; further ones are closed at once.
        var connections = 16
        /// Bytes of a request, of which only the head is read.
        var requestBytes = 8_192
        /// Time of a connection, from its beginning to its end.
        var time = TimeAmount.seconds(10)
    }

    /// The address, with the port that was bound.
    public let address: MetricsAddress
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let source: PageSource

    private init(
        _ address: MetricsAddress, channel: any Channel, group: MultiThreadedEventLoopGroup, source: PageSource
    ) {
        self.address = address
        self.channel = channel
        self.group = group
        self.source = source
    }

    /// Listens at an address.
    ///
    /// - Parameter option: The option that gave the address, for errors.
    /// - Throws: ``MetricsServerError``.
    public static func bind(
        _ address: MetricsAddress, option: String = "--metrics"
    ) async throws(MetricsServerError) -> MetricsServer {
        try await bind(address, option: option, limits: Limits())
    }

    /// The same with other bounds, for tests.
    static func bind(
        _ address: MetricsAddress, option: String, limits: Limits
    ) async throws(MetricsServerError) -> MetricsServer {
        if case .unix(let path) = address { try SocketFile.prepare(path, option: option) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let source = PageSource()
        let bootstrap = bootstrap(group, source, limits)
        do {
            let channel: any Channel
            var bound = address
            switch address {
            case .tcp(let host, let port):
                channel = try await bootstrap.bind(host: host, port: port).get()
                bound = .tcp(host: host, port: channel.localAddress?.port ?? port)
            case .unix(let path):
                channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
                // The folder decides who else reaches it.
                chmod(path, 0o660)
            }
            return MetricsServer(bound, channel: channel, group: group, source: source)
        } catch {
            await stop(group)
            throw failure(error, address, option)
        }
    }

    /// Answers with this page from now on; `nil` = there is none yet.
    public func serve(_ page: @escaping @Sendable () -> String?) { source.set(page) }

    /// Ends all connections, and removes the socket's file.
    public func close() async {
        // An error means that it is closed already.
        try? await channel.close()
        await Self.stop(group)
        if case .unix(let path) = address { unlink(path) }
    }

    private static func stop(_ group: MultiThreadedEventLoopGroup) async {
        // The threads end with the process otherwise.
        try? await group.shutdownGracefully()
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ source: PageSource, _ limits: Limits
    ) -> ServerBootstrap {
        let counter = ConnectionCounter(most: limits.connections)
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard counter.open() else { return channel.eventLoop.makeFailedFuture(ChannelError.eof) }
                channel.closeFuture.whenComplete { _ in counter.close() }
                return channel.eventLoop.makeCompletedFuture {
                    try MetricsHandler.install(in: channel, source, limits)
                }
            }
    }

    private static func failure(_ error: any Error, _ address: MetricsAddress, _ option: String) -> MetricsServerError {
        let number = (error as? IOError)?.errnoCode
        let isHost = error is SocketAddressError || error is SocketAddressError.UnknownHost || number == EADDRNOTAVAIL
        let reason = number.map { String(cString: strerror($0)) } ?? "\(error)"
        let hint =
            isHost
            ? "give \(option) an address of this machine, for example 127.0.0.1:9470"
            : "give \(option) another port, or unix:/PATH"
        return MetricsServerError(
            isHost ? .badHost : .cannotListen, "Metrics cannot be served at '\(address)': \(reason).", hint: hint,
            cause: error)
    }
}

/// Counts connections.
final class ConnectionCounter: Sendable {
    private let most: Int
    private let count = Mutex(0)

    init(most: Int) { self.most = most }

    /// Whether one more may stay; it is counted then.
    func open() -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func close() { count.withLock { $0 -= 1 } }
}

/// Makes the page.
final class PageSource: Sendable {
    private let make = Mutex<(@Sendable () -> String?)?>(nil)

    func set(_ page: @escaping @Sendable () -> String?) { make.withLock { $0 = page } }

    /// The page; `nil` before there is one.
    var page: String? { make.withLock { $0 }?() }
}
