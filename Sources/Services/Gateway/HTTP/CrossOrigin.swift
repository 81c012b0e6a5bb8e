internal import HTTPTypes
internal import HummingbirdCore
internal import WebRequests
internal import WebServer

/// What pages of other origins may do (the Fetch standard's CORS).
///
/// Everybody may read what is published; `/v1` is for the origins that the operator named. Credentials are never
/// allowed: the gateway uses no cookies.
enum CrossOrigin {
    private static let exposed = "ETag, Content-Range, Repr-Digest, Link, Location, Retry-After, X-Request-Id"

    /// The answer to a question that a browser asks before a request; `nil` for other requests.
    static func preflight(_ request: Request, _ path: RequestPath, _ origins: [String]) -> WholeAnswer? {
        guard request.method == .options, request.headers.value(.accessControlRequestMethod) != nil else {
            return nil
        }
        let isAPI = path.segments.first == "v1"
        var headers: HTTPFields = [.vary: "Origin"]
        if let origin = allowed(request, isAPI, origins) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlAllowMethods] = isAPI ? "GET, HEAD, POST, PUT, DELETE" : "GET, HEAD"
            headers[.accessControlAllowHeaders] =
                "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, Prefer"
            headers[.accessControlMaxAge] = "86400"
        }
        return WholeAnswer(status: .noContent, headers: headers)
    }

    /// Adds what a page of another origin may read.
    static func allow(_ headers: inout HTTPFields, _ request: Request, _ origins: [String]) {
        guard headers[.accessControlAllowOrigin] == nil else { return }
        let isAPI = request.head.path?.hasPrefix("/v1") ?? false
        guard let origin = allowed(request, isAPI, origins) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = exposed
        guard origin != "*" else { return }
        headers[.vary] = [headers[.vary], "Origin"].compactMap(\.self).joined(separator: ", ")
    }

    private static func allowed(_ request: Request, _ isAPI: Bool, _ origins: [String]) -> String? {
        guard isAPI, !origins.contains("*") else { return "*" }
        return request.headers[.origin].flatMap { origins.contains($0) ? $0 : nil }
    }
}
