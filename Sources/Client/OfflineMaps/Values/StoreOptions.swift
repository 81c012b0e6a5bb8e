public import Foundation

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// The folder of the store; on Apple's systems excluded from backups and readable after the first unlock.
    public var folder: URL
    /// The address of the catalog; `nil` for a store that is filled by hand.
    public var catalog: URL?
    /// Whose catalogs are accepted.
    public var trust: Trust
    /// The token of a catalog that its server shows with a token only (`packhorse gateway --private`); `nil` for none.
    ///
    /// It is sent as `Authorization: Bearer` to the server of ``catalog``, and to no other: not to mirrors, and not after a redirect to
    /// another host. A later call that opens the same folder with another token replaces it.
    public var token: String?
    /// How much the store may hold.
    public var quota = Quota()
    /// Which network tasks may use.
    public var networkRule = NetworkRule.any
    /// The style of regions that name none.
    public var defaultStyle: URL?
    /// Changes the address and the headers of a request, for example to add an access key.
    ///
    /// It is also asked about requests to mirrors: look at the host before adding a secret.
    public var transform: (@Sendable (ResourceRequest) async -> ResourceRequest)?
    /// Gets an address of the catalog that gave wrong bytes or an older list, once; for a log.
    ///
    /// It is called on any thread.
    public var onRefusedAddress: (@Sendable (RefusedAddress) -> Void)?
    /// What downloads; `nil` is the library's own.
    public var fetcher: (any Fetcher)?
    /// What watches the network; `nil` is the library's own.
    public var monitor: (any NetworkMonitor)?

    /// Names a folder and whose catalogs are accepted.
    public init(folder: URL, trust: Trust) {
        self.folder = folder
        self.trust = trust
    }
}

/// Whose catalogs are accepted.
public enum Trust: Hashable, Sendable {
    /// Signed by one of these keys, each a text `ed25519-public:...`.
    case keys([String])
    /// Any catalog, signed or not.
    case unsigned
}

/// What a process does with a store.
public enum Role: Sendable {
    /// It holds the lock and does the work.
    case worker
    /// Another process does the work; this one reads and asks.
    case reader
}

/// How a file comes into the store.
public enum Adoption: String, Codable, Sendable {
    /// The file is copied, by clone where the file system can.
    case copy
    /// The file is moved.
    case move
    /// The file stays where it is.
    case link
}

/// Whether a source adds what it downloads to the store.
public enum StoreUse: Sendable {
    /// The store is not read.
    case disabled
    /// The store is read; single tiles go into the ambient cache.
    case readOnly
    /// The store is read; what is missing is added as whole packs.
    case readAndUpdate
}

/// The addresses that a style gets.
public enum StyleForm: Hashable, Sendable {
    /// Addresses of a server, below this one.
    case served(at: URL)
    /// `mbtiles://` with today's path of the item's file.
    case files(of: Item)
}
