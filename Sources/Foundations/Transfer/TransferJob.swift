/// A request with its state over all attempts.
///
/// Owned by the transfer thread once it was submitted.
struct TransferJob: Sendable {
    let request: TransferRequest
    let download: Download
    let submitted: ContinuousClock.Instant
    /// The URL of the current hop.
    var url: String
    var attempt = 1
    /// When this attempt started.
    var begun: ContinuousClock.Instant?
    /// Attempts that were no evidence against this request.
    var idle: IdleAttempts
    /// The bytes that earlier attempts received of a range.
    var held = HeldRange()
    var redirects = 0
    var received = 0
    /// Whether a redirect led to another host.
    ///
    /// Then none of our headers are sent.
    var isCrossOrigin = false

    init(_ request: TransferRequest, download: Download, at now: ContinuousClock.Instant) {
        self.request = request
        self.download = download
        submitted = now
        idle = IdleAttempts(hasFailedBefore: request.hasFailedBefore)
        url = request.url
    }

    /// The headers of the request, as far as the host of the current address may have them.
    ///
    /// Another host gets only Range, which is no secret: without it a resumed download would start over.
    /// The validators of one address say nothing about another (RFC 9110, 8.8.3), so after a redirect no conditional
    /// headers are sent.
    var extraHeaders: [HeaderField] {
        if isCrossOrigin { return request.headers.filter { $0.name.lowercased() == "range" } }
        guard redirects > 0 else { return request.headers }
        return request.headers.filter { !["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }

    /// Starts over from the original URL.
    ///
    /// - Parameter counts: Whether the last attempt counts against the limit.
    mutating func startAgain(counts: Bool = true) {
        if counts { attempt += 1 }
        url = request.url
        redirects = 0
        isCrossOrigin = false
    }

    /// Moves to the target of a redirect.
    mutating func follow(_ target: String) {
        redirects += 1
        url = target
        isCrossOrigin = WebOrigin(request.url) == nil || WebOrigin(target) != WebOrigin(request.url)
    }
}

/// Scheme, host and port of a URL: the destination for which a secret header is intended.
struct WebOrigin: Hashable {
    let scheme: String
    let authority: String

    /// `nil` unless the text is an http or https URL with a plain host.
    ///
    /// URLs with user information or backslashes are not accepted: parsers disagree about the host of such a URL.
    init?(_ url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let host = url[mark.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x40 && $0 != 0x5C }) else {
            return nil
        }
        let port = scheme == "http" ? ":80" : ":443"
        authority = host.hasSuffix(port) ? String(host.dropLast(port.count)) : host
    }
}
