internal import HTTPTypes
internal import HummingbirdCore

/// Names of fields that the HTTP library does not have; read once, because a name is checked byte by byte.
struct OtherFieldName {
    /// `nil` only for a text that is no name.
    fileprivate let name: HTTPFields.Element.Name?

    private init(_ text: String) { name = HTTPFields.Element.Name(text) }

    static let accessControlRequestMethod = OtherFieldName("Access-Control-Request-Method")
    static let contentSecurityPolicy = OtherFieldName("Content-Security-Policy")
    static let idempotencyKey = OtherFieldName("Idempotency-Key")
    static let lastEventID = OtherFieldName("Last-Event-ID")
    static let link = OtherFieldName("Link")
    static let prefer = OtherFieldName("Prefer")
    static let referrerPolicy = OtherFieldName("Referrer-Policy")
    static let reprDigest = OtherFieldName("Repr-Digest")
    static let xAccelBuffering = OtherFieldName("X-Accel-Buffering")
    static let xAccelRedirect = OtherFieldName("X-Accel-Redirect")
    static let xForwardedFor = OtherFieldName("X-Forwarded-For")
    static let xForwardedHost = OtherFieldName("X-Forwarded-Host")
    static let xForwardedProto = OtherFieldName("X-Forwarded-Proto")
    static let xRequestID = OtherFieldName("X-Request-Id")
}

extension HTTPFields {
    /// Sets a field that the HTTP library has no name for.
    mutating func set(_ field: OtherFieldName, _ value: String) {
        guard let name = field.name else { return }
        self[name] = value
    }

    /// A field that the HTTP library has no name for.
    func value(_ field: OtherFieldName) -> String? { field.name.flatMap { self[$0] } }
}
