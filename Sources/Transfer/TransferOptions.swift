/// One header line of a request.
public struct HeaderField: Sendable, Hashable {
    /// The name, as sent.
    public let name: String
    /// The value, as sent.
    ///
    /// May be a secret: it appears in no error and no log.
    public let value: String

    /// Makes a header line; it is checked when the request is made.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the line can be sent without becoming two.
    var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}

/// How a ``TransferClient`` behaves towards the servers it talks to.
public struct TransferOptions: Sendable {
    /// Requests in flight at once, and connections at most.
    ///
    /// Range 1...256, default 8.
    public var concurrency = 8
    /// Requests started per second, retries included; `nil` = no limit.
    public var requestsPerSecond: Double?
    /// Sent with every request.
    public var userAgent = "Packhorse/0.1"
    /// Sent with every request to the host that was asked for, and never to another host after a redirect.
    public var headers: [HeaderField] = []
    /// HTTP/2 where the server offers it over TLS; otherwise HTTP/1.1 with keep-alive.
    ///
    /// Off by default: HTTP/1.1 is as fast at these sizes and loses no request when a server retires a connection
    /// (docs/performance.md, "HTTP/1.1 or HTTP/2"). HTTP/2 without TLS is never spoken: libcurl 7.88 breaks it (curl#10634).
    public var http2 = false
    /// Until a connection stands.
    ///
    /// Seconds, default 10.
    public var connectTimeout: Duration = .seconds(10)
    /// For a whole request.
    ///
    /// Seconds, default 60.
    public var totalTimeout: Duration = .seconds(60)
    /// A transfer slower than 100 bytes/s for this long is given up.
    ///
    /// Whole seconds, default 20.
    public var stallTimeout: Duration = .seconds(20)
    /// The largest body taken.
    ///
    /// Bytes, default 16 MiB.
    public var maxBodyBytes = 16 << 20
    /// Redirects followed at most.
    ///
    /// Default 5.
    public var maxRedirects = 5
    /// Called with the target of each redirect; a returned text refuses it and becomes the error's message.
    public var redirectRefusal: @Sendable (String) -> String? = { _ in nil }
    /// When and how often a request is tried again.
    public var retry = RetryPolicy()
    /// Whose permits each request needs, retries included, instead of ``requestsPerSecond``; `nil` = nobody's.
    ///
    /// While the origin throttles or is down, requests wait for permits and do not use up their attempts.
    public var budget: OriginBudget?
    /// A PEM file of trusted certificates instead of the system's.
    public var certificateFile: String?

    /// The defaults.
    public init() {}
}
