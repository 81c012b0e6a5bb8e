import Blobs
import Catalog
import Errors
public import Logging
public import ServiceLifecycle
import StateBackups
import Telemetry
import Wire
import ZeroMQ

/// The coordinator: owns the state file, hands out work, publishes packages.
///
/// Opened in this order, so that a crash at any point is harmless: state file (exclusive, with a new durable epoch),
/// blob store, catalog, sockets.
public struct CoordinatorService: Service, CustomStringConvertible {
    /// The name of the service in logs.
    public var description: String { "coordinator" }
    /// Where the command line connects, with the port that was bound.
    public let controlEndpoint: String
    /// Where workers connect, with the port that was bound.
    public let workEndpoint: String
    /// Where blobs are streamed, with the port that was bound; `nil` = not streamed.
    public let blobEndpoint: String?
    let environment: LoopEnvironment
    let blobServer: BlobServer?

    /// Opens all files and binds the sockets; ``run()`` serves.
    ///
    /// Blocks while the integrity of the state file is checked. What a failed start created is removed, except folders.
    ///
    /// - Throws: ``CoordinatorError``; `StorageError` and `CatalogError` for their folders; `ZeroMQError` when an
    ///   endpoint cannot be bound.
    public init(_ options: CoordinatorOptions, logger: Logger) throws {
        try self.init(options, logger: logger) {
            CatalogFolderWriter(
                catalog: $0, patchMaker: options.patchMaker, patchVersions: options.patchVersions, logger: logger)
        }
    }

    /// The same with another writer of the catalog, for tests.
    init(_ options: CoordinatorOptions, logger: Logger, writer: (Catalog) -> any CatalogWriter) throws {
        let start = FreshDataFolder(options)
        let store = try StateStore(folder: options.data)
        do {
            try self.init(store, options, logger: logger, writer: writer)
        } catch {
            start.remove(store)
            throw error
        }
    }

    private init(
        _ store: StateStore, _ options: CoordinatorOptions, logger: Logger, writer: (Catalog) -> any CatalogWriter
    ) throws {
        let claim = PlaceClaim(epoch: store.epoch, run: UInt64.random(in: 0 ... .max), lineage: store.lineage)
        let tenure = TenureWatch(
            claim, backups: options.backups.map { StateBackups($0, store: store, data: options.data, claim: claim) },
            catalogs: [options.catalog] + options.otherCatalogs.values.map(\.folder),
            blobs: options.store == nil ? options.blobs : nil, logger: logger)
        // Before anything is written into a catalog.
        try tenure.checkFolders()
        let blobs: any ManagedBlobStore = try options.store ?? FolderBlobStore(options.blobs, create: true)
        let catalog = try Catalog(
            options.catalog, create: true, baseURL: options.catalogBaseURL, signingKey: options.signingKey,
            keepVersions: options.keepVersions, refusal: tenure.refusal(in: options.catalog))
        let others = try options.otherCatalogs.mapValues {
            try Catalog(
                $0.folder, create: true, baseURL: $0.baseURL, signingKey: options.signingKey,
                keepVersions: options.keepVersions, refusal: tenure.refusal(in: $0.folder))
        }
        if let warning = Self.addressWarning(catalog.baseURL, options) {
            logger.warning(
                "The address of the catalog is not for other machines", metadata: [LogKey.warning: "\(warning)"])
        }
        let places = CatalogPlaces(
            main: Self.place(PublishOptions.mainCatalog, catalog), others: others.map { Self.place($0, $1) })
        var link = LinkOptions()
        link.allowPlain = options.allowPlain
        link.maxFrameBytes = [MessageType.maxControlFrame, MessageType.maxWorkFrame]
        // A peer that does not read must not delay the others. Its dropped messages are sent again later.
        link.sendPatience = .milliseconds(100)
        link.logger = logger
        let router = try RouterLink(
            bind: [options.controlBind, options.workBind], security: options.security, options: link)
        controlEndpoint = router.boundEndpoints[CoordinatorLoop.control]
        workEndpoint = router.boundEndpoints[CoordinatorLoop.work]
        // Clients fetch the blobs of a bucket directly: only a folder is served.
        let folder = blobs as? FolderBlobStore
        blobServer = try options.blobBind.flatMap { bind in
            try folder.map { BlobServer($0, router: try Self.bind(bind, options: options, link: link), logger: logger) }
        }
        blobEndpoint = blobServer?.endpoint
        environment = try LoopEnvironment(
            options: options, logger: logger, store: store, blobs: blobs,
            catalogs: CatalogTable(
                main: writer(catalog), others: others.mapValues(writer), pushPlaces: options.pushPlaces),
            places: places,
            router: router, blobPort: Self.port(of: blobEndpoint), tenure: tenure)
    }

    private static func place(_ name: String, _ catalog: Catalog) -> CatalogPlaces.Place {
        CatalogPlaces.Place(
            name: name, folder: catalog.folder,
            url: catalog.baseURL == Catalog.defaultBaseURL ? nil : catalog.baseURL)
    }

    /// A warning about a base URL that leads clients to their own machine although they are probably on others: the
    /// catalog is signed, or other machines may connect.
    static func addressWarning(_ base: String, _ options: CoordinatorOptions) -> String? {
        guard Catalog.isLoopback(base) else { return nil }
        let open = [options.controlBind, options.workBind].first { !RouterLink.isLocal($0) }
        guard options.signingKey != nil || open != nil else { return nil }
        let reason = open.map { "other machines may connect to '\($0)'" } ?? "the catalog is signed for others"
        return
            "packages.json names its files at '\(base)', which leads each client to its own machine, but \(reason); give the public address of the catalog with --catalog-url, or publish it with packhorse catalog push --url"
    }

    private static func bind(
        _ endpoint: String, options: CoordinatorOptions, link: LinkOptions
    ) throws -> RouterLink {
        do {
            return try BlobServer.bind(endpoint, security: options.security, options: link)
        } catch let error as ZeroMQError where error.code == .addressInUse {
            guard let fallback = options.blobFallback else { throw error }
            return try BlobServer.bind(fallback, security: options.security, options: link)
        }
    }

    private static func port(of endpoint: String?) -> UInt32 {
        endpoint?.split(separator: ":").last.flatMap { UInt32($0) } ?? 0
    }

    /// The page of metrics in the text format of Prometheus; `nil` before the first tick, and without
    /// ``CoordinatorOptions/exposesMetrics``.
    public func metricsPage() -> String? { environment.board?.page() }

    /// Serves until cancelled or asked to shut down, then closes the sockets and the state file.
    ///
    /// - Throws: ``CoordinatorError`` `store-failed` or `damaged-state`. Everything that was acknowledged is durable
    ///   even then.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await CoordinatorLoop(environment).run() }
                if let blobServer { group.addTask { try await blobServer.run() } }
                // Each of the two ends only when it must. Then the other one has nothing left to do.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
