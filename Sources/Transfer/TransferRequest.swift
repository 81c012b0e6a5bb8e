/// One GET request.
public struct TransferRequest: Sendable {
    /// Chosen by the caller; comes back with the result.
    public var tag: UInt64
    /// An absolute http or https URL.
    public var url: String
    /// Sent besides the client's own headers, and never to another host after a redirect.
    public var headers: [HeaderField]

    /// Makes a request for `url` that is known to the caller as `tag`.
    public init(tag: UInt64, url: String, headers: [HeaderField] = []) {
        self.tag = tag
        self.url = url
        self.headers = headers
    }
}

/// An answer with the body exactly as it was sent: a content coding is reported, never undone.
public struct TransferResponse: Sendable {
    /// The HTTP status of the last attempt.
    public var status: Int
    /// The body, still in its content coding.
    public var body: [UInt8]
    /// The response headers that matter to tiles.
    public var headers: ResponseHeaders
    /// Attempts made, 1 for the first.
    public var attempts: Int
    /// Body bytes received over all attempts.
    public var received: Int
}

/// What became of a request.
public struct TransferResult: Sendable {
    /// The tag of the request.
    public var tag: UInt64
    /// The answer, whatever its status; or the failure of the last attempt.
    public var outcome: Result<TransferResponse, TransferError>
    /// From handing over to the end of the last attempt.
    public var elapsed: Duration
}
