/// A request on its way: the state it carries from attempt to attempt.
///
/// Owned by the transfer thread once handed over.
struct TransferJob: Sendable {
    let request: TransferRequest
    let download: Download
    let submitted: ContinuousClock.Instant
    /// The URL of the current hop.
    var url: String
    var attempt = 1
    /// When this attempt began.
    var begun: ContinuousClock.Instant?
    /// Attempts that told nothing about this request.
    var idle: IdleAttempts
    /// What earlier attempts received of a range.
    var held = HeldRange()
    var redirects = 0
    var received = 0
    /// Whether a redirect led to another host: then no header of ours goes along.
    var isAbroad = false

    init(_ request: TransferRequest, download: Download, at now: ContinuousClock.Instant) {
        self.request = request
        self.download = download
        submitted = now
        idle = IdleAttempts(hasFailedBefore: request.hasFailedBefore)
        url = request.url
    }

    /// What an earlier answer of one address proves says nothing about another (RFC 9110, 8.8.3): behind a redirect nothing is asked
    /// conditionally.
    var extraHeaders: [HeaderField] {
        if isAbroad { return [] }
        guard redirects > 0 else { return request.headers }
        return request.headers.filter { !["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }

    /// Starts over from the URL that was asked for.
    ///
    /// - Parameter counts: Whether the attempt before is one of those allowed.
    mutating func startAgain(counts: Bool = true) {
        if counts { attempt += 1 }
        url = request.url
        redirects = 0
        isAbroad = false
    }

    /// Moves to the target of a redirect.
    mutating func follow(_ target: String) {
        redirects += 1
        url = target
        isAbroad = WebOrigin(request.url) == nil || WebOrigin(target) != WebOrigin(request.url)
    }
}

/// Scheme, host and port of a URL: what a secret header is meant for.
struct WebOrigin: Hashable {
    let scheme: String
    let authority: String

    /// `nil` unless the text is an http or https URL with a plain host.
    ///
    /// User information and backslashes are not taken: readers disagree about which host such a URL names.
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
