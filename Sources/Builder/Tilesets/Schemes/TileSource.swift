/// Where the tiles are: a scheme and its addresses.
public struct TileSource: Sendable, Hashable {
    /// What kind of source it is.
    public let scheme: SourceScheme
    /// Tile URL templates, used in rotation by tile; for every other scheme one address: an absolute path or a URL.
    public let addresses: [String]
    /// What `{s}` stands for in templates; empty = a, b, c.
    public let subdomains: [String]

    /// A source of several addresses.
    public init(_ scheme: SourceScheme, _ addresses: [String], subdomains: [String] = []) {
        (self.scheme, self.addresses, self.subdomains) = (scheme, addresses, subdomains)
    }

    /// A source of one address.
    public init(_ scheme: SourceScheme, _ address: String) { self.init(scheme, [address]) }

    /// The first address; empty when the source has no address.
    public var address: String { addresses.first ?? "" }

    /// The absolute path of the file of this machine that has the tiles; `nil` for servers.
    public var path: String? { scheme.row.target == .file ? addresses.first : nil }
}
