import Foundation
import Synchronization
import Testing

/// A TCP proxy that disturbs connections: delay, a slow link, flipped bits, disconnects; settings can change at any
/// time.
final class FaultProxy: Sendable {
    /// What happens to bytes on their way.
    struct Harm: Sendable {
        /// Every piece is held back so long.
        var delay: Duration = .zero
        /// A bit is flipped in one of so many pieces; 0 in none.
        var flipEvery = 0
        /// Bytes a second towards the target, of each connection; 0 without a limit.
        var rate = 0
        /// Nothing passes until this is taken back; the connections stand.
        var isHeld = false
    }

    private struct State {
        var harm = Harm()
        var open: Set<Int32> = []
        var flipped = 0
        var pieces = 0
        /// Whether the listener is closed, so that its number may belong to another test.
        var isClosed = false
    }

    /// Both ends of a connection; closed when nothing uses either of them.
    private final class Connection: Sendable {
        let near: Int32
        let far: Int32
        private let users = Mutex(2)

        init(near: Int32, far: Int32) { (self.near, self.far) = (near, far) }

        /// Whether this was the last user.
        func leave() -> Bool {
            users.withLock { users in
                users -= 1
                return users == 0
            }
        }
    }

    /// The port it listens on, on 127.0.0.1.
    let port: UInt16
    private let target: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    /// Signalled when the harm has changed.
    private let released = NSCondition()

    /// Listens on a free port and passes on to `endpoint`, "tcp://127.0.0.1:PORT".
    init(to endpoint: String) throws {
        target = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) }, "\(endpoint)")
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try Self.listen(listener)
        Self.spawn { [self] in accept() }
    }

    /// `tcp://127.0.0.1:port`.
    var endpoint: String { "tcp://127.0.0.1:\(port)" }
    /// Bits flipped so far.
    var flipped: Int { state.withLock(\.flipped) }

    /// From now on.
    func set(_ harm: Harm) {
        state.withLock { $0.harm = harm }
        released.lock()
        released.broadcast()
        released.unlock()
    }

    private func waitWhileHeld() {
        released.lock()
        while state.withLock(\.harm.isHeld) { released.wait() }
        released.unlock()
    }

    /// Ends every connection that stands.
    func cut() {
        state.withLock { state in for end in state.open { shutdown(end, Int32(SHUT_RDWR)) } }
    }

    /// Ends everything.
    func stop() {
        set(Harm())
        state.withLock { if !$0.isClosed { shutdown(listener, Int32(SHUT_RDWR)) } }
        cut()
    }

    private func accept() {
        while true {
            let near = Glibc.accept(listener, nil, nil)
            guard near >= 0 else { break }
            let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.connect(far, to: target) else {
                close(far)
                close(near)
                continue
            }
            state.withLock {
                _ = $0.open.insert(near)
                _ = $0.open.insert(far)
            }
            let connection = Connection(near: near, far: far)
            Self.spawn { [self] in
                Self.spawn { [self] in pump(connection, isUp: false) }
                pump(connection, isUp: true)
            }
        }
        state.withLock {
            $0.isClosed = true
            close(listener)
        }
    }

    /// Until one end is gone; the other direction notices by the shutdown, and the last one closes both ends.
    private func pump(_ connection: Connection, isUp: Bool) {
        let (near, far) = (connection.near, connection.far)
        let (source, sink) = isUp ? (near, far) : (far, near)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { break }
            let harm = state.withLock { $0.harm }
            if harm.delay > .zero { usleep(UInt32(harm.delay / .microseconds(1))) }
            if isUp, harm.rate > 0 { usleep(UInt32(count * 1_000_000 / harm.rate)) }
            waitWhileHeld()
            flip(&buffer, count, harm.flipEvery)
            guard Self.write(sink, buffer[..<count]) else { break }
        }
        shutdown(sink, Int32(SHUT_RDWR))
        guard connection.leave() else { return }
        state.withLock { $0.open.subtract([near, far]) }
        close(near)
        close(far)
    }

    private func flip(_ bytes: inout [UInt8], _ count: Int, _ every: Int) {
        guard every > 0 else { return }
        let piece = state.withLock { state in
            state.pieces += 1
            if state.pieces.isMultiple(of: every) { state.flipped += 1 }
            return state.pieces
        }
        if piece.isMultiple(of: every) { bytes[piece % count] ^= 1 << UInt8(piece % 8) }
    }

    // MARK: - Sockets

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func listen(_ socket: Int32) throws -> UInt16 {
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && Glibc.listen(socket, 64) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isReady else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func connect(_ socket: Int32, to port: UInt16) -> Bool {
        var address = address(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func write(_ socket: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func spawn(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.start()
    }
}
