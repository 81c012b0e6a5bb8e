/// One header line of a request.
public struct HeaderField: Sendable, Hashable {
    /// The name, as sent.
    public let name: String
    /// The value, as sent.
    ///
    /// It may be a secret, so it appears in no error and no log.
    public let value: String

    /// Creates a header line.
    ///
    /// It is checked when the request is sent.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the line can be sent without becoming two lines.
    var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}

/// The configuration of a ``TransferClient``.
public struct TransferOptions: Sendable {
    /// Whether bodies may come with the coding gzip, which is not decoded; otherwise they are asked for as they are.
    public var acceptsGzip = true
    /// Largest number of requests in flight, and of connections.
    ///
    /// Range 1...256, default 8.
    public var concurrency = 8
    /// Requests started per second, retries included; `nil` = no limit.
    public var requestsPerSecond: Double?
    /// The User-Agent of every request.
    public var userAgent = "Packhorse/0.1"
    /// Sent with every request to the requested host, and never to another host after a redirect.
    public var headers: [HeaderField] = []
    /// Uses HTTP/2 where the server offers it over TLS; otherwise HTTP/1.1 with keep-alive.
    ///
    /// Off by default: HTTP/1.1 is as fast at these sizes and loses no request when a server closes a connection.
    /// HTTP/2 without TLS is never used: libcurl 7.88 breaks it (curl#10634).
    public var http2 = false
    /// Time limit for a connection.
    ///
    /// Seconds, default 10.
    public var connectTimeout: Duration = .seconds(10)
    /// Time limit for a whole request.
    ///
    /// Seconds, default 60.
    public var totalTimeout: Duration = .seconds(60)
    /// A transfer slower than 100 bytes/s for this long is aborted.
    ///
    /// Whole seconds, default 20.
    public var stallTimeout: Duration = .seconds(20)
    /// The largest accepted body.
    ///
    /// Bytes, default 16 MiB.
    public var maxBodyBytes = 16 << 20
    /// The largest number of redirects.
    ///
    /// Default 5.
    public var maxRedirects = 5
    /// Called with the target of each redirect.
    ///
    /// A returned text refuses the redirect and becomes the error's message.
    public var redirectRefusal: @Sendable (String) -> String? = { _ in nil }
    /// When and how often a request is retried.
    public var retry = RetryPolicy()
    /// The budget from which each request, including retries, takes a permit, instead of ``requestsPerSecond``; `nil` =
    /// none.
    ///
    /// While the origin throttles or is down, requests wait for permits and do not use up their attempts.
    public var budget: OriginBudget?
    /// Called on the client's thread with the duration of each attempt that was answered, whatever the status; `nil` = not needed.
    public var onAnswer: (@Sendable (Duration) -> Void)?
    /// A PEM file of trusted certificates instead of the system's.
    public var certificateFile: String?

    /// The defaults.
    public init() {}
}
