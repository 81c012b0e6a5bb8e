/// Where the tiles are: a scheme and its addresses.
public struct TileSource: Sendable, Hashable {
    /// What kind of source it is.
    public let scheme: SourceScheme
    /// Tile URL templates, used in rotation by tile; for several archives the text of each (``ArchivePart``); for every other scheme one address: an absolute path or a URL.
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

    /// Whether tiles are parts of files on a server, so that a request fetches many of them.
    public var isReadInRanges: Bool { scheme.row.target == .remoteFile || firstURL != nil && scheme == .archives }

    /// The first address on a server; `nil` for files of this machine.
    var firstURL: String? {
        guard scheme == .archives else { return path == nil ? addresses.first : nil }
        return addresses.lazy.compactMap(ArchivePart.init).first(where: \.isRemote)?.address
    }

    /// The absolute path of the file of this machine that has the tiles; `nil` for servers.
    public var path: String? { scheme.row.target == .file ? addresses.first : nil }
}
