import Catalog

/// Warnings about absolute addresses in `packages.json` at which clients cannot find the files.
package enum CatalogAddress {
    /// For lists that are pushed unchanged: an address of this machine is useless for other clients.
    package static func warnings(ofPushed bases: Set<String>) -> [String] {
        bases.sorted().filter(Catalog.isLoopback).map {
            "packages.json names its files at '\($0)', which leads each client to its own machine: CARTO's client cannot fetch them. "
                + "Push with --url and the public address of the target"
        }
    }

    /// For lists that were read from a server: their files are expected below the same address.
    package static func warnings(of bases: Set<String>, servedAt place: String) -> [String] {
        bases.sorted().filter { $0 != place }.map {
            "packages.json names its files at '\($0)', but it was read from '\(place)': CARTO's client uses the first address. "
                + "Give the coordinator --catalog-url, or push with --url"
        }
    }
}
