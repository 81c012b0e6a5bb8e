internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#endif

/// One HTTP request over a plain socket, so that a test sees each header and each byte as sent.
public struct RawHTTPClient: Sendable {
    /// Where a server listens.
    public enum Place: Sendable {
        /// A port of 127.0.0.1.
        case port(Int)
        /// A Unix socket.
        case path(String)
    }

    /// The connection failed, or its answer has no head.
    public struct Failure: Error {
        let reason: String

        /// A failure for this reason.
        public init(_ reason: String) { self.reason = reason }
    }

    /// The status of the answer.
    public let status: Int
    /// The headers, names in lower case.
    public let headers: [String: String]
    /// The body.
    public let body: [UInt8]

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Sends a text and reads to the end of the connection, on a thread of its own: a server under test needs the few
    /// threads of Swift's pool.
    ///
    /// - Throws: ``Failure``.
    public static func send(_ request: String, to place: Place) async throws -> RawHTTPClient {
        try RawHTTPClient(await exchange(Array(request.utf8), with: place))
    }

    /// A GET.
    ///
    /// - Throws: ``Failure``.
    public static func get(_ path: String, from place: Place) async throws -> RawHTTPClient {
        try await send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", to: place)
    }

    /// Sends bytes and returns all that come until the server closes, on a thread of its own.
    ///
    /// - Throws: ``Failure`` without a connection.
    public static func exchange(_ bytes: [UInt8], with place: Place) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let descriptor = try connect(place)
                        defer { close(descriptor) }
                        write(bytes, to: descriptor)
                        return readAll(descriptor)
                    })
            }
        }
    }

    /// Opens a connection; the caller closes the descriptor.
    ///
    /// - Throws: ``Failure``.
    public static func connect(_ place: Place) throws -> Int32 {
        let descriptor: Int32
        let result: Int32
        switch place {
        case .port(let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            result = Self.connect(descriptor, &address)
        case .path(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            result = Self.connect(descriptor, &address)
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure("cannot connect to \(place)")
        }
        return descriptor
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Sends bytes; stops when the server does not take them any more, because it may answer and close early.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// All bytes until the other side closes.
    public static func readAll(_ descriptor: Int32) -> [UInt8] {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return received }
            received += buffer[..<count]
        }
    }

    private init(_ received: [UInt8]) throws {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Failure("no head: \(received.count) bytes")
        }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        headers = Dictionary(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (parts[0].lowercased(), parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
            }, uniquingKeysWith: { first, _ in first })
        body = Array(received[end.upperBound...])
    }
}
