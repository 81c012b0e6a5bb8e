/// A populated place of the embedded list: one of GeoNames with more than 5,000 people, or a smaller seat of an administration.
public struct Town: Sendable, Hashable, Identifiable {
    /// The number that GeoNames gives it.
    public let id: Int
    /// The name that GeoNames uses, mostly the English one.
    public let name: String
    /// The id of its region in the tree: its country (`EE`), in a country with regions one of these (`US-IL`).
    public let regionID: String
    /// Degrees, -180...180, at most 1.2 m from the source.
    public let longitude: Double
    /// Degrees, -90...90, at most 0.6 m from the source.
    public let latitude: Double
    /// How many people live there; 0 when it is not known.
    public let population: Int

    /// ISO 3166-1 alpha-2.
    public var country: String { String(regionID.prefix(2)) }
    /// A text that means this town alone: `geonames:588335`.
    public var key: String { Self.keyStart + "\(id)" }

    static let keyStart = "geonames:"
}
