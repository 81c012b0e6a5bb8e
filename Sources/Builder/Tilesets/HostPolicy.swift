public import Errors

/// Hosts whose owners forbid bulk downloads: Packhorse sends them no requests.
///
/// A host is on the list only where its published policy says so; the list names the page.
public enum HostPolicy {
    /// A host (with all hosts below it) and the page that forbids.
    struct Rule {
        let domain: String
        let owner: String
        let page: String
    }

    static let rules = [
        Rule(
            domain: "tile.openstreetmap.org", owner: "the OpenStreetMap Foundation",
            page: "https://operations.osmfoundation.org/policies/tiles/"),
        Rule(
            domain: "tile.osm.org", owner: "the OpenStreetMap Foundation",
            page: "https://operations.osmfoundation.org/policies/tiles/"),
        Rule(
            domain: "vector.openstreetmap.org", owner: "the OpenStreetMap Foundation",
            page: "https://operations.osmfoundation.org/policies/vector/"),
        Rule(
            domain: "tile.openstreetmap.de", owner: "FOSSGIS e.V.",
            page: "https://www.fossgis.de/arbeitsgruppen/osm-server/nutzungsbedingungen/"),
        Rule(
            domain: "tile.openstreetmap.fr", owner: "OpenStreetMap France",
            page: "https://www.openstreetmap.fr/fonds-de-carte/"),
        Rule(
            domain: "tile.opentopomap.org", owner: "OpenTopoMap", page: "https://opentopomap.org/about"),
    ]

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
        if let rule = rules.first(where: { rule in
            host.name == rule.domain || host.name.hasSuffix(".\(rule.domain)")
        }) {
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
