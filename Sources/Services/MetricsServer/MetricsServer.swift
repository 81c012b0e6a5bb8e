public import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import MetricsFormat
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import WebServer

/// A small HTTP server for one page: `GET /metrics`.
///
/// It is bound before the program opens anything else, so that a port in use is found first. Until ``serve(_:)`` it answers 503. It
/// has a thread of its own, and each connection has one request.
public final class MetricsServer: Sendable {
    /// The bounds of a server.
    struct Limits: Sendable {
        /// Connections at the same time; further ones are closed at once.
        var connections = 16
        /// Bytes of the head and of the body of a request.
        var requestBytes = 8_192
        /// Seconds from the beginning of a connection to its end.
        var time = 10.0

        fileprivate var rules: ConnectionRules {
            var rules = ConnectionRules()
            rules.headBytes = requestBytes
            rules.bodyBytes = requestBytes
            rules.counts = ConnectionCounts(most: connections, maxEach: connections)
            rules.isKeptAlive = false
            // Neither a slow request nor a slow reader keeps a connection.
            rules.clock.whole = time
            return rules
        }
    }

    /// The address, with the port that was bound.
    public let address: MetricsAddress
    private let task: Task<Void, any Error>
    private let group: MultiThreadedEventLoopGroup
    private let source: PageSource

    private init(
        _ address: MetricsAddress, task: Task<Void, any Error>, group: MultiThreadedEventLoopGroup, source: PageSource
    ) {
        self.address = address
        self.task = task
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
        let server = WebServer(
            address.place, name: "packhorse-metrics", rules: limits.rules, group: group,
            logger: Logger(label: "packhorse.metrics") { _ in SwiftLogNoOpLogHandler() }
        ) { request, _ in source.answer(request) }
        let (ready, announce) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            defer { announce.finish() }
            try await server.run { announce.yield($0) }
        }
        for await port in ready {
            var bound = address
            switch address {
            case .tcp(let host, _): bound = .tcp(host: host, port: port)
            // The folder decides who else reaches it.
            case .unix(let path): chmod(path, 0o660)
            }
            return MetricsServer(bound, task: task, group: group, source: source)
        }
        let result = await task.result
        await stop(group)
        throw failure(result, at: address, option: option)
    }

    /// Answers with this page from now on; `nil` = no page exists yet.
    public func serve(_ page: @escaping @Sendable () -> String?) { source.set(page) }

    /// Ends all connections, and removes the socket's file.
    public func close() async {
        task.cancel()
        _ = await task.result
        await Self.stop(group)
        if case .unix(let path) = address { unlink(path) }
    }

    private static func stop(_ group: MultiThreadedEventLoopGroup) async {
        // The threads end with the process otherwise.
        try? await group.shutdownGracefully()
    }

    private static func failure(
        _ result: Result<Void, any Error>, at address: MetricsAddress, option: String
    ) -> MetricsServerError {
        guard case .failure(let error as WebServerError) = result else {
            return MetricsServerError(.cannotListen, "Metrics cannot be served at '\(address)'.")
        }
        let isHost = error.code == .badHost
        return MetricsServerError(
            isHost ? .badHost : .cannotListen, "Metrics cannot be served at '\(address)'. \(error.message)",
            hint: isHost
                ? "give \(option) an address of this machine, for example 127.0.0.1:9470"
                : "give \(option) another port, or unix:/PATH", cause: error)
    }
}

extension MetricsAddress {
    fileprivate var place: WebServer.Place {
        switch self {
        case .tcp(let host, let port): .host(host, port: port)
        case .unix(let path): .socket(path: path)
        }
    }
}

/// Makes the page, and answers with it.
final class PageSource: Sendable {
    private let make = Mutex<(@Sendable () -> String?)?>(nil)

    func set(_ page: @escaping @Sendable () -> String?) { make.withLock { $0 = page } }

    /// The answer to a request.
    func answer(_ request: Request) -> Response {
        guard (request.head.path ?? "").prefix(while: { $0 != "?" }) == "/metrics" else {
            return Self.answer(.notFound, "The only page is /metrics.\n")
        }
        guard request.method == .get || request.method == .head else {
            var answer = Self.answer(.methodNotAllowed, "Use GET or HEAD.\n")
            answer.headers[.allow] = "GET, HEAD"
            return answer
        }
        guard let page = make.withLock({ $0 })?() else {
            return Self.answer(.serviceUnavailable, "The program is starting.\n")
        }
        let answer = Self.answer(.ok, page, type: MetricsText.contentType)
        return request.method == .head ? answer.createHeadResponse() : answer
    }

    private static func answer(
        _ status: HTTPResponse.Status, _ body: String, type: String = "text/plain; charset=utf-8"
    ) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: body)))
    }
}
