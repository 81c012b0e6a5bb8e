package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// An answer whose body is in memory.
package struct WholeAnswer: Sendable {
    package var status: HTTPResponse.Status
    /// With the length of the body.
    package var headers: HTTPFields
    /// `nil` = none.
    package private(set) var body: ByteBuffer?

    /// An answer with the length of its body in its head.
    package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        if !headers.contains(.contentLength) { self.headers[.contentLength] = String(body?.readableBytes ?? 0) }
    }

    /// The same head, without a body: the answer to HEAD.
    package mutating func dropBody() { body = nil }

    /// The same answer for the writer of tasks.
    package var response: Response {
        Response(status: status, headers: headers, body: body.map { .init(byteBuffer: $0) } ?? .init())
    }
}
