public import Errors
internal import TextFormats

/// Hosts whose owners forbid bulk downloads (`BulkDownloads`): Packhorse sends them no requests.
public enum HostPolicy {
    /// Whether a URL's host is on this machine or a private network; `nil` if the text is not an http or https URL.
    public static func isPrivate(_ urlText: String) -> Bool? { URLHost(urlText)?.isPrivate }

    /// Refuses a URL or template whose host forbids bulk downloads, or whose host is ambiguous.
    ///
    /// Handles upper and lower case, percent-encoding, user information, trailing dots, full-width letters, and
    /// backslashes. Expand `{s}` first.
    /// - Throws: ``TilesetsError`` `.hostRefused` with the reason and the policy's address, `.badTemplate` when the URL
    ///   has no plain host.
    public static func check(_ urlText: String) throws(TilesetsError) {
        guard let host = URLHost(urlText) else {
            throw TilesetsError(.badTemplate, "A tile URL must start with http:// or https://.")
        }
        if let rule = BulkDownloads.rule(against: host) {
            throw TilesetsError(
                .hostRefused,
                "\(host.name) belongs to \(rule.owner), whose policy forbids bulk downloads; Packhorse does not fetch "
                    + "from it. Read \(rule.page) and use a server that allows it, your own, or an MBTiles or PMTiles file."
            )
        }
        guard !host.hasUserInfo else {
            throw TilesetsError(
                .literalSecret,
                "A tile URL carries user information; write it as headers: Authorization: \"Basic ${VARIABLE}\" instead."
            )
        }
        guard host.isPlain else {
            throw TilesetsError(
                .badTemplate,
                "A tile URL has no plain host; write it as https://host.example/ in letters, digits, dots, and hyphens."
            )
        }
    }
}
