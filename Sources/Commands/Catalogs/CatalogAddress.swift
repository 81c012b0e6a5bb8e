import Catalog

/// What is said of the absolute addresses in `packages.json`, when clients cannot find the files there.
enum CatalogAddress {
    /// Lists that are about to be pushed as they are: an address of this machine is of no use to other clients.
    static func warnings(ofPushed bases: Set<String>) -> [String] {
        bases.sorted().filter(Catalog.isLoopback).map {
            "packages.json names its files at '\($0)', which leads each client to its own machine: CARTO's client cannot fetch them. "
                + "Push with --url and the address at which the target is served"
        }
    }

    /// Lists that were read from a server: their files are expected below the same address.
    static func warnings(of bases: Set<String>, servedAt place: String) -> [String] {
        bases.sorted().filter { $0 != place }.map {
            "packages.json names its files at '\($0)', not below '\(place)' where it was read: CARTO's client fetches them there. "
                + "Give the coordinator --catalog-url, or push with --url"
        }
    }
}
