public import Foundation
internal import WebServer

/// What a gateway serves, where, and to whom.
public struct GatewayOptions: Sendable {
    /// Who may read `/metrics`.
    public enum MetricsAccess: String, Sendable, CaseIterable {
        /// Everybody.
        case open
        /// Holders of a token with the role viewer or operator.
        case viewer
        /// No one.
        case off
    }

    /// The folder of the catalog.
    public var catalog: URL
    /// The address or name to listen on.
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 7480
    /// The address under which clients reach this server, such as `https://maps.example.com`; `nil` = the Host of each
    /// request.
    public var publicURL: String?
    /// The folder with token files; `nil` = no token is known.
    public var tokens: URL?
    /// Whether the catalog, tiles and styles need a token, too.
    public var isPrivate = false
    /// Who may read the metrics.
    public var metrics = MetricsAccess.viewer
    /// Addresses or ranges (`10.0.0.0/8`) of proxies whose `X-Forwarded-` headers count.
    public var trustedProxies: [String] = []
    /// The path of an internal location of nginx with the catalog's folder, with a slash at both ends.
    ///
    /// Then nginx sends files after the checks of the gateway (`X-Accel-Redirect`). `nil` = the gateway sends them.
    public var accelerated: String?
    /// Origins whose pages may use `/v1`; `*` allows all.
    public var corsOrigins: [String] = []
    /// Whether tokens are taken on an address beyond loopback, because a proxy in front encrypts, or because it was
    /// allowed.
    public var takesTokensUnencrypted = false
    /// Whether clients on this machine have no rates; those behind a trusted proxy always have them.
    public var exemptsLoopback = true
    /// Open connections in all.
    public var maxConnections = 10_000
    /// Open connections of one address.
    public var maxConnectionsEach = 64
    /// Unit: seconds for a request head; other deadlines have fixed values.
    public var headSeconds = 10.0
    /// Unit: seconds in which a client must take something of an answer.
    public var readerSeconds = 60.0

    /// How the coordinator is reached; `nil` = the gateway serves the catalog alone.
    package var coordinator: ClusterAccess?
    /// What may be submitted over HTTP; their files are on this machine, because a tileset decides which servers
    /// workers ask and with which secrets.
    package var tilesets: [TilesetSource] = []
    /// Fetches the tiles of a sample; `nil` = sizes come from what was built before alone.
    package var sample: MapSample.Source?
    /// The folders of other catalogs, such as one for staging, by name: those who may read the cluster can compare them with the main one.
    public var otherCatalogs: [String: URL] = [:]
    /// The most tiles of an extract.
    public var extractTiles: UInt64 = 5_000
    /// The bounds of held requests.
    var extractRules = ExtractRules()
    /// The files of the page; `nil` = none.
    package var page: PageFiles?

    /// Called by the loop that looks for changes, every second.
    ///
    /// Default: does nothing.
    public var onRound: @Sendable () -> Void = {}

    /// Options with default values for a catalog.
    public init(catalog: URL) { self.catalog = catalog }

    /// Whether only this machine can reach the server.
    var isLocal: Bool { host == "localhost" || NetworkAddress(host)?.isLoopback ?? false }
}
