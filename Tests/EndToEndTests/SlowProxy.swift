import Foundation
import Synchronization

/// A TCP relay that lets through so many bytes a second towards the server, and counts them.
///
/// Threads of its own; everything ends with ``stop()``.
final class SlowProxy: Sendable {
    private struct State {
        var descriptors: Set<Int32> = []
        var isStopped = false
        var bytes: UInt64 = 0
    }

    let endpoint: String
    private let listener: Int32
    private let port: UInt16
    private let rate: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - server: "tcp://127.0.0.1:PORT"
    ///   - rate: Bytes a second, each connection.
    init(to server: String, rate: Int) throws {
        guard let port = server.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw Broken(what: server) }
        self.port = port
        self.rate = rate
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard bound else { throw Broken(what: "cannot listen: \(errno)") }
        endpoint = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread { [self] in accept() }
    }

    struct Broken: Error { let what: String }

    /// Bytes that went towards the server so far.
    var bytes: UInt64 { state.withLock { $0.bytes } }

    func stop() {
        let open = state.withLock { state in
            state.isStopped = true
            return state.descriptors
        }
        for descriptor in open.union([listener]) { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func accept() {
        defer { close(listener) }
        while !state.withLock({ $0.isStopped }) {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0 { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(port)
            let connected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            // Nobody listens there now: the client sees a closed connection, as it would without us.
            guard connected else {
                close(client)
                close(server)
                continue
            }
            state.withLock { $0.descriptors.formUnion([client, server]) }
            let ends = Ends(client: client, server: server)
            Thread.detachNewThread { [self] in relay(ends, up: true) }
            Thread.detachNewThread { [self] in relay(ends, up: false) }
        }
    }

    /// Two sockets, closed when both directions have ended.
    private final class Ends: Sendable {
        let client: Int32
        let server: Int32
        private let running = Mutex(2)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        func ended() -> Bool {
            running.withLock { running in
                running -= 1
                return running == 0
            }
        }
    }

    private func relay(_ ends: Ends, up: Bool) {
        let (from, to) = up ? (ends.client, ends.server) : (ends.server, ends.client)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let got = read(from, &buffer, buffer.count)
            guard got > 0 else { break }
            if up {
                state.withLock { $0.bytes += UInt64(got) }
                usleep(UInt32(got * 1_000_000 / rate))
            }
            var done = 0
            while done < got {
                let put = buffer.withUnsafeBytes { raw in
                    raw.baseAddress.map { send(to, $0 + done, got - done, Int32(MSG_NOSIGNAL)) } ?? -1
                }
                guard put > 0 else { break }
                done += put
            }
            guard done == got else { break }
        }
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
        guard ends.ended() else { return }
        state.withLock { $0.descriptors.subtract([from, to]) }
        close(from)
        close(to)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
