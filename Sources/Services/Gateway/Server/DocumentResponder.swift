internal import HTTPTypes
internal import HummingbirdCore
internal import TextFormats
internal import WebServer

/// Answers with a document in memory.
enum DocumentResponder {
    /// The document, packed for clients that take gzip; 304 when the client has it.
    ///
    /// - Throws: ``Problem`` `precondition-failed`.
    static func answer(
        _ document: ServedDocument, to request: Request, cacheControl: String = "no-cache"
    ) throws(Problem) -> WholeAnswer {
        let (body, tag, isPacked) = document.form(acceptEncoding: request.headers[.acceptEncoding])
        var headers: HTTPFields = [
            .eTag: "\(tag)", .vary: "Accept-Encoding", .cacheControl: cacheControl, .acceptRanges: "none",
        ]
        switch Conditions(request.headers).outcome(Conditions.Validators(tag: tag)) {
        case .failed:
            throw Problem(.preconditionFailed, "The document has the tag \(tag).", headers: [.eTag: "\(tag)"])
        case .notModified: return WholeAnswer(status: .notModified, headers: headers)
        case .proceed: break
        }
        headers[.contentType] = document.mediaType
        if isPacked { headers[.contentEncoding] = "gzip" }
        return WholeAnswer(status: .ok, headers: headers, body: body)
    }

    /// The same, for a handler that is waited for.
    static func respond(
        _ document: ServedDocument, to request: Request, cacheControl: String = "no-cache"
    ) throws(Problem) -> Response {
        try answer(document, to: request, cacheControl: cacheControl).response
    }
}
