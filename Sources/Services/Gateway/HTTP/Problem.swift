internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import WebServer

/// An error answer: RFC 9457, with the members `code`, `hint` and `retriable` of our own.
struct Problem: Error, Sendable {
    var code: ProblemCode
    /// What happened to this request.
    var detail: String
    /// More headers, such as Allow.
    var headers: HTTPFields = [:]
    /// Unit: seconds.
    var retryAfter: Int?

    init(_ code: ProblemCode, _ detail: String, headers: HTTPFields = [:], retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.headers = headers
        self.retryAfter = retryAfter
    }

    private struct Document: Encodable {
        let type: String
        let title: String
        let status: Int
        let detail: String
        let instance: String
        let code: String
        let hint: String
        let retriable: Bool
    }

    /// The answer.
    ///
    /// - Parameter id: The id of the request.
    func answer(id: String) -> WholeAnswer {
        let document = Document(
            type: "/problems/\(code.rawValue)", title: code.title, status: code.status, detail: detail,
            instance: "urn:uuid:\(id)", code: code.rawValue, hint: code.remedy, retriable: code.isRetriable)
        var fields = headers
        fields[.contentType] = "application/problem+json"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        return WholeAnswer(
            status: .init(code: code.status), headers: fields, body: ByteBuffer(bytes: JSONDocument.encode(document)))
    }
}

/// JSON with sorted keys.
enum JSONDocument {
    /// The bytes, with a line feed at the end.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The documents of this module have finite numbers and text only, which can always be encoded.
        return (try? encoder.encode(value)).map { [UInt8]($0) + [0x0A] } ?? []
    }
}
