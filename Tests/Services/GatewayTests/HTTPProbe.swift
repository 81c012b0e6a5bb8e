import Foundation
import TestSupport

/// An HTTP client over a plain socket that shows an answer as it came.
enum HTTPProbe {
    struct Answer: Sendable {
        var status = 0
        /// In the order of the answer, names in lower case.
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []

        func header(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body is as long as Content-Length says.
        var isComplete: Bool { header("content-length").flatMap(Int.init).map { $0 == body.count } ?? true }
    }

    enum Failure: Error {
        case noAnswer(String)
    }

    /// One request on a connection of its own.
    static func get(
        _ port: Int, _ path: String, method: String = "GET", _ headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> Answer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
        lines += headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        let bytes = try await raw(port, Array(head.utf8) + body)
        guard let answer = parse(bytes, isHead: method == "HEAD") else {
            throw Failure.noAnswer(String(decoding: bytes.prefix(400), as: UTF8.self))
        }
        return answer
    }

    /// Sends bytes and returns all bytes until the server closes.
    static func raw(_ port: Int, _ bytes: [UInt8]) async throws -> [UInt8] {
        try await RawHTTPClient.exchange(bytes, with: .port(port))
    }

    /// A connection that got an answer and stays open.
    static func hold(_ port: Int) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let handle = try RawHTTPClient.connect(.port(port))
                        RawHTTPClient.write(Array("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".utf8), to: handle)
                        var buffer = [UInt8](repeating: 0, count: 1_024)
                        guard read(handle, &buffer, buffer.count) > 0 else { throw Failure.noAnswer("errno \(errno)") }
                        return handle
                    })
            }
        }
    }

    static func parse(_ bytes: [UInt8], isHead: Bool = false) -> Answer? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        var answer = Answer(status: status)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            answer.headers.append(
                (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)))
        }
        answer.body = Array(bytes[end.upperBound...])
        if answer.header("transfer-encoding") == "chunked" { answer.body = unchunked(answer.body) ?? [] }
        return answer
    }

    /// The body of chunks; `nil` when the last one is missing.
    static func unchunked(_ bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        var body: [UInt8] = []
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            guard let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16),
                rest.count >= size + 2
            else { return nil }
            rest = rest[end.upperBound...]
            if size == 0 { return body }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return nil
    }
}
