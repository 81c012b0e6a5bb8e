import Glibc
import Synchronization

/// A small HTTP/1.1 server for tests: real sockets on 127.0.0.1, a thread per connection, answers from a script.
public final class ScriptedServer: Sendable {
    /// What a client asked.
    public struct Request: Sendable {
        /// The target as sent, query included.
        public let path: String
        /// Header fields by lower-case name.
        public let headers: [String: String]
        /// The number of the connection it came on, from 0.
        public let connection: Int
        /// How many requests for the same path came before.
        public let earlier: Int
        /// The method: GET, PUT and the like.
        public let method: String
        /// What a Content-Length announced.
        public let body: [UInt8]
    }

    /// What the script says to a request.
    public enum Answer: Sendable {
        /// A complete answer on a connection that stays open.
        case reply(Int, headers: [(String, String)] = [], body: [UInt8] = [])
        /// These bytes unchanged, then the connection closes.
        case raw([UInt8])
        /// Nothing at all until the server stops.
        case silence
        /// These bytes unchanged, then nothing until the server stops.
        case stall([UInt8])
        /// A body that never ends: 200 bytes at once and after each further second, until the server stops.
        case trickle
    }

    /// Thrown when a socket cannot be made.
    public struct SocketError: Error {
        /// The system's error number.
        public let number: Int32
    }

    private struct State {
        var requests: [Request] = []
        var counts: [String: Int] = [:]
        var open: Set<Int32> = []
        var threads: [pthread_t] = []
        var connections = 0
        var isStopped = false
        /// Whether the listener is closed, so that its number may belong to another test.
        var isClosed = false
    }

    /// The port it listens on.
    public let port: Int
    private let listener: Int32
    private let script: @Sendable (Request) -> Answer
    private let state = Mutex(State())

    /// Uses a free port, unless one is given, and starts to listen; every request is answered by `script`.
    ///
    /// - Parameter isOpen: Whether it listens at once. Until ``open()`` connections are refused, and no other process
    ///   can use the port.
    public init(port wanted: Int = 0, isOpen: Bool = true, _ script: @escaping @Sendable (Request) -> Answer) throws {
        signal(SIGPIPE, SIG_IGN)
        self.script = script
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw SocketError(number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: wanted).bigEndian
        var again: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, socklen_t(MemoryLayout<Int32>.size))
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let fd = listener
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(fd, address, length) == 0 else { return errno }
                return getsockname(fd, address, &length) == 0 ? 0 : errno
            }
        }
        guard code == 0 else {
            Glibc.close(fd)
            throw SocketError(number: code)
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        if isOpen { try open() }
    }

    /// Starts to listen; once.
    public func open() throws {
        guard listen(listener, 512) == 0 else {
            let number = errno
            closeListener()
            throw SocketError(number: number)
        }
        spawn { [self] in accept() }
    }

    /// `http://127.0.0.1:port`.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Every request so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Connections accepted so far.
    public var connections: Int { state.withLock { $0.connections } }

    /// Closes everything and waits for the threads.
    public func stop() {
        let threads = state.withLock { state in
            state.isStopped = true
            if !state.isClosed { shutdown(listener, Int32(SHUT_RDWR)) }
            for fd in state.open { shutdown(fd, Int32(SHUT_RDWR)) }
            defer { state.threads = [] }
            return state.threads
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    private func accept() {
        while true {
            let fd = Glibc.accept(listener, nil, nil)
            guard fd >= 0 else { break }
            var on: Int32 = 1
            setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.open.insert(fd)
                state.connections += 1
                return state.connections - 1
            }
            guard let number else {
                Glibc.close(fd)
                break
            }
            spawn { [self] in serve(fd, number) }
        }
        closeListener()
    }

    private func closeListener() {
        state.withLock { state in
            state.isClosed = true
            Glibc.close(listener)
        }
    }

    private func serve(_ fd: Int32, _ number: Int) {
        var pending: [UInt8] = []
        while let head = readHead(fd, &pending) {
            let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
            let words = lines.first?.split(separator: " ") ?? []
            guard words.count > 1 else { break }
            let (method, path) = (String(words[0]), String(words[1]))
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
            }
            guard let body = readBody(fd, length: Int(headers["content-length"] ?? "") ?? 0, after: &pending) else {
                break
            }
            let request = state.withLock { state in
                let earlier = state.counts[path, default: 0]
                state.counts[path] = earlier + 1
                let request = Request(
                    path: path, headers: headers, connection: number, earlier: earlier, method: method, body: body)
                state.requests.append(request)
                return request
            }
            switch script(request) {
            case .reply(let status, let headers, let body):
                var text = "HTTP/1.1 \(status) Scripted\r\n"
                for (name, value) in headers { text += "\(name): \(value)\r\n" }
                if status != 204 { text += "Content-Length: \(body.count)\r\n" }
                write(fd, Array((text + "\r\n").utf8) + (request.method == "HEAD" ? [] : body))
                continue
            case .raw(let bytes):
                write(fd, bytes)
            case .silence:
                waitForEnd(fd)
            case .stall(let bytes):
                write(fd, bytes)
                waitForEnd(fd)
            case .trickle:
                write(fd, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
                repeat { write(fd, [UInt8](repeating: 0, count: 200)) } while !isReadable(fd, within: 1_000)
            }
            break
        }
        state.withLock { _ = $0.open.remove(fd) }
        Glibc.close(fd)
    }

    private func readHead(_ fd: Int32, _ pending: inout [UInt8]) -> ArraySlice<UInt8>? {
        let end: [UInt8] = [13, 10, 13, 10]
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let range = pending.firstRange(of: end) {
                let head = pending[..<range.lowerBound]
                pending = Array(pending[range.upperBound...])
                return head
            }
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { return nil }
            pending += buffer[..<count]
        }
    }

    private func readBody(_ fd: Int32, length: Int, after pending: inout [UInt8]) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while pending.count < length {
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { return nil }
            pending += buffer[..<count]
        }
        defer { pending = Array(pending[length...]) }
        return Array(pending[..<length])
    }

    /// Whether there is something to read, or the connection ended, before this many milliseconds passed.
    private func isReadable(_ fd: Int32, within time: Int32) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, time) != 0
    }

    private func waitForEnd(_ fd: Int32) {
        var byte: UInt8 = 0
        while read(fd, &byte, 1) > 0 {}
    }

    private func write(_ fd: Int32, _ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { send(fd, $0.baseAddress.map { $0 + sent }, $0.count - sent, 0) }
            guard count > 0 else { return }
            sent += count
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private func spawn(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run: run))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            return
        }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.threads.append(thread) }
            return state.isStopped
        }
        if isStopped { pthread_detach(thread) }
    }
}
