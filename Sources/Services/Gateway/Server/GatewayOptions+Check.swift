internal import WebServer

extension GatewayOptions {
    /// An option whose value no gateway can use, by its name on the command line, and why; `nil` when there is none.
    ///
    /// Nothing is opened.
    public var problem: (option: String, text: String)? {
        if let wrong = trustedProxies.first(where: { NetworkRange($0) == nil }) {
            return ("trusted-proxy", "'\(wrong)' is neither an IP address nor a range such as 10.0.0.0/8.")
        }
        if let publicURL, !Self.isAddress(publicURL) {
            return ("public-url", "'\(publicURL)' is not an address such as https://maps.example.com.")
        }
        // A browser's Origin header has a scheme and a host alone.
        if let wrong = corsOrigins.first(where: { !Self.isOrigin($0) }) {
            return (
                "cors-origin",
                "'\(wrong)' is not an origin such as https://app.example.com, without a slash at its end, or *."
            )
        }
        return nil
    }

    private static func isAddress(_ text: String) -> Bool {
        let scheme = text.hasPrefix("https://") ? 8 : text.hasPrefix("http://") ? 7 : 0
        return scheme > 0 && PublicAddress.isHost(String(text.dropFirst(scheme).prefix { $0 != "/" }))
            && !text.contains { "?#\"<> ".contains($0) }
    }

    /// `null` is the origin of local files; apps have schemes of their own.
    private static func isOrigin(_ text: String) -> Bool {
        text == "*" || text == "null" || text.wholeMatch(of: /[a-z][a-z0-9+.-]*:\/\/[^\/?#" ]+/) != nil
    }
}
