import Glibc

/// A peer that implements ZMTP 3.0 (ZeroMQ RFC 23, NULL mechanism) byte by byte, so that it can send what libzmq never
/// sends.
///
/// Blocks its thread; every wait ends after ten seconds.
public final class RawZMTP: Sendable {
    private let descriptor: Int32

    /// Thrown if the handshake fails.
    public struct NoHandshake: Error {}

    /// Connects to a ROUTER on 127.0.0.1 as a DEALER and does the handshake.
    public init(port: Int) throws {
        signal(SIGPIPE, SIG_IGN)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let fd = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(fd, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard connected, send(Self.greeting), read(64) != nil, send(Self.ready), let head = read(2),
            read(Int(head[1])) != nil
        else {
            // Closed by deinit, which runs also after this.
            throw NoHandshake()
        }
    }

    deinit { close(descriptor) }

    /// Makes the end of this object reset the connection (RST) instead of closing it in order.
    public func resetOnClose() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    private static let greeting: [UInt8] =
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)

    private static let ready: [UInt8] = {
        let body: [UInt8] =
            [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("DEALER".utf8)
        return [4, UInt8(body.count)] + body
    }()

    /// One ZMTP frame; `more` announces another part of the same message.
    public static func frame(_ body: [UInt8], more: Bool = false) -> [UInt8] {
        let flag: UInt8 = more ? 1 : 0
        guard body.count > 255 else { return [flag, UInt8(body.count)] + body }
        let length = UInt64(body.count).bigEndian
        return [flag | 2] + withUnsafeBytes(of: length) { Array($0) } + body
    }

    /// Sends bytes as they are; `false` when the connection is gone or takes nothing for ten seconds.
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, 0)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Repeats `bytes` until the connection is gone or `most` bytes have left; returns how many did.
    public func flood(_ bytes: [UInt8], atMost most: Int) -> Int {
        var sent = 0
        while sent < most, !bytes.isEmpty, send(bytes) { sent += bytes.count }
        return sent
    }

    /// The body of the next frame that is not a command, or `nil` when the connection ends or is silent for ten
    /// seconds.
    public func receive() -> [UInt8]? {
        while let head = read(2) {
            var length = Int(head[1])
            if head[0] & 2 != 0 {
                guard let rest = read(7) else { return nil }
                length = Int(truncatingIfNeeded: rest.reduce(UInt64(head[1])) { $0 << 8 | UInt64($1) })
            }
            guard (0...16 << 20).contains(length), let body = read(length) else { return nil }
            if head[0] & 4 == 0 { return body }
        }
        return nil
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + filled }, count - filled, 0)
            }
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }
}

/// Runs blocking work on its own thread, so that waiting tests do not block each other.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Value, any Error>) in
        let work = ThreadWork { done.resume(with: Result(catching: body)) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(work).toOpaque()
        pthread_create(&thread, nil, { ThreadWork.run($0) }, argument)
        pthread_detach(thread)
    }
}

private final class ThreadWork: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body()
        return nil
    }
}
