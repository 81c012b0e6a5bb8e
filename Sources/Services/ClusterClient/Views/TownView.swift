package import Regions

/// A town as JSON, as `packhorse regions find` prints it and the gateway answers; the keys are stable.
package struct TownView: Encodable, Sendable {
    /// ``Town/key``: what names of areas may say, with a margin.
    let id: String
    let name: String
    let country: String
    let region: String
    /// The region's path, and the name of the town.
    let path: String
    /// 0 when it is not known.
    let population: Int
    /// Degrees, with five decimals: about 1 m, as exact as the list of towns.
    let longitude: Double
    /// The same.
    let latitude: Double

    /// - Parameter language: The language of the regions in `path`, such as `en`.
    package init(_ town: Town, in tree: RegionTree, language: String) {
        id = town.key
        name = town.name
        country = town.country
        region = town.regionID
        path = "\(tree.path(of: town.regionID, language: language))/\(town.name)"
        population = town.population
        longitude = Self.rounded(town.longitude)
        latitude = Self.rounded(town.latitude)
    }

    private static func rounded(_ degrees: Double) -> Double { (degrees * 1e5).rounded() / 1e5 }
}
