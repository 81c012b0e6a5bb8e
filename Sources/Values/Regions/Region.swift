public import Tiles

/// A node of the world tree: the world, a continent, a sub-continent, a country or a region of a country.
public struct Region: Sendable, Identifiable {
    /// The level of a region in the tree.
    public enum Kind: String, Sendable, Comparable, CaseIterable {
        case world
        case continent
        case subcontinent
        case country
        case region

        /// 0 for the world, 4 for a region of a country.
        public var depth: Int {
            switch self {
            case .world: 0
            case .continent: 1
            case .subcontinent: 2
            case .country: 3
            case .region: 4
            }
        }

        /// Orders wide before narrow: the world is the smallest value.
        public static func < (left: Kind, right: Kind) -> Bool { left.depth < right.depth }
    }

    /// ISO 3166-1 alpha-2 (`EE`) for a country, ISO 3166-2 (`DE-BY`) for a region, a UN M.49 number (`150`, world `001`) above.
    public let id: String
    /// The level in the tree.
    public let kind: Kind
    /// The id of the region this one lies in; `nil` for the world.
    public let parentID: String?
    /// Names by language code; every embedded region has all of ``RegionTree/languages``.
    public var names: [String: String] { named.all }
    /// The box round the ground and the island boxes, in degrees; west > east when it crosses the antimeridian.
    public let bounds: BoundingBox
    /// Whether the boundary comes from `regions import` and not from the embedded tree.
    public let isImported: Bool

    /// The name in a language, or else in English, or else the id.
    ///
    /// - Parameter language: A language code such as `et`; `et-EE` and `et_EE` count as `et`.
    public func name(_ language: String) -> String {
        let base = language.prefix { $0 != "-" && $0 != "_" }.lowercased()
        return named[base] ?? named["en"] ?? id
    }

    let named: RegionNames
}
