/// Whose servers may not be asked for many tiles at once.
///
/// A host is on the list only where its published policy says so; the list names the page.
package enum BulkDownloads {
    /// A host (with all hosts below it) and the page that forbids.
    package struct Rule: Sendable {
        package let domain: String
        package let owner: String
        package let page: String
    }

    private static let rules = [
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

    /// The rule that forbids bulk downloads from a host; `nil` when none does.
    package static func rule(against host: URLHost) -> Rule? {
        rules.first { host.name == $0.domain || host.name.hasSuffix(".\($0.domain)") }
    }
}
