internal import Errors
internal import Foundation
internal import HTTPTypes
package import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization
internal import Telemetry
internal import TextFormats

/// An HTTP/1.1 server that gives each request to one function.
package struct WebServer: Sendable {
    /// Where a server listens.
    package enum Place: Sendable, Hashable, CustomStringConvertible {
        /// An address or a name of this machine; port 0 = any free one.
        case host(String, port: Int)
        /// A Unix socket; the file of an earlier one is replaced.
        case socket(path: String)

        /// The form in errors.
        package var description: String {
            switch self {
            case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .socket(let path): path
            }
        }
    }

    /// What is known of a request besides its content.
    package struct Connection: Sendable {
        /// The other end; `nil` if unknown.
        package let peer: NetworkAddress?
        /// That of the connection.
        package let loop: any EventLoop
    }

    /// Makes the answer to a request; an error becomes an answer with the status 500.
    package typealias Responder = @Sendable (Request, Connection) async throws -> Response
    /// Makes the rest of an answer; it gets the same request, whose body can be read then.
    package typealias Work = @Sendable (Request) async throws -> Response

    /// What is known of an answer without waiting.
    package enum Answer: Sendable {
        case now(WholeAnswer)
        /// The answer must be waited for.
        case later(Work)
    }

    /// Begins to answer a request on the loop of the connection, and never blocks.
    ///
    /// The body cannot be read yet.
    package typealias Answerer = @Sendable (Request, Connection) -> Answer

    private let place: Place
    private let name: String
    private let rules: ConnectionRules?
    private let group: any EventLoopGroup
    private let logger: Logger
    private let answerer: Answerer
    /// Whether ``answerer`` can have answers at once.
    private let isQuick: Bool
    private let clock = AnswerClock()

    /// Prepares a server; nothing is bound yet.
    ///
    /// - Parameters:
    ///   - name: The value of the header Server.
    ///   - rules: The bounds of connections, each of which then runs on its event loop: what blocks must leave it.
    ///     `nil` = connections have no bounds, and run on the threads of tasks.
    ///   - group: The threads; `nil` = those that all servers of the process share.
    package init(
        _ place: Place, name: String, rules: ConnectionRules? = nil, group: (any EventLoopGroup)? = nil, logger: Logger,
        respond: @escaping Responder
    ) {
        self.init(place, name: name, rules: rules, group: group, logger: logger, isQuick: false) { _, connection in
            .later { try await respond($0, connection) }
        }
    }

    /// Prepares a server whose answers need no task when they are ready at once; nothing is bound yet.
    ///
    /// - Parameters:
    ///   - name: The value of the header Server.
    ///   - rules: The bounds of connections, each of which then runs on its event loop: what blocks must leave it.
    package init(
        _ place: Place, name: String, rules: ConnectionRules, logger: Logger, answer: @escaping Answerer
    ) {
        self.init(place, name: name, rules: rules, group: nil, logger: logger, isQuick: true, answer: answer)
    }

    private init(
        _ place: Place, name: String, rules: ConnectionRules?, group: (any EventLoopGroup)?, logger: Logger,
        isQuick: Bool, answer: @escaping Answerer
    ) {
        self.place = place
        self.name = name
        self.rules = rules
        self.group = group ?? MultiThreadedEventLoopGroup.singleton
        self.logger = logger
        self.isQuick = isQuick
        answerer = answer
    }

    /// Serves until the task is cancelled, which cuts all connections, or until a graceful shutdown reaches it, which lets
    /// connections in use end their answer.
    ///
    /// - Parameter onReady: Called once with the bound port when connections are taken; 0 for a socket.
    /// - Throws: ``WebServerError`` `.cannotListen` or `.badHost` before `onReady`, `.serverFailed` after it.
    package func run(onReady: @escaping @Sendable (Int) -> Void) async throws(WebServerError) {
        let listening = Mutex<(any Channel)?>(nil)
        let connections = WebChannel(base: http, isOnLoop: rules != nil)
        let server = Server(
            childChannelSetup: connections, configuration: configuration,
            onServerRunning: { channel in
                listening.withLock { $0 = channel }
                onReady(channel.localAddress?.port ?? 0)
            }, eventLoopGroup: group, logger: logger)
        // Not on the threads of tasks, which others may block.
        let executor = rules == nil ? nil : LoopExecutor(loop: group.next())
        // A task of its own, because a cancellation must not reach it before it has seen all connections that were taken.
        let task = Task { try await withTaskExecutorPreference(executor) { try await server.run() } }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                let channel = listening.withLock { $0 }
                Task { [group] in
                    // No more connections are taken. Closing would drop one whose setup is under way, and NIO ends the process over it.
                    // An error means that it is closed already.
                    try? await channel?.setOption(.autoRead, value: false).get()
                    // What a loop was given before has begun when it does this.
                    for loop in group.makeIterator() { try? await loop.submit {}.get() }
                    await connections.waitUntilSeen()
                    try? await channel?.close()
                    task.cancel()
                }
            }
        } catch {
            guard listening.withLock({ $0 != nil }) else { throw notListening(error) }
            throw WebServerError(.serverFailed, "The server at \(place) stopped: \(error)", cause: error)
        }
        guard Task.isCancelled || Task.isShuttingDownGracefully else {
            throw WebServerError(.serverFailed, "The server at \(place) stopped.")
        }
    }

    private var configuration: ServerConfiguration {
        let address: BindAddress =
            switch place {
            case .host(let host, let port): .hostname(host, port: port)
            case .socket(let path): .unixDomainSocket(path: path)
            }
        return ServerConfiguration(address: address, serverName: name, backlog: 1_024)
    }

    /// Our own handlers bound each connection; the decoder bounds the head while it is being read.
    private var http: HTTP1Channel {
        guard let rules else { return HTTP1Channel(responder: answer) }
        return HTTP1Channel(
            responder: answer,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [GuardInstaller(rules, answer: isQuick ? answerNow : nil)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: rules.headBytes, maxHeaderListSize: rules.headBytes, maxHeaderFieldCount: 64)))
    }

    /// Writes the answer to a request.
    @Sendable private func answer(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var response: Response
        do {
            response = try await self.response(to: request, on: channel)
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.debug("Request failed", metadata: [LogKey.errorMessage: "\(error)"])
            response = Response(status: .internalServerError)
        }
        finish(&response.headers)
        do { try await writer.write(response: response.head, body: response.body) } catch is HTTPParserError {
            // A parser's error would be answered with 400, after an answer has begun.
            throw ChannelError.inputClosed
        }
    }

    private func response(to request: Request, on channel: any Channel) async throws -> Response {
        if isQuick, channel.eventLoop.inEventLoop,
            // A connection that was closed has no handlers any more.
            let answers = try? channel.pipeline.syncOperations.handler(type: LoopAnswers.self),
            let left = answers.takeWork(request.head)
        {
            return try await left(request)
        }
        switch answerer(request, Connection(peer: channel.peer, loop: channel.eventLoop)) {
        case .now(let whole): return whole.response
        case .later(let work): return try await work(request)
        }
    }

    /// The answer on the loop, with the fields of all answers when it is ready.
    @Sendable private func answerNow(_ request: Request, _ connection: Connection) -> Answer {
        switch answerer(request, connection) {
        case .now(var whole):
            finish(&whole.headers)
            return .now(whole)
        case .later(let work): return .later(work)
        }
    }

    private func finish(_ headers: inout HTTPFields) {
        headers[.date] = clock.date
        headers[.server] = name
    }

    private func notListening(_ error: any Error) -> WebServerError {
        let number = (error as? IOError)?.errnoCode
        let isHost = error is SocketAddressError || error is SocketAddressError.UnknownHost || number == EADDRNOTAVAIL
        let reason =
            number.map { String(cString: strerror($0)) }
            ?? (error as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(error)"
        return WebServerError(
            isHost ? .badHost : .cannotListen, "Cannot listen on \(place): \(reason).",
            hint: isHost
                ? "name an address of this machine as the host, such as 127.0.0.1, or 0.0.0.0 for all of them"
                : "choose another port, or 0 for any", cause: error)
    }
}

extension Channel {
    /// The address of the other end; `nil` if unknown.
    var peer: NetworkAddress? { remoteAddress?.ipAddress.flatMap(NetworkAddress.init) }
}

/// The header Date, written once for each second.
private final class AnswerClock: Sendable {
    private let last = Mutex<(second: Int64, text: String)>((0, ""))

    var date: String {
        let second = Int64(time(nil))
        return last.withLock { last in
            if last.second != second { last = (second, HTTPDate.text(secondsSince1970: second)) }
            return last.text
        }
    }
}
