internal import ClusterClient
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import Logging
internal import Synchronization
internal import WebServer

/// The services of a running gateway, which live as long as it does.
final class GatewayServices: Sendable {
    let options: GatewayOptions
    let watch: CatalogWatch
    let archives: OpenArchives
    let styles = OpenStyles()
    let world = WorldMap()
    let uploads = AreaUploads()
    let tilesets: OfferedTilesets
    /// `nil` when the program asks no tile server.
    let sampler: MapSampler?
    /// The other catalogs that are read, by name.
    let otherCatalogs: [String: CatalogWatch]
    let metrics = GatewayMetrics()
    let connections: ConnectionCounts
    let tokens: TokenFolder?
    let access: AccessControl
    /// `nil` without a coordinator.
    let link: ClusterLink?
    let streams = StreamCounts()
    let eventTexts = EventTexts()
    /// `nil` without a coordinator.
    let feed: EventFeed?
    let bodies = SentBodies()
    private let service = Mutex<ExtractService?>(nil)
    let logger: Logger

    /// - Parameter client: Reaches the coordinator; `nil` without one.
    private init(_ options: GatewayOptions, _ client: ControlClient?, logger: Logger) {
        self.options = options
        self.logger = logger
        tilesets = OfferedTilesets(options.tilesets, logger: logger)
        sampler = options.sample.map { MapSampler($0) }
        watch = CatalogWatch(options.catalog, logger: logger)
        otherCatalogs = options.otherCatalogs.mapValues { CatalogWatch($0, logger: logger) }
        archives = OpenArchives(threads: 2 * ProcessInfo.processInfo.activeProcessorCount)
        connections = ConnectionCounts(most: options.maxConnections, maxEach: options.maxConnectionsEach)
        tokens = options.tokens.map { TokenFolder($0, logger: logger) }
        access = AccessControl(options, tokens: tokens, metrics: metrics)
        let counts = metrics
        let link = client.map { ClusterLink($0, metrics: counts) }
        self.link = link
        feed = link.map { [eventTexts] link in
            EventFeed(texts: eventTexts) { (after) throws(Problem) in
                try await link.ask {
                    try await $0.events(after: after, limit: UInt32(EventFeed.limit), wait: EventResponder.wait)
                }
            }
        }
        if link != nil { service.withLock { $0 = ExtractService(self, rules: options.extractRules) } }
    }

    /// Makes the services.
    ///
    /// - Throws: ``GatewayError`` `bad-configuration` for an option that cannot be used, `catalog-missing` for a catalog
    ///   whose folder does not exist.
    static func make(_ options: GatewayOptions, logger: Logger) throws(GatewayError) -> GatewayServices {
        _ = try CatalogFolder(options.catalog)
        if let wrong = options.problem { throw GatewayError(.badConfiguration, wrong.text) }
        if let folder = options.tokens {
            do throws(GatewayError) { _ = try CatalogFolder(folder) } catch {
                throw GatewayError(
                    .badConfiguration, "The folder of tokens '\(folder.path)' cannot be read.",
                    hint: "create it: mkdir -p '\(folder.path)'")
            }
        }
        var client: ControlClient?
        if let access = options.coordinator { client = try ClusterLink.client(access) }
        return GatewayServices(options, client, logger: logger)
    }

    /// Builds packages on request; `nil` without a coordinator.
    var extracts: ExtractService? { service.withLock { $0 } }

    /// The link to the coordinator.
    ///
    /// - Throws: ``Problem`` `no-coordinator`.
    var cluster: ClusterLink {
        get throws(Problem) {
            guard let link else { throw Problem(.noCoordinator, "This gateway was started without a coordinator.") }
            return link
        }
    }

    /// Ends what would keep the services alive.
    func close() async {
        service.withLock { $0 = nil }
        await link?.close()
    }

    /// The rules for each connection.
    var connectionRules: ConnectionRules {
        var rules = ConnectionRules()
        rules.clock.head = options.headSeconds
        rules.clock.reader = options.readerSeconds
        // A file with an area is the longest body; one that is a little longer is refused with the limit in words.
        rules.bodyBytes = AreaUploads.mostBytes + (1 << 20)
        rules.counts = connections
        rules.proxies = options.trustedProxies.compactMap(NetworkRange.init)
        rules.onCut = { [metrics] in metrics.cut($0) }
        return rules
    }

    /// Reads the catalog and the tokens now.
    func refresh() async {
        tokens?.refresh()
        await watch.refresh()
        for other in otherCatalogs.values { await other.refresh() }
    }

    /// The catalog of a name.
    ///
    /// - Throws: ``Problem`` `not-found`, `catalog-away`.
    func snapshot(ofCatalog name: String) throws(Problem) -> CatalogSnapshot {
        guard name != Self.mainCatalog else { return try watch.snapshot }
        guard let other = otherCatalogs[name] else {
            throw Problem(.notFound, "This gateway reads no catalog '\(name.prefix(60))'; see /v1/catalogs.")
        }
        return try other.snapshot
    }

    /// The name of the catalog that the coordinator publishes into unless a job says another one.
    private static let mainCatalog = "main"

    /// Reads every token file again, and the catalog.
    func reloadTokens() async -> String {
        await watch.refresh()
        guard let tokens else { return "no folder of tokens" }
        return tokens.reload()
    }

    /// Looks for changes until the task is cancelled.
    func run() async {
        async let reading: Void = tilesets.readMissing()
        async let feeding: Void? = feed?.run()
        while !Task.isCancelled {
            options.onRound()
            await refresh()
            watch.current.snapshot?.folder.closeUnused()
            await extracts?.refresh()
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: CatalogWatch.interval)
        }
        _ = await (reading, feeding)
    }
}
