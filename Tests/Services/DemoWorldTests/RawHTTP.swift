import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// One HTTP/1.1 request over a plain socket, so that tests see every header and every byte as sent.
struct RawHTTP {
    struct Failure: Error {
        let reason: String
    }

    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    /// Sends the text and reads to the end of the connection, on a thread of its own: the server under test needs the
    /// few threads of the cooperative pool.
    static func send(port: Int, _ request: String) async throws -> RawHTTP {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try RawHTTP(port: port, request) }) }
        }
    }

    private init(port: Int, _ request: String) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(reason: "no socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(reason: "cannot connect to port \(port)") }
        var rest = Array(request.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { throw Failure(reason: "no head") }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        headers = Dictionary(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (parts[0].lowercased(), parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
            }, uniquingKeysWith: { first, _ in first })
        body = Array(received[end.upperBound...])
    }

    /// A GET that closes its connection.
    static func get(_ port: Int, _ path: String, _ headers: [String] = []) async throws -> RawHTTP {
        let head = ["GET \(path) HTTP/1.1", "Host: tiles.example:8080", "Connection: close"] + headers
        return try await send(port: port, head.joined(separator: "\r\n") + "\r\n\r\n")
    }
}
