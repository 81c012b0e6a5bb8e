/// Which part of a package an entry of a catalog is.
///
/// A package whose file would be too large is published as parts: entries `CA-1`, `CA-2` … of one version, each with the low zooms of the
/// whole package.
public struct CatalogPart: Sendable, Hashable, Codable {
    /// The id of the whole package.
    public let of: String
    /// Counts from 1.
    public let number: Int
    /// How many parts the package has.
    public let count: Int

    /// Names a part.
    public init(of: String, number: Int, count: Int) {
        self.of = of
        self.number = number
        self.count = count
    }

    /// The id of the entry: `CA-2`.
    public var id: String { "\(of)-\(number)" }

    /// The largest number of parts of a package.
    public static let most = 256

    /// Whether it can be the part of an entry with this id.
    package func fits(_ id: String) -> Bool {
        CatalogEntry.isID(of) && (1...Self.most).contains(count) && (1...count).contains(number) && id == self.id
    }
}
