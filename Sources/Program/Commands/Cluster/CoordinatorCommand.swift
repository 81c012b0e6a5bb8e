import ArgumentParser
import Catalog
import CatalogFormat
internal import ClusterClient
internal import CommandSupport
import Coordinator
internal import Errors
import Files
import Foundation
import Logging
import MetricsServer
import ObjectStore
import S3
import StateBackups
import Telemetry
internal import TextFormats

/// `packhorse coordinator`: plans jobs, hands out work, publishes packages.
struct CoordinatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Run the coordinator: one per data folder. It can be restarted at any time.",
        discussion: """
            All acknowledged changes are in the data folder; after a crash start it again. Its endpoints are written to
            endpoints.json in that folder.
            Examples:
              packhorse coordinator --data ./data
              packhorse coordinator --data ./data --catalog-url https://maps.example.com/offline/
              packhorse coordinator --data ./data --metrics 127.0.0.1:9470
              packhorse coordinator --data /srv/packhorse --keys keys --control 'tcp://*:7470' --work 'tcp://*:7471'
              packhorse coordinator --data ./data --blobs s3://tiles/blobs --s3-endpoint https://s3.example.org
              packhorse coordinator --data ./data --backup-to /mnt/backups --backup-every 30s
              packhorse coordinator --data ./data --notify https://hooks.example.com/maps --notify-secret-file secret
            """)

    @Option(help: "Folder of the state; must be on a local disk.") var data: String
    @Option(help: "Blob folder shared with the workers, or s3://bucket/prefix. Default: DATA/blobs.") var blobs: String?
    @Option(help: "Folder of packages.json and the packages. Default: DATA/catalog.") var catalog: String?
    @Option(
        help: ArgumentHelp(
            "Another catalog, which jobs choose by its name (submit --into NAME); may be repeated.",
            valueName: "name=folder"))
    var alsoCatalog: [String] = []
    @Option(
        help: ArgumentHelp(
            "Absolute URL of another catalog for clients, as --catalog-url is that of the main one; may be repeated.",
            valueName: "name=url"))
    var alsoCatalogURL: [String] = []
    @Option(
        help: ArgumentHelp(
            "A folder or s3://bucket/prefix that the steps of jobs may push catalogs to, with what is below (submit --then push=PLACE); may be repeated. Default: none.",
            valueName: "place"))
    var pushTo: [String] = []
    @Option(
        help: ArgumentHelp(
            "Absolute URL of the catalog folder for clients, for example https://maps.example.com/offline/. It is written into packages.json for CARTO's client; catalog.json does not need it. Lists with another URL are rewritten at the start. Default: the URL in the lists, else http://localhost:7480/.",
            valueName: "url"))
    var catalogURL: String?
    @Option(help: "Where commands connect; port * takes a free port.") var control: String = "tcp://127.0.0.1:7470"
    @Option(help: "Where workers connect; port * takes a free port.") var work: String = "tcp://127.0.0.1:7471"
    @Option(
        help: ArgumentHelp(
            "Where workers without the shared blob folder connect. Default: --work with the next port.",
            valueName: "endpoint"))
    var blobBind: String?
    @Flag(help: "Do not stream blobs, because every worker shares the blob folder.") var noBlobEndpoint = false
    @Option(help: "Folder of the public keys that may connect. Default: $PACKHORSE_AUTHORIZED_KEYS.")
    var authorizedKeys: String?
    @Option(help: "Largest number of tiles of a box job that does not raise the limit itself.") var bboxTileLimit:
        UInt64 = 5000
    @Option(help: "How long a worker may make no progress before its batch is given to another worker.")
    var leaseSeconds: Double = 60
    @Option(help: "How long leases stay valid after a restart until their workers reconnect.") var restartGraceSeconds:
        Double = 60
    @Option(
        help: ArgumentHelp(
            "Sign catalog.json with this key, created by 'packhorse catalog keygen'. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?
    @Option(help: "Number of versions of each package in the catalog, including the newest; 0 keeps all.")
    var keepVersions = 3
    @Option(help: "Number of kept previous versions that get a patch to a new one; 0 creates none.")
    var patchesFrom = PatchRule.previousVersions
    @Flag(help: "Keep shards after their job has ended.") var keepShards = false
    @Option(
        help: ArgumentHelp(
            "Disk space for the tiles of finished jobs, so that a rebuild fetches only changed tiles; 0 keeps none.",
            valueName: "size"))
    var keepTiles: String = "50GB"
    @Option(
        help: ArgumentHelp(
            "Folder of package lists and tileset files that schedules read again at each run (schedule add --follow-files). Default: none is read.",
            valueName: "folder"))
    var scheduleFiles: String?
    @OptionGroup var backups: BackupArguments
    @Flag(help: "Hand out the batches of an earlier run again at once, because all of its workers have ended.")
    var newWorkers = false
    @OptionGroup var configurationOptions: ConfigurationOptions
    @OptionGroup var notifyOptions: NotifyOptions
    @OptionGroup var lifeline: LifelineOptions
    @OptionGroup var metrics: MetricsOptions
    @OptionGroup var blobOptions: BlobOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var log: LogOptions

    func validate() throws {
        try backups.check(blobs: blobs)
        try blobOptions.check(blobs: blobs, pushTo: pushTo, backups: backups.places)
        try EndpointOption.checkListening(control, option: "--control")
        try EndpointOption.checkListening(work, option: "--work")
        try EndpointOption.checkListening(blobBind, option: "--blob-bind")
        guard (2...3600).contains(leaseSeconds) else {
            throw ValidationError("--lease-seconds must be between 2 and 3600.")
        }
        guard (0...100).contains(patchesFrom) else {
            throw ValidationError("--patches-from must be between 0 and 100.")
        }
        guard blobBind == nil || !noBlobEndpoint else {
            throw ValidationError("--blob-bind and --no-blob-endpoint exclude each other.")
        }
        guard Units.size(keepTiles) != nil else {
            throw ValidationError("--keep-tiles '\(keepTiles)' is not a size; expected for example 50GB, 800MB or 0.")
        }
        guard (0...3600).contains(restartGraceSeconds) else {
            throw ValidationError("--restart-grace-seconds must be between 0 and 3600.")
        }
        guard (0...1_000).contains(keepVersions) else {
            throw ValidationError("--keep-versions must be between 0 and 1000.")
        }
        if let catalogURL { try Self.check(base: catalogURL, option: "--catalog-url") }
        _ = try otherCatalogs()
    }

    func run() async throws {
        Hangup.prepare()
        lifeline.watch()
        try ProcessLimits.require(.service)
        MallocArenas.limitToCores()
        ProcessLimits.allowManyFiles()
        let logger = log.logger("coordinator")
        try await metrics.serve(logger) { server in try await serve(logger, server) }
    }

    private func serve(_ logger: Logger, _ server: MetricsServer?) async throws {
        let folder = URL(filePath: data, directoryHint: .isDirectory)
        let others = try otherCatalogs().values.map(\.folder)
        let missing = MissingFolders([folder, blobFolder, catalogFolder, cacheFolder] + others)
        let started: (service: CoordinatorService, endpoints: EndpointsFile, steps: [ReloadStep])
        do {
            started = try await start(logger)
        } catch {
            missing.removeEmpty(without: [ScratchFolder.gateName])
            throw error
        }
        defer { EndpointsFile.remove(folder) }
        let (service, endpoints, steps) = started
        server?.serve { service.metricsPage() }
        logger.info(
            "Coordinator endpoints bound",
            metadata: [LogKey.endpoint: "\(endpoints.control) \(endpoints.work)", LogKey.path: "\(folder.path)"])
        ServiceManager.shared.ready("serves \(endpoints.control) and \(endpoints.work)")
        try await ServiceRunner.run(logger, reload: steps, service)
    }

    private var blobFolder: URL { blobs.map { URL(filePath: $0) } ?? inData("blobs") }
    private var catalogFolder: URL { catalog.map { URL(filePath: $0) } ?? inData("catalog") }
    /// The folder for local copies of blobs in a bucket.
    private var cacheFolder: URL { inData("blob-cache") }

    private func inData(_ name: String) -> URL {
        URL(filePath: data, directoryHint: .isDirectory).appending(path: name)
    }

    private func otherCatalogs() throws -> [String: CoordinatorOptions.OtherCatalog] {
        let urls = try CatalogFolders.named(
            alsoCatalogURL, option: "--also-catalog-url", example: "staging=https://maps.example.com/staging/")
        var catalogs = try CatalogFolders.named(
            alsoCatalog, option: "--also-catalog", example: "staging=/srv/staging"
        ).mapValues {
            CoordinatorOptions.OtherCatalog(URL(filePath: $0, directoryHint: .isDirectory))
        }
        var folders = [catalogFolder.resolvingSymlinksInPath().standardizedFileURL.path: "the main catalog"]
        for (name, other) in catalogs.sorted(by: { $0.key < $1.key }) {
            let path = other.folder.resolvingSymlinksInPath().standardizedFileURL.path
            if let first = folders.updateValue("the catalog '\(name)'", forKey: path) {
                throw ValidationError(
                    "--also-catalog \(name)=\(path) is the folder of \(first); give it another folder")
            }
        }
        for (name, url) in urls {
            guard catalogs[name] != nil else {
                throw ValidationError(
                    "--also-catalog-url names the catalog '\(name)', which no --also-catalog adds; add it: --also-catalog \(name)=FOLDER"
                )
            }
            try Self.check(base: url, option: "--also-catalog-url")
            catalogs[name]?.baseURL = url
        }
        guard catalogs.count <= Self.maxCatalogs else {
            throw ValidationError(
                "--also-catalog adds \(catalogs.count) catalogs; at most \(Self.maxCatalogs) are allowed.")
        }
        return catalogs
    }

    /// As many as an answer about the health of the coordinator lists.
    private static let maxCatalogs = 64

    private static func check(base url: String, option: String) throws {
        // The message says what a valid address is.
        guard (try? Catalog.checked(base: url)) == nil else { return }
        throw ValidationError(
            "\(option) '\(SecretText.hidden(url))' is not an absolute http(s) URL; expected for example https://maps.example.com/offline/"
        )
    }

    /// Opens all files and sockets, and writes the endpoints to the data folder.
    private func start(_ logger: Logger) async throws -> (CoordinatorService, EndpointsFile, [ReloadStep]) {
        let options = try await options()
        let others = options.otherCatalogs.values.map { ("--also-catalog", $0.folder) }
        let places =
            [("--data", options.data), ("--catalog", options.catalog), ("--blobs", options.blobs)] + others
        for (option, place) in places where option != "--blobs" || options.store == nil {
            try OutputLocation.makeFolder(place, hint: "give \(option) an existing folder or one that can be created")
        }
        if let place = try backups.restoreFrom.map(blobOptions.s3.backupPlace) {
            try await restore(place, into: options.data, logger)
        }
        let service = try Self.needingSpace { try CoordinatorService(options, logger: logger) }
        let endpoints = EndpointsFile(
            control: service.controlEndpoint, work: service.workEndpoint, blob: service.blobEndpoint,
            pid: ProcessInfo.processInfo.processIdentifier)
        try Self.needingSpace { try endpoints.write(to: options.data) }
        return (service, endpoints, Configuration.reloadSteps + keys.reloadSteps(options.security))
    }

    /// A full disk at the start ends with exit code 75, whichever file finds it: a supervisor starts the coordinator again until there
    /// is space.
    private static func needingSpace<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as StorageError where error.code == .diskFull {
            throw isFull(error.message)
        } catch let error as CatalogError where error.code == .diskFull {
            throw isFull(error.message)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw isFull("'\(error.filePath ?? "")' cannot be written: the disk is full")
        }
    }

    private static func isFull(_ message: String) -> CLIError {
        CLIError(.temporary, message, hint: "free space on the disk of the file that is named above")
    }

    /// Restores the newest backup when the data folder has no state.
    private func restore(_ place: any BackupPlace, into folder: URL, _ logger: Logger) async throws {
        if let index = try await StateFile.restoreIfMissing(from: place, into: folder) {
            logger.notice(
                "State restored",
                metadata: [
                    LogKey.path: "\(place.name)", LogKey.epoch: "\(index.name.epoch)", LogKey.result: "\(index.name)",
                ])
        }
    }

    private func options() async throws -> CoordinatorOptions {
        var options = CoordinatorOptions(
            data: URL(filePath: data, directoryHint: .isDirectory), blobs: blobFolder, catalog: catalogFolder)
        options.controlBind = control
        options.workBind = work
        if !noBlobEndpoint {
            options.blobBind = blobBind ?? EndpointsFile.next(after: work)
            options.blobFallback = blobBind == nil ? EndpointsFile.free(like: work) : nil
        }
        options.security = try keys.server(authorizedKeys: authorizedKeys)
        options.allowPlain = keys.insecure
        options.bboxTileLimit = bboxTileLimit
        options.catalogBaseURL = catalogURL
        options.otherCatalogs = try otherCatalogs()
        options.signingKey = try SigningKeyOption.read(signingKey)
        options.keepVersions = keepVersions == 0 ? nil : keepVersions
        options.patchMaker = patchesFrom == 0 ? nil : CatalogPatchCommand.maker
        options.patchVersions = patchesFrom
        options.leaseSeconds = leaseSeconds
        options.heartbeatSeconds = min(5, leaseSeconds / 4)
        options.restartGraceSeconds = restartGraceSeconds
        options.hasNewWorkers = newWorkers
        options.keepShards = keepShards
        let reader = ScheduleFileReader(folder: scheduleFiles.map { URL(filePath: $0, directoryHint: .isDirectory) })
        options.readFiles = reader.read
        options.exposesMetrics = metrics.metrics != nil
        options.keptTileBytes = Units.size(keepTiles) ?? options.keptTileBytes
        options.onRound = { ServiceManager.shared.pulse() }
        options.receivers = try notifyOptions.receivers()
        options.pushPlaces = try blobOptions.pushPlaces(pushTo)
        options.verifyCatalog = CatalogCheck.step
        options.backups = try backups.options(blobs: blobs, blobOptions)
        options.build = "packhorse \(ProgramVersion.text)"
        // The keys and options above are read before anything is created.
        if let blobs, S3Location.isMeant(by: blobs) {
            options.store = try await blobOptions.open(blobs, folder: cacheFolder, create: true)
        }
        return options
    }
}
